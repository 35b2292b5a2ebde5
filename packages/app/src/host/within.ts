import type { Timers } from '@signalbox/plan';

/** Waits for work, but no longer than this; work that takes longer goes on by itself. */
export async function within(timers: Timers, ms: number, work: Promise<unknown>): Promise<void> {
  let cancel = () => {};
  const over = new Promise<void>(resolve => {
    cancel = timers.after(ms, resolve);
  });
  try {
    await Promise.race([work, over]);
  } finally {
    cancel();
  }
}
