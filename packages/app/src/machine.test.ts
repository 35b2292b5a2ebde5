import { expect, it } from 'vitest';
import { thisMachine, timersOn } from './machine.ts';

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

it('[A603] waits for longer than the platform can count, and can be canceled all the while', () => {
  const set: { readonly ms: number; readonly run: () => void }[] = [];
  const cleared: number[] = [];
  const timers = timersOn(
    (run, ms) => set.push({ ms, run }) - 1,
    timer => cleared.push(timer),
  );
  let ran = 0;
  const cancel = timers.after(2 * (2 ** 31 - 1) + 5, () => {
    ran += 1;
  });
  set[0]?.run();
  set[1]?.run();
  expect([set.map(({ ms }) => ms), ran]).toEqual([[2 ** 31 - 1, 2 ** 31 - 1, 5], 0]);
  set[2]?.run();
  cancel();
  expect([ran, cleared]).toEqual([1, [2]]);
});
