import { treeAt } from '@signalbox/app/runs';
import type { DefineCommand } from './command.ts';
import { describeRun, looking } from './look.ts';
import { describeTree } from './run-tree.ts';
import { paintOf, shown } from './terminal.ts';

export const defineShow: DefineCommand = looking(async (reader, run, json, terminal) => {
  const tree = run.frames === 0 ? undefined : await treeAt(reader, run.id, run.frames);
  if (tree !== undefined && !tree.ok) throw new Error(`the tree of run ${run.id} cannot be read: ${tree.error.reason}`);
  if (json) return terminal.print(JSON.stringify({ run, tree: tree?.value ?? null }));
  terminal.print(describeRun(run));
  if (run.error !== undefined) terminal.print(`  ${shown(run.error.message)}`);
  if (tree !== undefined) terminal.print(describeTree(tree.value, paintOf(terminal)).join('\n'));
});
