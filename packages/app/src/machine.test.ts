import { expect, it } from 'vitest';
import { thisMachine } from './machine.ts';

it('gives as many bytes as were asked for, and none twice', () => {
  const { rng } = thisMachine();
  const lengths = [1, 16, 4_000, 100, 4_096, 5_000, 0, 16];
  const given = lengths.map(length => rng.bytes(length));
  expect(given.map(bytes => bytes.length)).toEqual(lengths);
  const kept = given.map(bytes => Buffer.from(bytes).toString('hex'));
  for (let count = 0; count < 1_000; count++) rng.bytes(16).fill(0);
  expect(given.map(bytes => Buffer.from(bytes).toString('hex'))).toEqual(kept);
  const ids = Array.from({ length: 2_000 }, () => Buffer.from(rng.bytes(16)).toString('hex'));
  expect(new Set(ids).size).toBe(ids.length);
});
