import { agentId, parseAdapterEvent } from '@signalbox/model';
import { malformedEvents } from '@signalbox/testkit';
import { expect, it } from 'vitest';

const cases = malformedEvents(agentId.parse('01900000-0000-7000-8000-0000000000a1'));

it('[U26] there are twelve kinds, each once', () => {
  expect(new Set(cases.map(({ kind }) => kind)).size).toBe(12);
});

it.each(cases)('[U26] a message $kind is refused with a sentence for people', ({ raw, sentence }) => {
  const parsed = parseAdapterEvent(raw);
  expect(!parsed.ok && parsed.error.map(fault => fault.sentence)).toEqual([sentence]);
});
