import { type EventSchema, eventSchema } from '@signalbox/journal';
import { type DomainEvent, domainEventV1 } from './domain-event.ts';

/** The events in a guided session's journal. */
export const sessionEventSchema: EventSchema<DomainEvent> = eventSchema(domainEventV1, event =>
  event.kind === 'node_created' ? [event.data.snapshotRef] : [],
);
