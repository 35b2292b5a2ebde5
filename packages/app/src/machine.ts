import { randomBytes } from 'node:crypto';
import { type Clock, createIdSource, type IdSource, type Rng } from '@signalbox/model';
import type { Timers } from '@signalbox/plan';

/** The time, randomness and timers of this machine. Everything below takes them as arguments. */
export interface Machine {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly timers: Timers;
  readonly ids: IdSource;
}

/** Captured at load time: a plan's code may replace them later in its thread. */
const { now } = Date;
const { setTimeout: start, clearTimeout: cancel } = globalThis;
const random = randomBytes;

export function thisMachine(): Machine {
  const clock: Clock = { now: () => now() };
  const rng = systemRng();
  return { clock, rng, timers: timersOn(start, cancel), ids: createIdSource(clock, rng) };
}

/** Splits long waits, because the platform's timers fire at once if a wait is too long for them. */
export function timersOn<Timer>(set: (run: () => void, ms: number) => Timer, clear: (timer: Timer) => void): Timers {
  return {
    after(ms, run) {
      let timer: Timer;
      const wait = (left: number) => {
        const next = left > LONGEST_MS ? () => wait(left - LONGEST_MS) : run;
        timer = set(next, Math.min(left, LONGEST_MS));
      };
      wait(ms);
      return () => clear(timer);
    },
  };
}

/** The largest wait that fits into the platform's 32 bits. */
const LONGEST_MS = 2 ** 31 - 1;

const BLOCK = 4096;

/** Takes bytes from the system in blocks: an id needs a few bytes, and there are many ids. No byte is used twice. */
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
