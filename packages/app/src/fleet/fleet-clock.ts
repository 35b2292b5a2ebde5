import { type Fact, type FleetState, isLive, isWaiting, stepFleet } from '@signalbox/fleet';
import type { Timestamp } from '@signalbox/model';

/** While somebody works, time is written down at least this often: what passed since is lost in a crash, and a longer step counts for nothing. */
const WRITTEN_EVERY_MS = 20_000;

/** True while time can bring something about: ticks pass, or something waits for the wall clock. */
export function needsClock({ agents, decisions, control, config }: FleetState): boolean {
  const all = Object.values(agents.agents);
  return (
    (config.ticks.mode === 'wall_clock' && all.some(isLive)) ||
    all.some(({ restartAt }) => restartAt !== null) ||
    Object.values(decisions.items).some(item => item.orphanUntil !== null && isWaiting(item)) ||
    Object.values(control.brakes).some(
      ({ released, action }) => released === undefined && action.releaseCondition?.type === 'timer',
    )
  );
}

/**
 * The fact that time passed, if it is worth writing down: it brings something about, or the last one is long ago. Ticks that only pass are
 * counted by the next fact.
 */
export function passedTime(fleet: FleetState, at: Timestamp): Fact | undefined {
  const fact: Fact = { kind: 'time_passed', at };
  const { state, effects } = stepFleet(fleet, fact);
  if (effects.length > 0) return fact;
  const { ticks, ...rest } = state;
  const isOnlyTicks = Object.entries(rest).every(([part, value]) => fleet[part as keyof typeof rest] === value);
  if (!isOnlyTicks) return fact;
  const { since } = fleet.ticks;
  const isOld =
    ticks.current > fleet.ticks.current && since !== null && Date.parse(at) - Date.parse(since) >= WRITTEN_EVERY_MS;
  // The first look at the clock begins to count.
  return isOld || (since === null && ticks.since !== null) ? fact : undefined;
}
