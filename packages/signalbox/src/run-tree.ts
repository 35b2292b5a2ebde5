import type { TreeNode } from '@signalbox/app/runs';
import { type Paint, shown } from './terminal.ts';

/** A tree, two spaces a level, with the mark and the status of each node. */
export function describeTree(node: TreeNode, paint: Paint, depth = 0): readonly string[] {
  const { kind, id, status = 'idle', data, children } = node;
  const named = data.label ?? data.name;
  const title = typeof named === 'string' ? `${kind} ${named}` : `${kind} ${id}`;
  const isShown = kind !== 'branch' && kind !== 'component';
  const line = `${'  '.repeat(depth)}${markOf(status, paint)} ${shown(title)} ${paint.faint(status)}`;
  const inside = children.flatMap(child => describeTree(child, paint, isShown ? depth + 1 : depth));
  return isShown ? [line, ...inside] : inside;
}

export function markOf(status: string, paint: Paint): string {
  switch (status) {
    case 'succeeded':
      return paint.good('✓');
    case 'failed':
    case 'abandoned':
    case 'canceled':
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
