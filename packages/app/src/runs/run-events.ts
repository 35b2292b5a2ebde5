import { type EventId, timestampOf } from '@signalbox/model';
import type { EventDraft, InternalEvent } from '@signalbox/runs';
import type { Machine } from '../machine.ts';

type Fields<Type extends InternalEvent['type']> = Omit<
  Extract<InternalEvent, { readonly type: Type }>,
  'v' | 'id' | 'runId' | 'seq' | 'ts' | 'type'
>;

/** An internal event without its place in its run. */
export function draftEvent<Type extends InternalEvent['type']>(
  { clock, ids }: Pick<Machine, 'clock' | 'ids'>,
  type: Type,
  fields: Fields<Type>,
): EventDraft {
  return { id: ids.mint<EventId>(), ts: timestampOf(clock), type, ...fields } as unknown as EventDraft;
}
