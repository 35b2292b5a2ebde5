/** The events of a guided session, for readers without a disk. */
export type { DomainEvent, EventOf } from './domain-event.ts';
export type { NodeKind, OutputPayload } from './event-data.ts';
