import { type EventId, timestampOf } from '@signalbox/model';
import { type EventDraft, eventDraftOf } from '@signalbox/runs';
import type { Machine } from '../machine.ts';

/** An event from outside the driver: its own id identifies a second attempt. */
export function draftEvent<Type extends EventDraft['type']>(
  { clock, ids }: Pick<Machine, 'clock' | 'ids'>,
  type: Type,
  fields: Parameters<typeof eventDraftOf<Type>>[1],
): EventDraft {
  return { id: ids.mint<EventId>(), ts: timestampOf(clock), ...eventDraftOf(type, fields) };
}
