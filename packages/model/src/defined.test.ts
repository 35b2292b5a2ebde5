import { expect, it } from 'vitest';
import { defined } from './defined.ts';

it('leaves out fields without a value, and keeps their order and every other value', () => {
  const given: { b?: number | undefined; a: null; c: string; d: false } = { b: undefined, a: null, c: '', d: false };
  const kept: { b?: number; a: null; c: string; d: false } = defined(given);
  expect(Object.entries(kept)).toEqual([
    ['a', null],
    ['c', ''],
    ['d', false],
  ]);
});
