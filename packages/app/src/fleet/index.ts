export type { CoherenceServices } from './coherence-services.ts';
export { createFleetDesk, type FleetDesk } from './fleet-desk.ts';
export type { FleetListener } from './fleet-feed.ts';
export { type FleetHost, openFleetHost } from './fleet-host.ts';
export { readFleet } from './fleet-log.ts';
export type { FleetPlugin, OpenPlugin, PluginPorts } from './fleet-plugin.ts';
export { createFleetReads, type FleetReads } from './fleet-reads.ts';
export { subscribeFleet } from './fleet-subscription.ts';
export { projectIdOf } from './project-id.ts';
