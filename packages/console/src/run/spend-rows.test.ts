import { describe, expect, it } from 'vitest';
import { callWords, spendRows } from './spend-rows.ts';

const amounts = { inputTokens: 600, outputTokens: 100, cachedTokens: 0, costMicroUsd: 2_000_000 };
const model = { ...amounts, day: '2040-05-06', calls: 2, toolCalls: 0, wallMs: 5 };
const call = {
  call: 'c',
  node: 'a',
  task: 't',
  provider: 'p',
  model: 'm',
  at: '2040-05-06T00:00:00.000Z',
  unknown: [],
} as never;

describe('what a run spends', () => {
  it('[K241] is shown by node, and by subagent where its agent tells them apart', () => {
    const sum = { inputTokens: 1200, outputTokens: 200, costMicroUsd: 4_000_000, calls: 4 };
    const part = { calls: 1, ...amounts };
    const { cachedTokens: _, ...shown } = part;
    const rows = spendRows({
      nodes: [
        { node: 'a', models: [model, model] },
        { node: 'b', models: [model] },
      ],
      subagents: [
        { node: 'a', subagent: null, ...part },
        { node: 'a', subagent: { id: 'x1', kind: 'explore' }, ...part },
        { node: 'b', subagent: null, ...part },
      ],
    });
    expect(rows).toEqual([
      { key: 'a', node: 'a', name: 'a', isPart: false, ...sum },
      { key: 'a ', node: 'a', name: 'its own calls', isPart: true, ...shown },
      { key: 'a x1', node: 'a', name: 'subagent x1', isPart: true, ...shown },
      { key: 'b', node: 'b', name: 'b', isPart: false, ...shown, calls: 2 },
    ]);
  });

  it('[K241] says of each call what became of it', () => {
    const of = (more: object) => callWords({ ...(call as object), ...more } as never);
    expect(of({ outcome: 'under way', reservedTokens: 1500 })).toBe('under way, 1.5 k tokens reserved');
    expect(of({ outcome: 'answered', spent: amounts })).toBe('$2.00 · 600 in, 100 out');
    expect(of({ outcome: 'cut', spent: amounts, unknown: ['output'] })).toBe(
      'cut, $2.00 · 600 in, 100 out (estimated in part)',
    );
    expect(of({ outcome: 'refused at a limit' })).toBe('refused at a limit');
    expect(of({ outcome: 'refused at a limit', endedAfterMs: 2000 })).toMatch(
      /^refused at a limit, its node ended .+ later$/,
    );
    expect(of({ outcome: 'refused' })).toBe('refused');
  });
});
