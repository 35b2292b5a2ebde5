import type { RunSummary } from '@signalbox/model';
import { expect, it } from 'vitest';
import { comparePlaceOf, previousOf } from './compare-place.ts';

const run = (id: string, createdAt: string, record: object = {}) =>
  ({ id, kind: 'plan', createdAt, record: { entry: 'plan.tsx', ...record } }) as unknown as RunSummary;

it('[K183] a run is compared with what it was forked from, else with the run of its plan before it', () => {
  const fork = run('fork', '4', { origin: { kind: 'fork', run: 'first', frame: 2 } });
  const runs = [
    fork,
    run('third', '3'),
    run('other', '2', { entry: 'other.tsx' }),
    run('second', '2'),
    run('first', '1'),
  ];
  expect(previousOf(fork, runs)).toBe('first');
  expect(previousOf(run('third', '3'), runs)).toBe('second');
  expect(previousOf(run('first', '1'), runs)).toBeUndefined();
});

it('[K183] the address names both runs', () => {
  const [a, b] = ['01a1f1e2-fb92-7445-ba69-000000000001', '01a1f1e2-fb92-7445-ba69-000000000002'];
  expect(comparePlaceOf({ a, b, more: 1 })).toEqual({ a, b });
  expect(comparePlaceOf({ a: 'x', b })).toEqual({ b });
});
