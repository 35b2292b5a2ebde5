import { expect, it } from 'vitest';
import { expiryAfter } from './lifetime.ts';

const clock = { now: () => Date.parse('2026-11-02T10:00:00.000Z') };

it.each([
  ['90m', '2026-11-02T11:30:00.000Z'],
  ['12h', '2026-11-02T22:00:00.000Z'],
  ['30d', '2026-12-02T10:00:00.000Z'],
  ['2w', '2026-11-16T10:00:00.000Z'],
])('[A221] a token that lasts %s expires at %s', (lifetime, end) => {
  expect(expiryAfter(lifetime, clock)).toBe(end);
});

it.each(['', '0d', '-1d', '1.5d', '30', 'd', '30 d', '30D', '100000d', '1y'])('[A221] %j is no lifetime', lifetime => {
  expect(expiryAfter(lifetime, clock)).toBeUndefined();
});
