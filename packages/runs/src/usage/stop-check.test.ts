import type { RunId } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { freshId } from '../../test/builders.ts';
import { addUsage, type Budgeted, budgetKey, checkRoom, checkStop, NO_USAGE } from './stop-check.ts';

const [child, parent] = [freshId<RunId>(), freshId<RunId>()];
const budget = (fields: Partial<Budgeted>): Budgeted => ({
  run: child,
  limits: {},
  spent: NO_USAGE,
  elapsedMs: 0,
  stopRequested: false,
  ...fields,
});
const spent = { ...NO_USAGE, inputTokens: 60, outputTokens: 40, toolCalls: 5, costMicroUsd: 700 };

describe('the stop conditions', () => {
  it('[L10] let a call go while every limit on the way to the root has room', () => {
    const limits = { maxTotalTokens: 101, maxToolCalls: 6, maxCostMicroUsd: 701, maxWallClockMs: 9 };
    expect(checkStop([budget({ limits, spent, elapsedMs: 8 }), budget({ run: parent })])).toEqual({
      kind: 'go',
      left: { tokens: 1, costMicroUsd: 1 },
    });
    expect(checkStop([budget({ spent }), budget({ run: parent })])).toEqual({ kind: 'go' });
  });

  it('[L82] say what is left: the smallest on the way to the root', () => {
    const limits = { maxTotalTokens: 1000, maxCostMicroUsd: 5000 };
    const above = { run: parent, limits: { maxTotalTokens: 500 }, spent };
    expect(checkStop([budget({ limits, spent }), budget(above)])).toEqual({
      kind: 'go',
      left: { tokens: 400, costMicroUsd: 4300 },
    });
  });

  it('[L82] name the limit that is reached, with what was spent', () => {
    expect(checkStop([budget({ limits: { maxToolCalls: 3 }, spent })])).toMatchObject({
      reached: { name: 'maxToolCalls', allowed: 3, used: 5 },
    });
  });

  it.each([
    ['tokens', { limits: { maxTotalTokens: 100 }, spent }],
    ['tool_calls', { limits: { maxToolCalls: 5 }, spent }],
    ['cost', { limits: { maxCostMicroUsd: 700 }, spent }],
    ['wall_clock', { limits: { maxWallClockMs: 9 }, elapsedMs: 9 }],
    ['stop_requested', { stopRequested: true }],
  ] as const)('[L10] stop at a limit that is reached: %s', (condition, fields) => {
    expect(checkStop([budget(fields)])).toMatchObject({ kind: 'stop', run: child, condition });
  });

  it('[L10] of a run above stop a call below it', () => {
    const above = budget({ run: parent, limits: { maxTotalTokens: 100 }, spent });
    expect(checkStop([budget({ limits: { maxTotalTokens: 1_000 } }), above])).toMatchObject({
      kind: 'stop',
      run: parent,
      reason: `Run ${parent} used 100 of its 100 tokens.`,
    });
  });

  it('[L10] fail closed: what nobody can count stops', () => {
    expect(checkStop([budget({ limits: { maxTotalTokens: 100 }, spent: undefined })]).kind).toBe('stop');
    expect(checkStop([budget({ limits: { maxWallClockMs: 100 }, elapsedMs: undefined })]).kind).toBe('stop');
    expect(
      checkStop([budget({ limits: { maxCostMicroUsd: 100 }, spent: { ...NO_USAGE, costMicroUsd: Number.NaN } })]).kind,
    ).toBe('stop');
    expect(checkStop([budget({ spent: undefined, elapsedMs: undefined })]).kind).toBe('go');
  });

  it('[L320] let a call go, wait or stop by what is left besides what is reserved, in every run above', () => {
    const room = (reserved: number, wanted: number) =>
      checkRoom(
        [
          { ...budget({}), reserved: { tokens: reserved } },
          { ...budget({ run: parent, limits: { maxTotalTokens: 200 }, spent }), reserved: { tokens: reserved } },
        ],
        { tokens: wanted },
      );
    expect(room(40, 60)).toEqual({ kind: 'go', left: { tokens: 60 } });
    expect(room(41, 60)).toEqual({ kind: 'wait' });
    expect(room(0, 101)).toMatchObject({
      ...{ kind: 'stop', run: parent, condition: 'tokens' },
      reached: { name: 'maxTotalTokens', allowed: 200, used: 100, wanted: 101 },
    });
  });

  it('[L1300] check a ceiling like a run above, name it, and reserve in it under one key for all days', () => {
    const over = budget({ ceiling: { scope: 'day', day: '2026-01-02' }, limits: { maxTotalTokens: 100 }, spent });
    expect(checkStop([budget({}), over])).toMatchObject({
      ...{ kind: 'stop', run: child },
      reason: 'All runs together used 100 of the 100 tokens for 2026-01-02 (UTC).',
      reached: { ceiling: { scope: 'day' }, allowed: 100 },
    });
    const project = budget({ ceiling: { scope: 'project', directory: '/a' }, limits: { maxTotalTokens: 150 }, spent });
    expect(checkRoom([{ ...project, reserved: { tokens: 40 } }], { tokens: 20 })).toEqual({ kind: 'wait' });
    const keys = ['2026-01-02', '2026-01-03'].map(day => budgetKey({ run: child, ceiling: { scope: 'day', day } }));
    expect(new Set(keys).size).toBe(1);
    expect(budgetKey(project)).not.toBe(budgetKey({ run: child }));
    expect(checkStop([budget({ fault: 'They are unknown.' })])).toMatchObject({
      kind: 'stop',
      reason: 'They are unknown.',
    });
  });

  it('[L10] count what is spent by adding it up', () => {
    expect(addUsage({ ...spent, calls: 2 }, { ...spent, calls: 1 })).toEqual({
      calls: 3,
      inputTokens: 120,
      outputTokens: 80,
      cachedTokens: 0,
      toolCalls: 10,
      costMicroUsd: 1_400,
      wallMs: 0,
    });
  });
});
