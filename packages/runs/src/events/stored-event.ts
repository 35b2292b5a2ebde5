import { type Digest, type RunEvent, type RunId, runEvent } from '@signalbox/model';
import * as z from 'zod';
import { type InternalEvent, internalEvent } from './internal-event.ts';

/** Every event of a run: the contract's, and ours. */
export const anyEvent = z.discriminatedUnion('type', [...runEvent.options, ...internalEvent.options]);
export type AnyEvent = RunEvent | InternalEvent;

type WithoutPlace<Event> = Event extends unknown ? Omit<Event, 'runId' | 'seq'> : never;

/** An event that has no place yet: the commit gives it its run and its `seq`. */
export type EventDraft = WithoutPlace<AnyEvent>;

const options: readonly z.ZodObject[] = [...runEvent.options, ...internalEvent.options];
const drafts = options.map(option => option.omit({ runId: true, seq: true }));

export const eventDraft = z.discriminatedUnion(
  'type',
  drafts as [z.ZodObject, ...z.ZodObject[]],
) as unknown as z.ZodType<EventDraft>;

/** An event with the hash of the record that tells it. */
export interface StoredEvent {
  readonly event: AnyEvent;
  readonly hash: Digest;
}

/** The events of a record in their places, numbered from `seq`. */
export function placeEvents(
  place: { readonly run: RunId; readonly seq: number; readonly hash: Digest },
  drafts: readonly EventDraft[],
): readonly StoredEvent[] {
  const { run, seq, hash } = place;
  return drafts.map((draft, index) => ({ event: { ...draft, runId: run, seq: seq + index } as AnyEvent, hash }));
}
