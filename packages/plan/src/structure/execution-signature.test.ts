import { expect, it } from 'vitest';
import { node } from '../../test/trees.ts';
import type { RunnableNode } from '../nodes/plan-node.ts';
import { executionSignature } from './execution-signature.ts';

const base = { prompt: 'p', model: 'm', maxTurns: 5, resume: 'continue', retries: 3 };
const of = (data: object, environment = '') =>
  executionSignature(node('claude', 'a', [], { ...base, ...data }) as RunnableNode, environment);

it('[P20] every part that changes an agent’s input changes the signature', () => {
  const parts = [
    of({}),
    of({ model: 'other' }),
    of({ prompt: 'other' }),
    of({ system: 's' }),
    of({ tools: { allow: ['read'] } }),
    of({ tools: { deny: ['read'] } }),
    of({ schema: { type: 'string' } }),
    of({ maxTurns: 6 }),
    of({ history: { maxMessages: 3 } }),
    of({ plugin: 'x' }),
    of({ cwd: 'sub' }),
    of({}, 'another machine'),
    executionSignature(node('codex', 'a', [], base) as RunnableNode),
  ];
  expect(new Set(parts).size).toBe(parts.length);
  expect(parts.every(part => /^[0-9a-f]{16}$/.test(part))).toBe(true);
});

it('[P20] other parts do not change the signature', () => {
  expect(of({ label: 'x', retries: 0, timeoutMs: 5, permissions: 'gated' })).toBe(of({}));
  expect(of({ tools: { allow: ['b', 'a'] } })).toBe(of({ tools: { allow: ['a', 'b'] } }));
});

it('[P20] a task is identified by its input, a human by the question, a sub-plan by its plan and input', () => {
  const task = (input?: unknown) => executionSignature(node('task', 'a', [], { input }) as RunnableNode);
  const human = (prompt: string) => executionSignature(node('human', 'a', [], { prompt }) as RunnableNode);
  const sub = (plan: string, input: number) =>
    executionSignature(node('subplan', 'a', [], { plan, input }) as RunnableNode);
  const all = [task(), task(1), task({ a: 1 }), human('p'), human('q'), sub('x', 1), sub('y', 1), sub('x', 2)];
  expect(new Set(all).size).toBe(all.length);
});
