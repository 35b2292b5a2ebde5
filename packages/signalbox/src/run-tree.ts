import { INTERRUPTED, type ShownTree, type TreeNode, timerDue } from '@signalbox/app/host';
import { type Paint, shown } from './terminal.ts';

/** A tree, indented by two spaces per level, with each node's mark and status, and who does the work of an agent's node if that is known. */
export function describeTree(
  node: ShownTree,
  paint: Paint,
  agentOf: (node: ShownTree) => string | undefined = () => undefined,
  depth = 0,
): readonly string[] {
  const { kind, until, children } = node;
  const status = node.isDenied === true ? 'denied' : (node.status ?? 'idle');
  const word = node.reason === INTERRUPTED ? INTERRUPTED : status;
  const isShown = kind !== 'branch' && kind !== 'component';
  const line = `${'  '.repeat(depth)}${markOf(status, paint)} ${shown(titleOf(node))} ${paint.faint(until === undefined ? word : `waits until ${until}`)}`;
  const agent = agentOf(node);
  const inside = children.flatMap(child => describeTree(child, paint, agentOf, isShown ? depth + 1 : depth));
  const told = agent === undefined ? line : `${line} ${paint.faint(`by ${shown(agent)}`)}`;
  return isShown ? [told, ...inside] : inside;
}

/** A node's title: its kind, and its label or name, else the id given by the author. */
export function titleOf({ kind, id, data }: Pick<TreeNode, 'kind' | 'id' | 'data'>): string {
  const named = data.label ?? data.name;
  if (typeof named === 'string') return `${kind} ${named}`;
  // Ids of sixteen hex digits are derived from the node's place and mean nothing to people.
  return /^[0-9a-f]{16}$/.test(id) ? kind : `${kind} ${id}`;
}

/** Why a node does not go on, as people say it. */
export function reasonWords(reason: string): string {
  const due = timerDue(reason);
  return due === undefined ? reason : `waits until ${due}`;
}

export function markOf(status: string, paint: Paint): string {
  switch (status) {
    case 'succeeded':
      return paint.good('✓');
    case 'failed':
    case 'abandoned':
    case 'canceled':
    case 'denied':
      return paint.bad('✗');
    case 'running':
      return paint.strong('▶');
    case 'blocked':
      return paint.doubtful('…');
    case 'skipped':
      return paint.faint('–');
    default:
      return paint.faint('·');
  }
}
