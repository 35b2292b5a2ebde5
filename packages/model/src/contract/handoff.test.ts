import { describe, expect, it } from 'vitest';
import { handoffSample } from '../../test/contract-samples.ts';
import { refusal, requiredFields } from '../../test/refusal.ts';
import { handoff } from './handoff.ts';

const withPayload = (change: object) => ({ ...handoffSample, payload: { ...handoffSample.payload, ...change } });

describe('handoff', () => {
  it('[M32] requires its envelope and, in its payload, the message', () => {
    expect([
      requiredFields(handoff, handoffSample),
      requiredFields(handoff.shape.payload, handoffSample.payload),
    ]).toEqual([['kind', 'id', 'fromNodeId', 'toNodeId', 'createdAt', 'payload'], ['message']]);
  });

  it('[M32] may say nothing', () => {
    const { contextRef: _, ...bare } = { ...handoffSample, payload: { message: '' } };
    expect(handoff.parse(bare)).toEqual(bare);
  });

  it.each([
    ['another kind', { ...handoffSample, kind: 'report' }, 'kind: invalid_value'],
    ['an id that is no UUID', { ...handoffSample, id: 'payload-1' }, 'id: invalid_format'],
    ['an empty context', { ...handoffSample, contextRef: '' }, 'contextRef: too_small'],
    ['structure that is a list', withPayload({ structured: [1] }), 'payload.structured: custom'],
    ['a status without a reason', withPayload({ status: { ok: true } }), 'payload.status.reason: invalid_type'],
    [
      'a reference that names no artifact',
      withPayload({ artifacts: [{ type: 'diff', ref: 'artifact://diff/123' }] }),
      'payload.artifacts.0.ref: invalid_format',
    ],
    [
      'an artifact of no known kind',
      withPayload({ artifacts: [{ ...handoffSample.payload.artifacts?.[0], type: 'binary' }] }),
      'payload.artifacts.0.type: invalid_value',
    ],
  ])('[M32] refuses %s', (_, value, problem) => {
    expect(refusal(handoff, value)).toEqual([problem]);
  });
});
