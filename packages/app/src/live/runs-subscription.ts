import { defined, type RunId, type RunSummary } from '@signalbox/model';
import type { AllRuns } from '../all-runs/all-runs.ts';
import { summariesOf } from '../contract-view/run-view.ts';
import type { RunHost } from '../host/run-host.ts';
import type { Machine } from '../machine.ts';
import type { GuidedWatch } from './guided-watch.ts';
import type { Outbox, Subscription } from './live-runs.ts';
import { PICTURE_MS } from './run-picture.ts';

/** How many runs the initial list holds; older ones are read in pages. */
const FIRST_RUNS = 100;

/**
 * One client watching all runs: first the newest, then each changed run in its current state, and the health of the model providers. A run
 * is sent once per interval however often it changed; a client without room gets it later.
 */
export function subscribeRuns(
  host: RunHost,
  runs: Pick<AllRuns, 'list'>,
  timers: Machine['timers'],
  outbox: Outbox,
  onFault: (thrown: unknown) => void,
  guided?: GuidedWatch,
): Subscription {
  const changed = new Set<RunId>();
  const changedGuided = new Map<RunId, RunSummary>();
  let hasBegun = false;
  let isNewOfProviders = false;
  let isPumping = false;
  let isResting = false;
  let isClosed = false;
  let endRest: (() => void) | undefined;

  const stopProviders = host.providers.subscribe(() => {
    isNewOfProviders = true;
    pump();
  });
  const stopGuided = guided?.subscribe(news => {
    for (const run of news) changedGuided.set(run.id, run);
    pump();
  });
  const unsubscribe = host.feed.subscribe('all', ({ run, events, stream }) => {
    if (events.length === 0 && stream.length > 0) return;
    changed.add(run);
    pump();
  });

  function pump(): void {
    if (isPumping || isResting || isClosed || !outbox.isFree) return;
    if (hasBegun && changed.size === 0 && changedGuided.size === 0 && !isNewOfProviders) return;
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
      const page = await runs.list({ limit: FIRST_RUNS });
      if (!page.ok) throw new Error(page.error.message);
      if (isClosed) return;
      const { items, next } = page.value;
      outbox.send({ kind: 'runs', runs: items, ...defined({ next }) });
      sendProviders();
      return;
    }
    if (isNewOfProviders) sendProviders();
    const ids = [...changed];
    const guidedRuns = [...changedGuided.values()];
    changed.clear();
    changedGuided.clear();
    const records = (await Promise.all(ids.map(id => host.reader.run(id)))).filter(record => record !== undefined);
    const summaries = await summariesOf(host, records);
    if (isClosed) return;
    for (const summary of [...summaries, ...guidedRuns]) outbox.send({ kind: 'run', run: summary.id, summary });
  }

  function sendProviders(): void {
    isNewOfProviders = false;
    outbox.send({ kind: 'providers', providers: host.providers.briefs() });
  }

  pump();
  return {
    pump,
    close() {
      isClosed = true;
      endRest?.();
      unsubscribe();
      stopGuided?.();
      stopProviders();
    },
  };
}
