import type { Timers } from '@signalbox/plan';

/** Waits for work up to a time limit; slower work continues on its own. */
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
