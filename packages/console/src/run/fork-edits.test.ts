import { expect, it } from 'vitest';
import { editsOf } from './fork-edits.ts';

it('[K184] a fork edits the keys that were typed differently, and none while something typed is not JSON', () => {
  const state = { checks: 3, report: { part: 'sound' } };
  expect(editsOf(state, {})).toEqual({});
  expect(editsOf(state, { checks: '9', report: '{ "part": "sound" }' })).toEqual({ checks: 9 });
  expect(editsOf(state, { checks: 'null' })).toEqual({ checks: null });
  expect(editsOf(state, { checks: '9', report: '{' })).toBeUndefined();
  expect(editsOf(state, { checks: '' })).toBeUndefined();
});
