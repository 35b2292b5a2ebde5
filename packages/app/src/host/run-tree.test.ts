import type { Json, RunId } from '@signalbox/model';
import type { RunReader } from '@signalbox/runs';
import { expect, it } from 'vitest';
import { treeAt } from './run-tree.ts';

it('[A903] shows stored nodes that are not as the program writes them', async () => {
  const rows = new Map<string, Json>([
    ['root', { type: 'Task', props: {} }],
    ['inner', { parent: 'root', index: 0, kind: 'task', data: { label: 'Inner' } }],
  ]);
  const reader = { at: async (_: RunId, space: string) => (space === 'node' ? rows : new Map()) };
  expect(await treeAt(reader as unknown as RunReader, 'run' as RunId, 0)).toEqual({
    ...{ id: 'root', kind: 'component', data: {}, type: 'Task', props: {} },
    children: [{ id: 'inner', kind: 'task', data: { label: 'Inner' }, children: [] }],
  });
  rows.set('root', null);
  expect(await treeAt(reader as unknown as RunReader, 'run' as RunId, 0)).toMatchObject({ kind: 'component' });
});
