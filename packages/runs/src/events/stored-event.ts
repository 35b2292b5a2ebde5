import { chainHead, type Digest, type Hasher, type RunEvent, type RunId, runEvent } from '@signalbox/model';
import * as z from 'zod';
import { canonicalEvent } from './canonical-event.ts';
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

/** An event with the head of its run's chain after it. */
export interface StoredEvent {
  readonly event: AnyEvent;
  readonly hash: Digest;
}

/** Drafts in their places: numbered from `nextSeq` and chained from `head`. */
export function placeEvents(
  hasher: Hasher,
  place: { readonly run: RunId; readonly nextSeq: number; readonly head: Digest },
  drafts: readonly EventDraft[],
): readonly (StoredEvent & { readonly canonical: string })[] {
  let head = place.head;
  return drafts.map((draft, index) => {
    const event = { ...draft, runId: place.run, seq: place.nextSeq + index } as AnyEvent;
    const canonical = canonicalEvent(event);
    head = chainHead(hasher, head, canonical);
    return { event, canonical, hash: head };
  });
}
