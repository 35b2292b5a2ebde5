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
  const rng = systemRng();
  const timers: Timers = {
    after(ms, run) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  };
  return { clock, rng, timers, ids: createIdSource(clock, rng) };
}

const BLOCK = 4096;

/** Taken from the system in blocks: an id asks for a few bytes, and there are many ids. No byte is given twice. */
function systemRng(): Rng {
  let block = new Uint8Array(0);
  let used = 0;
  return {
    bytes(length) {
      if (length > BLOCK) return randomBytes(length);
      if (used + length > block.length) {
        block = randomBytes(BLOCK);
        used = 0;
      }
      used += length;
      return block.slice(used - length, used);
    },
  };
}
