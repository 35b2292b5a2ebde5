import * as fs from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { createMemoryFilesystem, type Filesystem } from '../src/index.ts';
import { must, openTestFilesystem, temporaryDirectory } from './builders.ts';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

const implementations: readonly [string, () => Filesystem][] = [
  ['memory', () => createMemoryFilesystem()],
  [
    'host',
    () => {
      const directory = temporaryDirectory();
      cleanups.push(directory.remove);
      fs.chmodSync(directory.path, 0o755);
      return openTestFilesystem(directory.path);
    },
  ],
];

const text = async (files: Filesystem, path: string) => Buffer.from(must(await files.read(path))).toString();
const failed = (reason: string) => ({
  ok: false,
  error: { code: 'state/file-failed', message: expect.stringContaining(reason) },
});

describe.each(implementations)('%s filesystem', (_name, create) => {
  it('[S17] writes, reads and replaces files, and makes missing parents', async () => {
    const files = create();
    must(await files.write('a/b/c', 'one'));
    must(await files.chmod('a/b/c', 0o600));
    must(await files.write('a/b/../b/./c', 'two'));
    expect(await text(files, 'a/b/c')).toBe('two');
    expect(must(await files.stat('a/b/c'))).toEqual({ name: 'c', kind: 'file', size: 3, mode: 0o600 });
  });

  it('[S17] says what is not there, is not a file, or is not a directory', async () => {
    const files = create();
    must(await files.write('file', ''));
    must(await files.mkdir('dir'));
    expect(await files.read('nothing')).toMatchObject(failed('it does not exist'));
    expect(await files.stat('nothing')).toMatchObject(failed('it does not exist'));
    expect(await files.remove('nothing')).toMatchObject(failed('it does not exist'));
    expect(await files.read('dir')).toMatchObject(failed('it is not a file'));
    expect(await files.write('dir', '')).toMatchObject(failed('it is not a file'));
    expect(await files.list('file')).toMatchObject(failed('it is not a directory'));
    expect(await files.write('file/below', '')).toMatchObject(failed('a part of it is not a directory'));
    expect(await files.mkdir('file')).toMatchObject(failed('it already exists'));
    expect(await files.symlink('x', 'dir')).toMatchObject(failed('it already exists'));
    expect(await files.rename('dir', 'file')).toMatchObject(failed('it already exists'));
    expect(await files.rename('dir', 'dir/inside')).toMatchObject(failed('it is inside the moved directory'));
    expect(await files.remove('.')).toMatchObject(failed('it is the root'));
  });

  it('[S17] lists names in order, with kind, size and mode', async () => {
    const files = create();
    must(await files.write('b', 'xy'));
    must(await files.mkdir('a'));
    must(await files.symlink('b', 'c'));
    expect(must(await files.list('.'))).toEqual([
      { name: 'a', kind: 'directory', size: 0, mode: 0o755 },
      { name: 'b', kind: 'file', size: 2, mode: 0o644 },
      { name: 'c', kind: 'link', size: 1, mode: 0o777 },
    ]);
  });

  it('[S17] renames and removes files, links and whole directories', async () => {
    const files = create();
    must(await files.write('dir/deep/file', 'x'));
    must(await files.rename('dir', 'moved'));
    expect(await text(files, 'moved/deep/file')).toBe('x');
    must(await files.symlink('moved', 'link'));
    must(await files.remove('link'));
    expect(await text(files, 'moved/deep/file')).toBe('x');
    must(await files.remove('moved'));
    expect(must(await files.list('.'))).toEqual([]);
  });

  it('[S17] follows links inside the root, and refuses those that lead out of it', async () => {
    const files = create();
    must(await files.write('dir/file', 'x'));
    must(await files.symlink('dir', 'inside'));
    must(await files.symlink('../..', 'dir/outside'));
    must(await files.write('inside/file', 'y'));
    expect(await text(files, 'dir/file')).toBe('y');
    expect(must(files.locate('inside/file'))).toBe('dir/file');
    expect(await files.read('dir/outside/file')).toMatchObject({ ok: false, error: { code: 'state/path-refused' } });
    expect(await files.read('../file')).toMatchObject({ ok: false, error: { code: 'state/path-refused' } });
  });

  it('[S17] snapshots restore the same way', async () => {
    const files = create();
    must(await files.write('a', 'one'));
    const before = must(await files.snapshot());
    must(await files.write('a', 'two'));
    must(await files.write('b/c', 'new'));
    const staged = must(await files.stage(before, { id: 'x', left: 'known' }));
    must(await staged.apply());
    await staged.finish();
    expect(files.equivalent(must(await files.snapshot()), before)).toBe(true);
    expect(must(await files.list('.')).map(entry => entry.name)).toEqual(['a']);
  });
});
