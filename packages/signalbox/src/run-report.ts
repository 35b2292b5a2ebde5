import type { RunRecord, StoredEvent } from '@signalbox/app/runs';
import { type ExitCode, exitCodes } from './exit-code.ts';
import { markOf } from './run-tree.ts';
import { type Paint, shown } from './terminal.ts';

/** The line that tells of an event; undefined for those that only the log is for. */
export function describeEvent(
  { event }: StoredEvent,
  labelOf: (node: string) => string,
  paint: Paint,
): string | undefined {
  switch (event.type) {
    case 'task.started': {
      const round = event.iteration === 0 ? '' : ` ${paint.faint(`round ${event.iteration + 1}`)}`;
      return `${markOf('running', paint)} ${shown(labelOf(event.node))}${round}`;
    }
    case 'task.ended': {
      const label = shown(labelOf(event.node));
      if (event.outcome === 'done') return `${markOf('succeeded', paint)} ${label}`;
      const why = event.error === undefined ? event.outcome : event.error.message;
      return `${markOf('failed', paint)} ${label}: ${shown(why)}`;
    }
    case 'task.retry': {
      const label = shown(labelOf(event.node));
      return `${paint.doubtful('↻')} ${label}: ${shown(event.error.message)} ${paint.faint(`again at ${event.retryAt}`)}`;
    }
    case 'task.orphaned':
      return `${paint.doubtful('!')} ${shown(labelOf(event.node))} was cut off: ${event.action}`;
    case 'node.status':
      if (event.to !== 'blocked') return undefined;
      return `${markOf('blocked', paint)} ${shown(labelOf(event.node))}: ${shown(event.blockReason ?? 'blocked')}`;
    case 'handler.failed':
      return `${paint.bad('✗')} ${shown(labelOf(event.node))} ${event.handler}: ${shown(event.error)}`;
    default:
      return undefined;
  }
}

/** How a run stands that nobody drives any more, and what can be done about it. */
export function describeEnd({ id, status, error, stopReason }: RunRecord, paint: Paint): string {
  switch (status) {
    case 'completed':
      return `${paint.good('✓ completed')} ${id}`;
    case 'failed':
      return `${paint.bad('✗ failed')} ${id}: ${shown(error?.message ?? 'for an unknown reason')}`;
    case 'stopped':
      return `${paint.bad('✗ stopped')} ${id}: ${shown(stopReason ?? '')}`;
    case 'stalled':
      return `${paint.bad('✗ stalled')} ${id}: it went on without getting anywhere`;
    case 'queued':
    case 'running':
      return `${paint.bad('✗ cut off')} ${id}\nGo on with: signalbox resume ${id}`;
    case 'paused':
      return `${paint.doubtful('… paused')} ${id}\nGo on with: signalbox resume ${id}`;
    case 'waiting':
      return `${paint.doubtful('… waiting')} ${id}\nSee what for: signalbox decisions --run ${id}`;
  }
}

export function exitCodeOfEnd(status: RunRecord['status']): ExitCode {
  if (status === 'completed' || status === 'paused') return exitCodes.done;
  return status === 'waiting' ? exitCodes.waiting : exitCodes.failed;
}
