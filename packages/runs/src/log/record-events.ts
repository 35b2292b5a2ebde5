import { type Digest, digestHex, type EventId, err, ok, type Result } from '@signalbox/model';
import { fullEvent } from '../events/kept-event.ts';
import { type AnyEvent, EVENT_VERSION, type StoredEvent } from '../events/stored-event.ts';
import type { RecordDraft, RecordHeader } from './record.ts';

/** The events that a record tells, in their places (T3); or why it cannot be read. */
export function recordEvents(
  { log, seq, at }: Pick<RecordHeader, 'log' | 'seq' | 'at'>,
  body: RecordDraft,
  hash: Digest,
): Result<readonly StoredEvent[], string> {
  const told: StoredEvent[] = [];
  for (const [index, kept] of (body.events ?? []).entries()) {
    const event = fullEvent(body, kept);
    if (event === undefined) return err(`its event ${index} follows from nothing in it`);
    const { id = eventIdOf(hash, index), ts = at, ...said } = event;
    told.push({ event: { v: EVENT_VERSION, id, ts, ...said, runId: log, seq: seq + index } as AnyEvent, hash });
  }
  return ok(told);
}

/** A UUID (version 8) of the beginning of the record's hash, which no redaction changes, and the event's place in it. */
function eventIdOf(hash: Digest, index: number): EventId {
  const hex = digestHex(hash);
  const variant = VARIANTS[Number.parseInt(hex.charAt(16), 16) & 3];
  const place = index.toString(16).padStart(6, '0');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `${variant}${hex.slice(17, 20)}`];
  return `${parts.join('-')}-${hex.slice(20, 26)}${place}` as EventId;
}

const VARIANTS = '89ab';
