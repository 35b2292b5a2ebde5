import { type EventSchema, eventSchema } from '@signalbox/journal';
import { type DomainEvent, domainEventV1 } from './domain-event.ts';

/** What the journal of a guided session holds. */
export const sessionEventSchema: EventSchema<DomainEvent> = eventSchema(domainEventV1, event =>
  event.kind === 'node_created' ? [event.data.snapshotRef] : [],
);
