import { nodeHasher } from '@signalbox/journal';
import { canonicalJson, type Digest, type RunId, type SessionId } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { draftOfRecord, ownRecordSchema, type RunRecordEvent, recordSchemas } from './run-record-event.ts';

const run = '01a1ec1c-908e-72dc-b6cc-a5d5fef2b9ca' as RunId;

function eventOf(n: number, body: string | undefined, blob: Digest | undefined, header: string): RunRecordEvent {
  const hash = nodeHasher(`${n}`);
  const record = { header, hash, ...(body !== undefined && { body }), ...(blob !== undefined && { blob }) };
  return { ...draftOfRecord(run, n, record), v: 1, eventIndex: n, sessionId: run as string as SessionId };
}

describe('the line of a record in its journal', () => {
  it('[A470] is the canonical text of its event, though it is put together without looking at every value', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.option(fc.string({ unit: 'grapheme' }), { nil: undefined }),
        fc.option(fc.constant(nodeHasher('blob')), { nil: undefined }),
        fc.string({ unit: 'grapheme' }),
        (n, body, blob, header) => {
          const event = eventOf(n, body, blob, header);
          expect(ownRecordSchema.canonicalText?.(event)).toBe(canonicalJson(event));
        },
      ),
    );
  });

  it('[A470] has an id that follows from the hash of its record', () => {
    const header = JSON.stringify({
      v: 1,
      log: run,
      n: 3,
      at: '2026-01-01T00:00:00.000Z',
      who: 'driver',
      version: 3,
      seq: 7,
      events: 1,
      body: nodeHasher('body'),
    });
    const event = eventOf(3, 'body', undefined, header);
    expect(recordSchemas.run.decode(event)).toEqual({ ok: true, value: event });
    const other = eventOf(4, 'body', undefined, header);
    expect(recordSchemas.run.decode({ ...event, eventId: other.eventId })).toEqual({
      ok: false,
      error: `eventId: its record says "${event.eventId}"`,
    });
  });
});
