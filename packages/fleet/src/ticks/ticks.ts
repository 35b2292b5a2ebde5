import { type TickConfig, type Timestamp, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { tick } from '../fields.ts';

/** Logical time. `since` is when the current tick began on the wall clock; null while nobody works, and in manual mode. */
export const tickState = z.strictObject({ current: tick, since: timestamp.nullable() });
export type TickState = Readonly<z.infer<typeof tickState>>;

export const firstTick: TickState = { current: 0, since: null };

/** A longer silence of the clock is a machine that slept or a process that hung: what is beyond it was not worked. */
const LONGEST_STEP_MS = 60_000;

/** Something that moves logical time. */
export type TickFact =
  /** The wall clock was looked at, with every fact. `isWorking`: an agent worked or waited for a person until now (R40). */
  | { readonly kind: 'clock_read'; readonly at: Timestamp; readonly isWorking: boolean }
  | { readonly kind: 'ticks_advanced'; readonly by: number }
  /** The process that reads the clock is another one: the time between counts for nobody. */
  | { readonly kind: 'fleet_restarted' };

/**
 * Counts ticks: one for each interval of the wall clock in which somebody worked, or as many as a person asks for in manual mode. The count
 * only grows, and what is left of an interval is kept for the next one.
 */
export function stepTicks(state: TickState, fact: TickFact, config: TickConfig): TickState {
  switch (fact.kind) {
    case 'fleet_restarted':
      return { ...state, since: null };
    case 'ticks_advanced':
      return config.mode === 'manual' ? { ...state, current: state.current + fact.by } : state;
    case 'clock_read': {
      if (config.mode === 'manual' || !fact.isWorking) return state.since === null ? state : { ...state, since: null };
      if (state.since === null) return { ...state, since: fact.at };
      const began = Date.parse(state.since);
      const elapsed = Date.parse(fact.at) - began;
      // A clock that was set back starts the interval again.
      if (elapsed < 0 || elapsed > LONGEST_STEP_MS) return { current: state.current, since: fact.at };
      const ticks = Math.floor(elapsed / config.intervalMs);
      if (ticks === 0) return state;
      const since = new Date(began + ticks * config.intervalMs).toISOString() as Timestamp;
      return { current: state.current + ticks, since };
    }
  }
}
