import type { AllRuns } from '@signalbox/app/all-runs';
import type { RunHost } from '@signalbox/app/runs';
import { subscribeGuidedRun } from './guided-subscription.ts';
import type { GuidedWatch } from './guided-watch.ts';
import type { Outbox } from './outbox.ts';
import type { RunPictures } from './run-picture.ts';
import { type Subscription, subscribeRun, type WatchedRun } from './run-subscription.ts';

/** One client watching one run, whether plan or guided. */
export function subscribeEither(
  host: RunHost,
  runs: Pick<AllRuns, 'find'>,
  guided: GuidedWatch | undefined,
  pictures: RunPictures,
  outbox: Outbox,
  watched: WatchedRun,
  onFault: (thrown: unknown) => void,
): Subscription {
  const subscribePlan = () => subscribeRun(host, pictures, outbox, watched, onFault);
  if (guided === undefined) return subscribePlan();
  let chosen: Subscription | undefined;
  let isClosed = false;

  async function choose(known: GuidedWatch): Promise<void> {
    const found = await runs.find(watched.run);
    if (isClosed) return;
    const isGuided = !found.ok || found.value?.kind === 'guided';
    chosen = isGuided ? subscribeGuidedRun(known, outbox, watched, onFault) : subscribePlan();
  }

  choose(guided).catch(thrown => {
    if (!isClosed) onFault(thrown);
  });
  return {
    pump: () => chosen?.pump(),
    close() {
      isClosed = true;
      chosen?.close();
    },
  };
}
