import type { Effect, EffectPhase } from './effects.ts';
import { effectPhases } from './effects.ts';
import type { Fact } from './facts.ts';
import { emptyFleet, type FleetState } from './fleet-state.ts';
import type { InnerFact } from './inner-facts.ts';
import { stepTicks } from './ticks/ticks.ts';
import { handlers, isInner } from './wiring.ts';

/** What a fact leads to. */
export interface FleetStep {
  readonly state: FleetState;
  /** In the order in which they are performed. */
  readonly effects: readonly Effect[];
}

/** Sees every fact and inner fact before it is worked off, with the state at that moment. */
export type FleetWatch = (fleet: FleetState, fact: Fact | InnerFact) => void;

/**
 * One fact in, all effects out.
 *
 * 1. The clock of the fact moves the ticks, and what is due by them happens first.
 * 2. The fact goes to the parts that know its kind, in the order of `wiring.ts`; what a part tells the others is worked off before the next
 *    part sees the fact, so that causes come before consequences.
 * 3. Effects are ordered by phase: what is to be recorded, then the answer to the caller, then what is published, then what is done to
 *    agents and services. Whoever performs them commits the first with the fact, and begins the others when that is durable.
 */
export function stepFleet(before: FleetState, fact: Fact, watch?: FleetWatch): FleetStep {
  const effects: Effect[] = [];
  const timed = passTime(before, fact, effects, watch);
  const state = workOff(timed, fact, effects, watch);
  return { state, effects: inPhases(effects) };
}

/** The state after all these facts: what a restart begins with, and what a check compares with. */
export function foldFleet(facts: Iterable<Fact>, before: FleetState = emptyFleet): FleetState {
  let state = before;
  for (const fact of facts) ({ state } = stepFleet(state, fact));
  return state;
}

function passTime(fleet: FleetState, fact: Fact, effects: Effect[], watch?: FleetWatch): FleetState {
  const { ticks, config, agents } = fleet;
  const isWorking = Object.values(agents.agents).some(({ status }) => status === 'running' || status === 'starting');
  const restarted = fact.kind === 'fleet_restarted' ? stepTicks(ticks, fact, config.ticks) : ticks;
  const read = stepTicks(restarted, { kind: 'clock_read', at: fact.at, isWorking }, config.ticks);
  const next = fact.kind === 'ticks_advanced' ? stepTicks(read, fact, config.ticks) : read;
  const moved = next === ticks ? fleet : { ...fleet, ticks: next };
  if (next.current === ticks.current) return moved;
  return workOff(moved, { kind: 'ticked', at: fact.at, tick: next.current }, effects, watch);
}

function workOff<Kind extends (Fact | InnerFact)['kind']>(
  before: FleetState,
  fact: Extract<Fact | InnerFact, { kind: Kind }>,
  effects: Effect[],
  watch?: FleetWatch,
): FleetState {
  watch?.(before, fact);
  let fleet = before;
  for (const handler of handlers[fact.kind as Kind]) {
    const step = handler(fleet, fact);
    fleet = step.state;
    for (const effect of step.effects) {
      if (isInner(effect)) fleet = workOff(fleet, effect, effects, watch);
      else effects.push(effect);
    }
  }
  return fleet;
}

const phaseOrder: readonly EffectPhase[] = ['record', 'reply', 'publish', 'act'];

function inPhases(effects: readonly Effect[]): readonly Effect[] {
  return phaseOrder.flatMap(phase => effects.filter(effect => effectPhases[effect.kind] === phase));
}
