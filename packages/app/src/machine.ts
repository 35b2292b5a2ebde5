import { randomBytes } from 'node:crypto';
import { type Clock, createIdSource, type IdSource, type Rng } from '@signalbox/model';
import type { Timers } from '@signalbox/plan';

/** Time, chance and timers of this machine. Everything below takes them as arguments. */
export interface Machine {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly timers: Timers;
  readonly ids: IdSource;
}

export function thisMachine(): Machine {
  const clock: Clock = { now: () => Date.now() };
  const rng: Rng = { bytes: length => randomBytes(length) };
  const timers: Timers = {
    after(ms, run) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  };
  return { clock, rng, timers, ids: createIdSource(clock, rng) };
}
