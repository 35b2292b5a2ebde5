import type { CommitNotice } from '@signalbox/app/host';

/** Whether a run does not go on after a commit: nothing of it is kept in memory then. */
export function restsAfter(events: CommitNotice['events']): boolean {
  const last = events.findLast(({ event }) => event.type === 'run.status')?.event;
  return last?.type === 'run.status' && last.to !== 'running';
}
