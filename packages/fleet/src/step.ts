import type { Effect } from './effects.ts';
import type { InnerFact } from './inner-facts.ts';

/** What a reducer returns: the next state, and what is to be done about it, in order. Inner facts are for other parts. */
export interface Step<State> {
  readonly state: State;
  readonly effects: readonly (Effect | InnerFact)[];
}

/** Nothing to do but to keep the state. */
export function kept<State>(state: State): Step<State> {
  return { state, effects: [] };
}

/** Lets steps follow each other: what each returns is the next one's state, and the effects add up. */
export function inTurn<State, Item>(
  state: State,
  items: Iterable<Item>,
  next: (state: State, item: Item) => Step<State>,
): Step<State> {
  const effects: (Effect | InnerFact)[] = [];
  let current = state;
  for (const item of items) {
    const step = next(current, item);
    current = step.state;
    effects.push(...step.effects);
  }
  return { state: current, effects };
}
