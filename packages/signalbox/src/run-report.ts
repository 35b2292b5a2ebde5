import type { RunEnd, StoredEvent, TreeNode } from '@signalbox/app/runs';
import { type ExitCode, exitCodes } from './exit-code.ts';
import { type Paint, shown } from './terminal.ts';

/** What people call a node: its label or name, else its kind and id. */
export function nodeLabel(tree: TreeNode | undefined, id: string): string {
  const node = tree && findNode(tree, id);
  const named = node?.data.label ?? node?.data.name;
  return typeof named === 'string' ? named : node === undefined ? id : `${node.kind} ${id}`;
}

/** The line that tells of an event; undefined for those that only the log is for. */
export function describeEvent({ event }: StoredEvent, tree: TreeNode | undefined, paint: Paint): string | undefined {
  switch (event.type) {
    case 'task.started': {
      const round = event.iteration === 0 ? '' : ` ${paint.faint(`round ${event.iteration + 1}`)}`;
      return `${markOf('running', paint)} ${shown(nodeLabel(tree, event.node))}${round}`;
    }
    case 'task.ended': {
      const label = shown(nodeLabel(tree, event.node));
      if (event.outcome === 'done') return `${markOf('succeeded', paint)} ${label}`;
      const why = event.error === undefined ? event.outcome : event.error.message;
      return `${markOf('failed', paint)} ${label}: ${shown(why)}`;
    }
    case 'task.retry': {
      const label = shown(nodeLabel(tree, event.node));
      return `${paint.doubtful('↻')} ${label}: ${shown(event.error.message)} ${paint.faint(`again at ${event.retryAt}`)}`;
    }
    case 'task.orphaned':
      return `${paint.doubtful('!')} ${shown(nodeLabel(tree, event.node))} was cut off: ${event.action}`;
    case 'node.status':
      if (event.to !== 'blocked') return undefined;
      return `${markOf('blocked', paint)} ${shown(nodeLabel(tree, event.node))}: ${shown(event.blockReason ?? 'blocked')}`;
    case 'handler.failed':
      return `${paint.bad('✗')} ${shown(nodeLabel(tree, event.node))} ${event.handler}: ${shown(event.error)}`;
    default:
      return undefined;
  }
}

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

export function describeEnd(end: RunEnd, run: string, paint: Paint): string {
  switch (end.status) {
    case 'completed':
      return `${paint.good('✓ completed')} ${run}`;
    case 'failed':
      return `${paint.bad('✗ failed')} ${run}: ${shown(end.error.message)}`;
    case 'stopped':
      return `${paint.bad('✗ stopped')} ${run}: ${shown(end.reason)}`;
    case 'stalled':
      return `${paint.bad('✗ stalled')} ${run}: ${shown(end.evidence.summary)}`;
    case 'lost':
      return `${paint.bad('✗ lost')} ${run}: ${shown(end.error.message)} ${shown(end.error.suggestion)}`;
    case 'paused':
    case 'waiting':
      return `${paint.doubtful(`… ${end.status}`)} ${run}\nGo on with: signalbox resume ${run}`;
  }
}

export function exitCodeOfEnd({ status }: RunEnd): ExitCode {
  if (status === 'completed' || status === 'paused') return exitCodes.done;
  return status === 'waiting' ? exitCodes.waiting : exitCodes.failed;
}

function findNode(node: TreeNode, id: string): TreeNode | undefined {
  if (node.id === id) return node;
  for (const child of node.children) {
    const found = findNode(child, id);
    if (found !== undefined) return found;
  }
  return undefined;
}

function markOf(status: string, paint: Paint): string {
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
