import { type Digest, eventId, type RUN_EVENT_VERSION, type RunEvent, runEvent, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { INTERNAL_EVENT_VERSION, type InternalEvent, internalEvent } from './internal-event.ts';

/** Every event of a run: the contract's and the internal ones. */
export const anyEvent = z.discriminatedUnion('type', [...runEvent.options, ...internalEvent.options]);
export type AnyEvent = RunEvent | InternalEvent;

type WithoutPlace<Event extends AnyEvent> = Event extends unknown
  ? Omit<Event, 'v' | 'id' | 'runId' | 'seq' | 'ts'> & Partial<Pick<Event, 'id' | 'ts'>>
  : never;

/**
 * An event without a place: the commit assigns its run, `seq` and version. Its time is that of the commit, and its id derives from its
 * place, unless it brings its own: an event from outside the driver has an id that identifies a second attempt.
 */
export type EventDraft = WithoutPlace<AnyEvent>;

/** A draft of an event of one type. */
export function eventDraftOf<Type extends EventDraft['type']>(
  type: Type,
  fields: Omit<Extract<EventDraft, { readonly type: Type }>, 'type'>,
): EventDraft {
  // The compiler does not put a generic member of the union together again.
  return { type, ...fields } as unknown as EventDraft;
}

/** `drafts` makes one schema of each event: together they are the union, which their common type hides. */
export const eventDraft = z.discriminatedUnion('type', drafts()) as unknown as z.ZodType<EventDraft>;

function drafts(): [z.ZodObject, ...z.ZodObject[]] {
  const options: readonly z.ZodObject[] = [...runEvent.options, ...internalEvent.options];
  const made = options.map(option =>
    option
      .omit({ v: true, runId: true, seq: true })
      .extend({ id: eventId.optional(), ts: timestamp.optional() })
      .strict(),
  );
  // There are events, so it is not empty.
  return made as unknown as [z.ZodObject, ...z.ZodObject[]];
}

/** The version of both kinds, fixed by their schemas. */
export const EVENT_VERSION: typeof RUN_EVENT_VERSION & typeof INTERNAL_EVENT_VERSION = INTERNAL_EVENT_VERSION;

/** An event with the hash of its record. */
export interface StoredEvent {
  readonly event: AnyEvent;
  readonly hash: Digest;
}
