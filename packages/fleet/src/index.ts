export type { Effect } from './effects.ts';
export { type Fact, fact } from './facts.ts';
export { foldFleet, stepFleet } from './fleet.ts';
export { emptyFleet, type FleetState, fleetState } from './fleet-state.ts';
