import {
  ADAPTER_EVENT_MAX_BYTES,
  adapterEvent,
  agentBrief,
  type Fault,
  faultsOf,
  parseAdapterEvent,
  parseStrictly,
} from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { adapterEventSample, agentEventSamples, optionDecisionSample } from '../../test/fleet-event-samples.ts';
import { briefSample, protocolSample, sessionPolicySample } from '../../test/fleet-plugin-samples.ts';

const withEvent = (event: object) => ({ ...adapterEventSample, event });

function sentences(outcome: { readonly ok: boolean; readonly error?: readonly Fault[] }): readonly string[] {
  return (outcome.error ?? []).map(({ sentence }) => sentence);
}

describe('a fault', () => {
  it.each([
    [
      'a missing field',
      withEvent({ type: 'status', agentId: adapterEventSample.event.agentId }),
      '"event.message" is missing.',
    ],
    [
      'a number for text',
      withEvent({ ...adapterEventSample.event, message: 3 }),
      '"event.message" must be text, not 3.',
    ],
    ['null for an object', { ...adapterEventSample, event: null }, '"event" must be an object, not null.'],
    ['a list for an object', { ...adapterEventSample, event: [] }, '"event" must be an object, not a list.'],
    [
      'part of a number',
      { ...adapterEventSample, sourceSequence: 1.5 },
      '"sourceSequence" must be a whole number, not 1.5.',
    ],
    [
      'a number that is too small',
      { ...adapterEventSample, sourceSequence: -3 },
      '"sourceSequence" must be at least 0; it is -3.',
    ],
    [
      'a number that is too large',
      withEvent({ ...optionDecisionSample, confidence: 1.2 }),
      '"event.confidence" must be at most 1; it is 1.2.',
    ],
    [
      'an empty list',
      withEvent({ ...optionDecisionSample, options: [] }),
      '"event.options" must have at least 1 item; it has 0.',
    ],
    [
      'an empty text',
      withEvent({ ...optionDecisionSample, title: '' }),
      '"event.title" must have at least 1 character; it has 0.',
    ],
    [
      'a word of no scale',
      withEvent({ ...optionDecisionSample, severity: 'urgent' }),
      '"event.severity" must be "warning", "low", "medium", "high" or "critical", not "urgent".',
    ],
    [
      'an id that is none',
      withEvent({ ...adapterEventSample.event, agentId: 'agent-1' }),
      '"event.agentId" must be a lower-case UUID, not "agent-1".',
    ],
    [
      'a time without a zone',
      { ...adapterEventSample, sourceOccurredAt: 'yesterday' },
      '"sourceOccurredAt" must be a time in UTC such as 2026-01-01T00:00:00Z, not "yesterday".',
    ],
    [
      'an unknown type',
      withEvent({ ...adapterEventSample.event, type: 'thought' }),
      '"event.type" is not a known value: "thought".',
    ],
    [
      'an undeclared field',
      withEvent({ ...adapterEventSample.event, mood: 1 }),
      '"event" has a field that is not part of it: "mood".',
    ],
    [
      'undeclared fields at the top',
      { ...adapterEventSample, mood: 1, tone: 2 },
      'The value has fields that are not part of it: "mood", "tone".',
    ],
    [
      'text that has no UTF-8 form',
      withEvent({ ...adapterEventSample.event, message: '\ud800' }),
      '"event.message" must be Unicode text without lone surrogates.',
    ],
    [
      'a list for arguments',
      withEvent({ ...agentEventSamples.tool_call, input: [] }),
      '"event.input" must be an object.',
    ],
    [
      'one of many choices',
      withEvent({ ...agentEventSamples.artifact, kind: 'song' }),
      '"event.kind" must be one of "diff", "prompt", "log", "transcript", "contextpack", "report", "markdown", "table", …, not "song".',
    ],
  ])('[M229] of %s is one sentence', (_, value, sentence) => {
    expect(sentences(parseStrictly(adapterEvent, value))).toEqual([sentence]);
  });

  it('[M229] names an item of a list, and there is one for each fault', () => {
    const value = withEvent({ ...optionDecisionSample, options: [optionDecisionSample.options[0], { id: 'x' }] });
    expect(parseStrictly(adapterEvent, value)).toEqual({
      ok: false,
      error: [
        { field: 'event.options[1].label', sentence: '"event.options[1].label" is missing.' },
        { field: 'event.options[1].description', sentence: '"event.options[1].description" is missing.' },
      ],
    });
  });

  it('[M229] of a value with several forms is that of the nearest form', () => {
    const escalationProtocol = {
      ...protocolSample,
      escalateWhen: [
        { predicate: { type: 'and', rules: [{ field: 'confidence', op: 'less', value: 1 }] }, description: '' },
      ],
    };
    expect(sentences(parseStrictly(agentBrief, { ...briefSample, escalationProtocol }))).toEqual([
      '"escalationProtocol.escalateWhen[0].predicate.rules[0].op" must be "lt", "gt", "lte" or "gte", not "less".',
    ]);
  });

  it('[M229] uses the words of our own rules', () => {
    const sessionPolicy = { ...sessionPolicySample, historyPolicy: 'full' };
    expect(sentences(parseStrictly(agentBrief, { ...briefSample, sessionPolicy }))).toEqual([
      '"sessionPolicy.historyN" belongs to historyPolicy "recent_n" only.',
    ]);
  });

  it('[M229] shows no more of a value than fits into a sentence', () => {
    const [sentence = ''] = sentences(
      parseStrictly(adapterEvent, { ...adapterEventSample, ['k'.repeat(5000)]: 1, runId: '😀'.repeat(5000) }),
    );
    expect(sentence.length).toBeLessThan(200);
    expect(sentence.isWellFormed()).toBe(true);
  });

  it('[M229] is found for every issue of a schema, and is a sentence', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...Object.keys(adapterEventSample)), fc.anything()), change => {
        const value = { ...adapterEventSample, ...change };
        const parsed = adapterEvent.safeParse(value);
        if (parsed.success) return;
        const faults = faultsOf(parsed.error.issues, value);
        expect(faults).toHaveLength(parsed.error.issues.length);
        for (const { field, sentence } of faults) {
          expect(sentence).toMatch(/^(".+"|The value) .+\.$/s);
          expect(sentence.startsWith(field === '' ? 'The value' : `"${field}"`)).toBe(true);
        }
      }),
    );
  });
});

describe("an adapter's message", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);

  it('[M230] is an event, as text and as bytes', () => {
    const text = JSON.stringify(adapterEventSample);
    expect([parseAdapterEvent(text), parseAdapterEvent(bytes(text))]).toEqual([
      { ok: true, value: adapterEventSample },
      { ok: true, value: adapterEventSample },
    ]);
  });

  it.each([
    ['empty', '  \n', 'The message is empty.'],
    [
      'cut off',
      '{"sourceEventId": "0190',
      'The message is not JSON, or not all of it: "{\\"sourceEventId\\": \\"0190"',
    ],
    ['a list', '[]', 'The message must be an object, not a list.'],
    ['a number', '12', 'The message must be an object, not "12".'],
    ['not UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), 'The message is not UTF-8 text.'],
    ['too large', `"${'x'.repeat(ADAPTER_EVENT_MAX_BYTES)}"`, 'The message has 1048578 bytes; 1048576 are allowed.'],
  ])('[M230] that is %s has a fault of its own', (_, raw, sentence) => {
    expect(parseAdapterEvent(raw)).toEqual({ ok: false, error: [{ field: '', sentence }] });
  });

  it('[M230] has a fault or is an event, whatever the bytes', () => {
    const anyMessage = fc.oneof(fc.uint8Array(), fc.string({ unit: 'binary' }), fc.json());
    fc.assert(
      fc.property(anyMessage, raw => {
        const parsed = parseAdapterEvent(raw);
        expect(parsed.ok || parsed.error.length > 0).toBe(true);
      }),
    );
  });
});
