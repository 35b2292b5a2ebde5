export { createFleetDesk, type FleetDesk } from './fleet-desk.ts';
export { readFleet } from './fleet-log.ts';
export { createFleetReads, type FleetReads } from './fleet-reads.ts';
export { subscribeFleet } from './fleet-subscription.ts';
export { projectIdOf } from './project-id.ts';
export { unservedReads } from './unserved-reads.ts';
