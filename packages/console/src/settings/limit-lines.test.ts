import type { LimitsView } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { limitLines, typedLimit } from './limit-lines.ts';

const day: LimitsView['ceilings'][number] = {
  ...{ scope: 'day', day: '2040-05-06', waiting: [] },
  configured: { maxTotalTokens: 1500 },
  limits: { maxTotalTokens: 90_000 },
  spent: { tokens: 2100, costMicroUsd: 4_000_000 },
  reserved: { tokens: 700, costMicroUsd: 0 },
};

describe('limits in the settings', () => {
  it('[K240] are one line for each scope, with what was spent, reserved and raised', () => {
    const project = { ...day, scope: 'project' as const, directory: '/home/ada/app', limits: day.configured };
    expect(limitLines({ today: '2040-05-06', run: { maxCostMicroUsd: 5 }, ceilings: [project, day] })).toEqual([
      { scope: 'run', title: 'Each run without limits of its own', maxCostMicroUsd: 5, waiting: [] },
      {
        ...{ scope: 'day', title: 'All runs on one day', maxTotalTokens: 1500, raised: '90.0 k tokens', waiting: [] },
        spent: '$4.00 · 2.1 k tokens, 700 tokens reserved',
      },
      {
        ...{ scope: 'project', directory: '/home/ada/app', title: '/home/ada/app', maxTotalTokens: 1500, waiting: [] },
        spent: '$4.00 · 2.1 k tokens, 700 tokens reserved',
      },
    ]);
    expect(limitLines({ today: '2040-05-06', run: {}, ceilings: [] }).map(({ scope }) => scope)).toEqual([
      'run',
      'day',
    ]);
  });

  it.each([
    ['', 1, null],
    [' 20 ', 1, 20],
    ['2.5', 1_000_000, 2_500_000],
    ['2.5', 1, undefined],
    ['-1', 1, undefined],
    ['many', 1, undefined],
  ])('[K240] are read as they are typed: "%s"', (text, unit, amount) => {
    expect(typedLimit(text, unit)).toBe(amount);
  });
});
