import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timestamp, timestampOf } from './clock.ts';

describe('timestamps', () => {
  it.each(['2026-01-01T00:00:00Z', '2024-02-29T23:59:59.999Z', '2026-01-01T00:00:00.123456789Z'])(
    '[M5] %s is one',
    value => {
      expect(timestamp.parse(value)).toBe(value);
    },
  );

  it.each([
    ['an offset', '2026-01-01T01:00:00+01:00'],
    ['a zero offset', '2026-01-01T00:00:00+00:00'],
    ['local time', '2026-01-01T00:00:00'],
    ['a lower-case z', '2026-01-01T00:00:00z'],
    ['a space for T', '2026-01-01 00:00:00Z'],
    ['no seconds', '2026-01-01T00:00Z'],
    ['a date only', '2026-01-01'],
    ['a day that does not exist', '2026-02-29T00:00:00Z'],
    ['an hour that does not exist', '2026-01-01T24:00:00Z'],
    ['a second that does not exist', '2026-01-01T00:00:60Z'],
    ['surrounding space', ' 2026-01-01T00:00:00Z'],
    ['a trailing newline', '2026-01-01T00:00:00Z\n'],
    ['another notation', 'Thu, 01 Jan 2026 00:00:00 GMT'],
    ['nothing', ''],
    ['milliseconds', 1_767_225_600_000],
    ['a Date', new Date(0)],
  ])('[M5] %s is none', (_, value) => {
    expect(timestamp.safeParse(value).success).toBe(false);
  });

  it('[M6] are written to the millisecond', () => {
    expect([0, 1, 1_767_225_600_000].map(now => timestampOf({ now: () => now }))).toEqual([
      '1970-01-01T00:00:00.000Z',
      '1970-01-01T00:00:00.001Z',
      '2026-01-01T00:00:00.000Z',
    ]);
  });

  it('[M6] read back as the instant they were made from', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 11, 31, 23, 59, 59, 999) }), now => {
        expect(Date.parse(timestamp.parse(timestampOf({ now: () => now })))).toBe(now);
      }),
    );
  });
});
