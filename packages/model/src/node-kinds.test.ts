import { expect, it } from 'vitest';
import { isWorkKind, nodeKindFacts, type PlanNodeKind, planNodeKinds } from './node-kinds.ts';
import { timerDue, timerReason } from './status/block-reason.ts';

const kinds = Object.keys(planNodeKinds) as PlanNodeKind[];

it('the contract shows the nodes that do work, and no others', () => {
  const shown = kinds.filter(kind => nodeKindFacts(kind)?.provider !== undefined);
  expect(shown).toEqual(kinds.filter(isWorkKind));
  expect(shown).toEqual(['agent', 'claude', 'codex', 'gemini', 'openai', 'task', 'human', 'keep', 'subplan', 'timer']);
});

it('a kind that is not known here is none of them', () => {
  expect(['goto', 'constructor'].map(kind => [nodeKindFacts(kind), isWorkKind(kind)])).toEqual([
    [undefined, false],
    [undefined, false],
  ]);
});

it('a tree says of a node what its author wrote', () => {
  const said = (kind: PlanNodeKind, data: object, turn?: number) =>
    nodeKindFacts(kind)?.detail(data as Readonly<Record<string, unknown>>, turn);
  expect([
    said('if', { condition: true }),
    said('switch', { value: 2 }),
    said('each', { items: 3 }),
    said('while', { maxIterations: 5 }),
    said('ralph', { maxIterations: 5 }, 1),
    said('claude', { model: 'sonnet', prompt: 'Look.\nClosely.' }),
    said('human', { prompt: ' ' }),
    said('stop', { reason: 'enough' }),
    said('timer', { forMs: 1500 }),
    said('timer', { until: '2027-01-01T00:00:00.000Z' }),
    said('task', { input: 1 }),
  ]).toEqual([
    'true',
    '2',
    '3 items',
    'at most 5 turns',
    'turn 2 of at most 5',
    'sonnet · Look.',
    undefined,
    'enough',
    'for 1.5 s',
    'until 2027-01-01T00:00:00.000Z',
    undefined,
  ]);
});

it('the reason of a timer names its time, and no other reason does', () => {
  const due = '2027-01-01T00:00:00.000Z' as Parameters<typeof timerReason>[0];
  expect([timerDue(timerReason(due)), timerDue('rate_limit'), timerDue(undefined)]).toEqual([
    due,
    undefined,
    undefined,
  ]);
});
