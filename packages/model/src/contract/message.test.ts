import { describe, expect, it } from 'vitest';
import { messageSample } from '../../test/contract-samples.ts';
import { refusal, requiredFields } from '../../test/refusal.ts';
import { message } from './message.ts';

describe('message', () => {
  it('[M34] requires everything but the node', () => {
    expect(requiredFields(message, messageSample)).toEqual(
      Object.keys(messageSample).filter(field => field !== 'nodeId'),
    );
  });

  it('[M34] has the roles of the contract', () => {
    expect(message.shape.role.options).toEqual(['user', 'assistant', 'system']);
  });

  it.each([
    ['another role', { role: 'tool' }, 'role: invalid_value'],
    ['an interruption that is a word', { interrupt: 'true' }, 'interrupt: invalid_type'],
    ['a node that is null', { nodeId: null }, 'nodeId: invalid_type'],
    ['content that is no text', { content: ['a'] }, 'content: invalid_type'],
    ['a time without a zone', { createdAt: '2026-01-01T00:00:00' }, 'createdAt: invalid_format'],
  ])('[M34] refuses %s', (_, change, problem) => {
    expect(refusal(message, { ...messageSample, ...change })).toEqual([problem]);
  });
});
