import type { RunId, RunReader } from '@signalbox/app/host';
import { describe, expect, it } from 'vitest';
import { nodeTitle } from './node-title.ts';

describe('the title of a node', () => {
  it('[A322] is what trees show: its kind with its name, else with the id that its author gave it', async () => {
    const rows: Record<string, unknown> = {
      build: { kind: 'task', data: {} },
      '4813494d137e1631': { kind: 'plan', data: { name: 'release' } },
    };
    const reader = {
      run: async () => ({ frames: 3 }),
      valueAt: async (_: RunId, __: string, node: string) => rows[node],
    } as unknown as RunReader;
    const titles = ['build', '4813494d137e1631', 'gone'].map(node => nodeTitle(reader, 'R' as RunId, node));
    expect(await Promise.all(titles)).toEqual(['task build', 'plan release', 'gone']);
  });
});
