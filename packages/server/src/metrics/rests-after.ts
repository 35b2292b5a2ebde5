import type { CommitNotice } from '@signalbox/app/host';

/** Whether a run is inactive after a commit: nothing about it stays in memory then. */
export function restsAfter(events: CommitNotice['events']): boolean {
  const last = events.findLast(({ event }) => event.type === 'run.status')?.event;
  return last?.type === 'run.status' && last.to !== 'running';
}
