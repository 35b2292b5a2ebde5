import type { RunId, TreeNode } from '@signalbox/model';
import { useClient } from '../server/client-context.ts';
import { ErrorBox } from '../shell/notices.tsx';
import { useCommand } from '../shell/use-command.ts';
import { NodeLink } from './node-link.tsx';

interface FailedNodeProps {
  readonly run: RunId;
  readonly node: TreeNode;
  onCurrent(node: string): void;
}

/** Work that failed, where it is said that it failed: a look at it, and another try. */
export function FailedNode({ run, node, onCurrent }: FailedNodeProps) {
  const client = useClient();
  const { isBusy, error, send } = useCommand();
  return (
    <div className="failed-node">
      <NodeLink node={node} onCurrent={onCurrent} />
      <button
        type="button"
        className="button button-small button-main"
        aria-label={`Retry ${node.label}`}
        disabled={isBusy}
        onClick={() => send(() => client.retry(run, node.id))}
      >
        Retry
      </button>
      {error !== undefined && <ErrorBox error={error} title="It did not work" />}
    </div>
  );
}
