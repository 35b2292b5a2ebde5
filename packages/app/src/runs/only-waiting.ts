import type { RunId } from '@signalbox/model';
import type { RunFeed, RunReader } from '@signalbox/runs';

export interface OnlyWaiting {
  /** Resolves when neither the run nor one below it does more than wait for the time of its next attempt. */
  readonly reached: Promise<void>;
  cancel(): void;
}

/** Watches a run that is being paused: the time of an attempt is kept with its task, so nobody need wait for it. */
export function whenOnlyWaiting(store: RunReader & RunFeed, run: RunId): OnlyWaiting {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  let isLooking = false;
  let isStale = false;
  const look = async () => {
    isStale = true;
    if (isLooking) return;
    isLooking = true;
    while (isStale && !isOver) {
      isStale = false;
      // What cannot be read is waited for.
      if (await onlyWaits(store, run).catch(() => false)) end();
    }
    isLooking = false;
  };
  const unsubscribe = store.subscribe('all', () => void look());
  const cancel = () => {
    isOver = true;
    unsubscribe();
  };
  const end = () => {
    cancel();
    resolve();
  };
  void look();
  return { reached, cancel };
}

async function onlyWaits(reader: RunReader, run: RunId): Promise<boolean> {
  const tasks = await reader.tasks(run, { status: ['pending', 'running', 'canceling'] });
  const working = tasks.filter(({ status }) => status !== 'pending');
  if (working.length === 0) return tasks.some(({ nextRetryAt }) => nextRetryAt !== undefined);
  const children = await reader.children(run);
  const waits = working.map(async ({ node, iteration }) => {
    const below = children.findLast(
      ({ origin }) => origin?.kind === 'sub-plan' && origin.node === node && origin.iteration === iteration,
    );
    return below?.status === 'running' && (await onlyWaits(reader, below.id));
  });
  return (await Promise.all(waits)).every(Boolean);
}
