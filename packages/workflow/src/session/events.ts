/** What a guided session records, for whoever reads it without a disk. */
export type { DomainEvent, EventOf } from './domain-event.ts';
export type { NodeKind, OutputPayload } from './event-data.ts';
