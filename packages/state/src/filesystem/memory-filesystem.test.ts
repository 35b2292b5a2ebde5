import { describe, expect, it } from 'vitest';
import { must } from '../../test/builders.ts';
import { createMemoryFilesystem } from './memory-filesystem.ts';
import { nodeAt } from './tree.ts';

describe('memory filesystem', () => {
  it('[S18] a snapshot is the tree itself, and a later one shares what did not change', async () => {
    const files = createMemoryFilesystem();
    for (const name of ['a/1', 'a/2', 'b/1']) must(await files.write(name, name));
    const first = must(await files.snapshot());
    expect(must(await files.snapshot()).tree).toBe(first.tree);
    must(await files.write('a/1', 'changed'));
    const second = must(await files.snapshot());
    expect(nodeAt(second.tree, ['b'])).toBe(nodeAt(first.tree, ['b']));
    expect(nodeAt(second.tree, ['a', '2'])).toBe(nodeAt(first.tree, ['a', '2']));
    expect(nodeAt(second.tree, ['a'])).not.toBe(nodeAt(first.tree, ['a']));
  });

  it('[S18] a restore brings the tree back, and undoing the restore brings back the other', async () => {
    const files = createMemoryFilesystem();
    must(await files.write('a', 'one'));
    const one = must(await files.snapshot());
    must(await files.write('a', 'two'));
    const staged = must(await files.stage(one, { id: 'x', left: 'known' }));
    must(await staged.apply());
    expect(Buffer.from(must(await files.read('a'))).toString()).toBe('one');
    must(await staged.undo());
    expect(Buffer.from(must(await files.read('a'))).toString()).toBe('two');
  });
});
