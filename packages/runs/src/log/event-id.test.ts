import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RunId } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { eventIdAt } from './event-id.ts';

const vectors = z
  .strictObject({
    source: z.string(),
    events: z.array(z.strictObject({ log: z.string(), record: z.int(), index: z.int(), id: z.string() })),
  })
  .parse(JSON.parse(readFileSync(new URL('../../../../spec/vectors/event-ids.json', import.meta.url), 'utf8')));

/** A UUIDv5 as RFC 9562 describes it. */
function v5(namespace: string, name: string): string {
  const bytes = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest();
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const place = fc.nat(2 ** 31 - 1);

describe('the id of an event', () => {
  it.each(vectors.events)(
    '[L307] of log $log, record $record, index $index is frozen',
    ({ log, record, index, id }) => {
      expect(eventIdAt(log as RunId, record, index)).toBe(id);
    },
  );

  it('[L307] is the UUIDv5 of its place, whichever it is', () => {
    fc.assert(
      fc.property(fc.uuid(), place, place, (log, record, index) => {
        expect(eventIdAt(log as RunId, record, index)).toBe(v5(log, `${record}/${index}`));
      }),
      { numRuns: 1_000 },
    );
  });
});
