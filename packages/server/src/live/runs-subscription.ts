import type { Machine, RunHost } from '@signalbox/app/runs';
import type { RunId } from '@signalbox/model';
import { summariesOf } from '../views/run-view.ts';
import type { Outbox } from './outbox.ts';
import { PICTURE_MS } from './run-picture.ts';
import type { Subscription } from './run-subscription.ts';

/** Runs in the state that a subscription of all begins with; older ones are read in pages. */
const FIRST_RUNS = 100;

/**
 * One client that watches all runs: the newest of them first, then each run that changed, as it is by then. Between two
 * looks a run is told once, however often it changed; a client without room is told when it has some.
 */
export function subscribeRuns(
  host: RunHost,
  timers: Machine['timers'],
  outbox: Outbox,
  onFault: (thrown: unknown) => void,
): Subscription {
  const changed = new Set<RunId>();
  let hasBegun = false;
  let isPumping = false;
  let isResting = false;
  let isClosed = false;
  let endRest: (() => void) | undefined;

  const unsubscribe = host.feed.subscribe('all', ({ run, events }) => {
    if (events.length === 0) return;
    changed.add(run);
    pump();
  });

  function pump(): void {
    if (isPumping || isResting || isClosed || !outbox.isFree) return;
    if (hasBegun && changed.size === 0) return;
    isPumping = true;
    void sendOnce()
      .catch(thrown => {
        if (!isClosed) onFault(thrown);
      })
      .finally(() => {
        isPumping = false;
        rest();
      });
  }

  function rest(): void {
    if (isClosed) return;
    isResting = true;
    endRest = timers.after(PICTURE_MS, () => {
      isResting = false;
      pump();
    });
  }

  async function sendOnce(): Promise<void> {
    if (!hasBegun) {
      hasBegun = true;
      const page = await host.reader.runs({ limit: FIRST_RUNS });
      const runs = await summariesOf(host, page.items);
      if (!isClosed) outbox.send({ kind: 'runs', runs, ...(page.next !== undefined && { next: page.next }) });
      return;
    }
    const ids = [...changed];
    changed.clear();
    const records = (await Promise.all(ids.map(id => host.reader.run(id)))).filter(record => record !== undefined);
    const summaries = await summariesOf(host, records);
    if (isClosed) return;
    for (const summary of summaries) outbox.send({ kind: 'run', run: summary.id, summary });
  }

  pump();
  return {
    pump,
    close() {
      isClosed = true;
      endRest?.();
      unsubscribe();
    },
  };
}
