import type { FoundThing } from '@signalbox/model';
import { expect, it } from 'vitest';
import { findPlaceOf, linkToFound } from './find-place.ts';

const run = '01a1f1e2-fb92-7445-ba69-000000000001';

it('[K180] the search is in the address, and unknown parts of one are dropped', () => {
  const place = { q: 'login', kinds: ['file', 'call'], since: 'day', run };
  expect(findPlaceOf(place)).toEqual({ q: 'login', kinds: ['call', 'file'], since: 'day', run });
  expect(findPlaceOf({ q: 7, kinds: ['secret'], since: 'ever', run: 'x', more: 1 })).toEqual({ q: '7' });
  expect(findPlaceOf({ q: '', kinds: 'file' })).toEqual({});
});

it('[K180] each result leads to where it is shown', () => {
  const thing = (fields: object) => ({ title: 't', snippet: [], at: '', run, ...fields }) as unknown as FoundThing;
  expect(linkToFound(thing({ kind: 'file', node: 'writer' }))).toEqual({
    to: '/runs/$run',
    params: { run },
    search: { node: 'writer', tab: 'transcript' },
  });
  expect(linkToFound(thing({ kind: 'message', node: 'writer' }))).toMatchObject({ search: { tab: 'transcript' } });
  expect(linkToFound(thing({ kind: 'artifact', artifact: 'a' }))).toMatchObject({
    to: '/artifacts',
    search: { at: 'a' },
  });
  expect(linkToFound(thing({ kind: 'note', session: 's' }))).toEqual({ to: '/workflows', search: { session: 's' } });
});
