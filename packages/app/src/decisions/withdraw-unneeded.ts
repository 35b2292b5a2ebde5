import type { RunId } from '@signalbox/model';
import type { RunFeed, RunReader, StoredEvent } from '@signalbox/runs';
import type { DecisionDesk } from './decision-desk.ts';

/** Takes questions back whose node was canceled or left the plan, or whose run is completed. Returns how to end it. */
export async function withdrawUnneeded(feed: RunFeed, reader: RunReader, desk: DecisionDesk): Promise<() => void> {
  const asking = new Set<RunId>((await reader.decisions({ status: ['open'] })).map(({ run }) => run));

  function take(run: RunId, { event }: StoredEvent): void {
    if (event.type === 'decision.asked') asking.add(run);
    if (!asking.has(run)) return;
    // A question that could not be taken back stays open: an answer to it changes nothing.
    const ignore = () => undefined;
    if (event.type === 'task.ended' && event.outcome === 'canceled') void desk.withdraw(run, event.node).catch(ignore);
    if (event.type === 'run.status' && event.to === 'completed') {
      asking.delete(run);
      void desk.withdraw(run).catch(ignore);
    }
  }

  return feed.subscribe('all', ({ run, events }) => {
    for (const stored of events) take(run, stored);
  });
}
