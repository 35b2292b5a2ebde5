import type { Digest } from '@signalbox/model';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openHeader } from './open-record.ts';
import { recordHeader } from './record.ts';

const header = {
  v: 1,
  log: '01a1ec1c-908e-72dc-b6cc-a5d5fef2b9ca',
  n: 100,
  at: '2026-11-18T00:44:19.500Z',
  who: 'driver',
  version: 101,
  seq: 690,
  events: 7,
  body: `sha256:${'a7'.repeat(32)}` as Digest,
};

const isHeader = (text: string): boolean => {
  try {
    return recordHeader.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
};

it('a header is read where its schema takes it, and nowhere else, whichever character of it is another', () => {
  const text = JSON.stringify(header);
  expect(openHeader(text)).toEqual({ ok: true, value: header });
  const withBlobs = { ...header, blobs: [header.body] };
  expect(openHeader(JSON.stringify(withBlobs))).toEqual({ ok: true, value: withBlobs });
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.constantFrom(...'0123456789abcdefgz"-:,. {}T'), (at, other) => {
      const changed = text.slice(0, at) + other + text.slice(at + 1);
      expect(openHeader(changed).ok).toBe(isHeader(changed));
    }),
    { numRuns: 2000 },
  );
});

it.each([
  '2026-02-30T00:00:00.000Z',
  '2026-13-01T00:00:00.000Z',
  '2024-02-29T00:00:00.000Z',
  '2026-02-29T00:00:00.000Z',
])('a header of %s is read where its schema takes it', at => {
  const text = JSON.stringify({ ...header, at });
  expect(openHeader(text).ok).toBe(isHeader(text));
});
