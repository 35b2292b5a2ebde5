import type { RunId, RunReader, TreeNode } from '@signalbox/app/host';
import { titleOf } from './run-tree.ts';

/** A node's title in trees; its id if the run no longer shows it. */
export async function nodeTitle(reader: Pick<RunReader, 'run' | 'valueAt'>, run: RunId, node: string): Promise<string> {
  const { frames = 0 } = (await reader.run(run)) ?? {};
  const row = (await reader.valueAt(run, 'node', node, frames)) as Pick<TreeNode, 'kind' | 'data'> | undefined;
  return row === undefined ? node : titleOf({ ...row, id: node });
}
