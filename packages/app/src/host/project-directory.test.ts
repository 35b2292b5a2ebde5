import { describe, expect, it } from 'vitest';
import { projectDirectoryOf, spendingByProject } from './project-directory.ts';

const RUN = '019b8d62-0000-7000-8000-000000000001';
const workspace = { vcs: 'git', base: '/home/a/shop', path: `/data-workspaces/${RUN}`, commit: 'abc' } as const;

describe('the directory that a run is about', () => {
  it('[A150] is where its agents work, or what its own files were made of', () => {
    const of = (workingDirectory: string | undefined, own?: typeof workspace) =>
      projectDirectoryOf({ workingDirectory, ...(own && { workspace: own }) });
    expect(of(undefined)).toBeUndefined();
    expect(of('/home/a/office')).toBe('/home/a/office');
    expect(of(workspace.path, workspace)).toBe('/home/a/shop');
    expect(of(`${workspace.path}/api`, workspace)).toBe('/home/a/shop/api');
    expect(of('/elsewhere', workspace)).toBe('/elsewhere');
  });

  it('[A150] is what spending is summed by', async () => {
    const calls = { inputTokens: 1, outputTokens: 2, cachedTokens: 0, toolCalls: 0, costMicroUsd: 5, wallMs: 1 };
    const spent = (directory?: string) => ({
      day: '2026-03-10',
      provider: 'acme',
      model: 'large',
      calls: 1,
      ...calls,
      ...(directory !== undefined && { directory }),
    });
    const places = ['/home/a/shop', workspace.path, `/x/${RUN.replace('1', '2')}/y`, undefined];
    const reader = {
      spending: async () => places.map(spent),
      run: async (id: string) => (id === RUN ? ({ workspace } as never) : undefined),
    };
    const sums = await spendingByProject(reader, {});
    expect(sums.map(({ directory, calls: count, costMicroUsd }) => [directory, count, costMicroUsd])).toEqual([
      [undefined, 1, 5],
      ['/home/a/shop', 2, 10],
      [places[2], 1, 5],
    ]);
  });
});
