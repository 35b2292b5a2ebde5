import type { RunId } from '@signalbox/model';
import type { RunFeed, RunReader, StoredEvent } from '@signalbox/runs';
import type { DecisionDesk } from './decision-desk.ts';

/** Withdraws questions whose node was canceled or left the plan, or whose run is completed. Returns a function that stops it. */
export async function withdrawUnneeded(feed: RunFeed, reader: RunReader, desk: DecisionDesk): Promise<() => void> {
  const asking = new Set<RunId>((await reader.decisions({ status: ['open'] })).map(({ run }) => run));

  function take(run: RunId, { event }: StoredEvent): void {
    // A question that could not be withdrawn stays open: an answer to it changes nothing.
    const ignore = () => undefined;
    if (event.type === 'task.ended' && event.outcome === 'canceled') void desk.withdraw(run, event.node).catch(ignore);
    if (event.type === 'run.status' && event.to === 'completed') {
      asking.delete(run);
      void desk.withdraw(run).catch(ignore);
    }
  }

  return feed.subscribe('all', notice => {
    const { run, asks } = notice;
    if (asks) asking.add(run);
    // Events are built on read, which few commits need.
    if (asking.has(run)) for (const stored of notice.events) take(run, stored);
  });
}
