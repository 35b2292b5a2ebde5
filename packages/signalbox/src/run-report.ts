import type { RunEnd, StoredEvent, TreeNode } from '@signalbox/app/runs';
import { type ExitCode, exitCodes } from './exit-code.ts';
import { markOf, nodeLabel } from './run-tree.ts';
import { type Paint, shown } from './terminal.ts';

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
