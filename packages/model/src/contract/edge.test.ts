import { describe, expect, it } from 'vitest';
import { edgeSample } from '../../test/contract-samples.ts';
import { refusal, requiredFields } from '../../test/refusal.ts';
import { edge, edgeDefaults } from './edge.ts';

describe('edge', () => {
  it('[M31] requires every field', () => {
    expect(requiredFields(edge, edgeSample)).toEqual(Object.keys(edgeSample));
  });

  it('[M31] is a handoff or a report, with any label', () => {
    const custom = { ...edgeSample, type: 'report', label: 'second opinion' };
    expect(edge.parse(custom)).toEqual(custom);
    expect(edge.shape.type.options).toEqual(['handoff', 'report']);
  });

  it('[M31] is by default a task from the orchestrator and a report to it', () => {
    expect(edgeDefaults).toEqual({
      fromOrchestrator: { type: 'handoff', label: 'task' },
      toOrchestrator: { type: 'report', label: 'report' },
    });
  });

  it.each([
    ['another type', { type: 'message' }, 'type: invalid_value'],
    ['no label', { label: '' }, 'label: too_small'],
    ['an end that is no id', { to: 'node-b' }, 'to: invalid_format'],
    ['a direction that is a word', { bidirectional: 'no' }, 'bidirectional: invalid_type'],
  ])('[M31] refuses %s', (_, change, problem) => {
    expect(refusal(edge, { ...edgeSample, ...change })).toEqual([problem]);
  });
});
