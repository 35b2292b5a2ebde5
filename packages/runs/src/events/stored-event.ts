import { type Digest, eventId, type RUN_EVENT_VERSION, type RunEvent, runEvent, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { INTERNAL_EVENT_VERSION, type InternalEvent, internalEvent } from './internal-event.ts';

/** Every event of a run: the contract's, and ours. */
export const anyEvent = z.discriminatedUnion('type', [...runEvent.options, ...internalEvent.options]);
export type AnyEvent = RunEvent | InternalEvent;

type WithoutPlace<Event extends AnyEvent> = Event extends unknown
  ? Omit<Event, 'v' | 'id' | 'runId' | 'seq' | 'ts'> & Partial<Pick<Event, 'id' | 'ts'>>
  : never;

/**
 * An event that has no place yet: the commit gives it its run, its `seq` and its version. Its time is that of the commit, and its
 * id follows from its place, unless it brings its own: what comes from outside the driver has an id, by which a second try is
 * known.
 */
export type EventDraft = WithoutPlace<AnyEvent>;

export const eventDraft = z.discriminatedUnion('type', drafts()) as unknown as z.ZodType<EventDraft>;

function drafts(): [z.ZodObject, ...z.ZodObject[]] {
  const options: readonly z.ZodObject[] = [...runEvent.options, ...internalEvent.options];
  const made = options.map(option =>
    option
      .omit({ v: true, runId: true, seq: true })
      .extend({ id: eventId.optional(), ts: timestamp.optional() })
      .strict(),
  );
  return made as unknown as [z.ZodObject, ...z.ZodObject[]];
}

/** The version of both, which the schemas of events hold. */
export const EVENT_VERSION: typeof RUN_EVENT_VERSION & typeof INTERNAL_EVENT_VERSION = INTERNAL_EVENT_VERSION;

/** An event with the hash of the record that tells it. */
export interface StoredEvent {
  readonly event: AnyEvent;
  readonly hash: Digest;
}
