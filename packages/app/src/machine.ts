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

/** Taken when this is loaded: the code of a plan may replace them later in its thread. */
const { now } = Date;
const { setTimeout: start, clearTimeout: cancel } = globalThis;
const random = randomBytes;

export function thisMachine(): Machine {
  const clock: Clock = { now: () => now() };
  const rng = systemRng();
  const timers: Timers = {
    after(ms, run) {
      const timer = start(run, ms);
      return () => cancel(timer);
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
      if (length > BLOCK) return random(length);
      if (used + length > block.length) {
        block = random(BLOCK);
        used = 0;
      }
      used += length;
      return block.slice(used - length, used);
    },
  };
}
