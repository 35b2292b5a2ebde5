import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { RunFeed } from '@signalbox/runs';
import type { Machine } from '../machine.ts';

/** How often it looks whether anything was committed. */
const LOOK_MS = 4_000;
/** A larger heap takes too long to collect while a client may ask for something. */
const LARGEST_HEAP = 128 * 1024 * 1024;

/**
 * Gives memory back to the system once nothing was committed for a while. V8 keeps the pages of short-lived objects for the next ones: tens of
 * megabytes after many runs, of which runs that wait for a person need none.
 *
 * Returns a function that ends this.
 */
export function giveBackWhenIdle(
  feed: Pick<RunFeed, 'subscribe'>,
  timers: Machine['timers'],
  giveBack = () => collectAll(),
): () => void {
  let isActive = false;
  let cancel: (() => void) | undefined;
  const plan = () => {
    isActive = false;
    cancel = timers.after(LOOK_MS, look);
  };
  const look = () => {
    cancel = undefined;
    if (isActive) plan();
    else giveBack();
  };
  const unsubscribe = feed.subscribe('all', () => {
    if (cancel === undefined) plan();
    else isActive = true;
  });
  return () => {
    unsubscribe();
    cancel?.();
  };
}

/** Takes about 50 ms. Other collections leave empty pages with the process. */
export function collectAll(largestHeap = LARGEST_HEAP): void {
  if (getHeapStatistics().used_heap_size > largestHeap) return;
  setFlagsFromString('--expose-gc');
  try {
    const collect = runInNewContext('gc') as (options: object) => void;
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  } finally {
    // Compiled code is cached for the flags it was compiled with.
    setFlagsFromString('--no-expose-gc');
  }
}
