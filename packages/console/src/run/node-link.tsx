import type { TreeNode } from '@signalbox/model';
import { Lamp } from '../shell/lamp.tsx';
import { nodeStanding } from '../story/words.ts';

/** A node by its name; chosen, it is looked at. */
export function NodeLink({ node, onCurrent }: { readonly node: TreeNode; onCurrent(node: string): void }) {
  return (
    <button type="button" className="nodelink" onClick={() => onCurrent(node.id)}>
      <Lamp signal={nodeStanding(node.status, node.reason).signal} />
      {node.label}
      <span className="kind">{node.kind}</span>
    </button>
  );
}
