import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  createTestRunner,
  createTestState,
  must,
  openTestFilesystem,
  temporaryDirectory,
} from '../../test/builders.ts';
import { createMemoryContentStore } from '../filesystem/content-store.ts';
import { type FilesystemSnapshot, filesystem } from '../filesystem/filesystem.ts';
import { createPathLocks } from '../filesystem/path-locks.ts';
import { EMPTY_DIRECTORY } from '../filesystem/tree.ts';
import { defineTool, fail, succeed } from '../tools/tool.ts';
import { createCheckpointStore, type ToolCheckpoint } from './checkpoint-store.ts';
import { putFiles, treeAt, undoCall } from './undo-call.ts';

const edit = defineTool({
  name: 'edit',
  description: 'a test',
  input: z.strictObject({ writes: z.record(z.string(), z.string().nullable()), fails: z.boolean().default(false) }),
  output: z.null(),
  risk: 'low',
  effects: { kind: 'files' },
  async handler({ writes, fails }, { files }) {
    for (const [path, content] of Object.entries(writes)) {
      if (content === null) must(await files.remove(path));
      else must(await files.write(path, content));
    }
    return fails ? fail('as told') : succeed(null);
  },
});

let directory: ReturnType<typeof temporaryDirectory>;
let root: string;
beforeEach(() => {
  directory = temporaryDirectory();
  root = `${directory.path}/root`;
  fs.mkdirSync(root);
});
afterEach(() => directory.remove());

const contents = () =>
  Object.fromEntries(fs.readdirSync(root).map(name => [name, fs.readFileSync(`${root}/${name}`, 'utf8')]));

function calls() {
  const store = createMemoryContentStore();
  const files = openTestFilesystem(root, { store });
  const checkpoints = createCheckpointStore();
  const { state } = createTestState({ files, checkpoints });
  const locks = createPathLocks();
  const runner = createTestRunner(state, { tools: [edit], locks });
  const checkpoint = (id: string) => checkpoints.get(id) as ToolCheckpoint;
  return {
    store,
    checkpoint,
    run: async (id: string, writes: Record<string, string | null>, fails = false) =>
      must(await runner.execute({ id, name: 'edit', input: { writes, fails } })),
    undo: (id: string, dryRun = false) =>
      // As another process finds the directory.
      undoCall({
        files: openTestFilesystem(root, { store }),
        checkpoint: checkpoint(id),
        locks,
        dryRun,
        later: async () =>
          checkpoints.list().flatMap(({ toolCallId, toolName, pre, post }) => {
            const [before, after] = [pre, post].map(one => one?.resources.get(filesystem.name) as FilesystemSnapshot);
            return toolCallId > id && before && after ? [{ toolCallId, toolName, before, after }] : [];
          }),
      }),
  };
}

describe('undoing one call', () => {
  it('[S66] brings back what it changed, made and removed, and leaves what came before and after elsewhere', async () => {
    fs.writeFileSync(`${root}/a`, 'first');
    fs.writeFileSync(`${root}/b`, 'b');
    const { run, undo } = calls();
    await run('1', { a: 'second', new: 'n', b: null });
    await run('2', { c: 'c' });
    fs.writeFileSync(`${root}/mine`, 'mine');
    expect(must(await undo('1', true)).paths.toSorted()).toEqual(['a', 'b', 'new']);
    expect(contents()).toEqual({ a: 'second', c: 'c', new: 'n', mine: 'mine' });
    const undone = must(await undo('1'));
    expect(undone.paths.toSorted()).toEqual(['a', 'b', 'new']);
    expect(undone.removed).toEqual(['new']);
    expect(contents()).toEqual({ a: 'first', b: 'b', c: 'c', mine: 'mine' });
    expect(must(await undo('1'))).toEqual({ paths: [], removed: [], lost: [] });
  });

  it('[S67] overwrites nothing where a path is no longer as the call left it; undoing the later call first helps', async () => {
    const { run, undo } = calls();
    await run('1', { a: 'one', b: 'one' });
    await run('2', { a: 'two' });
    for (const dryRun of [true, false]) {
      expect(await undo('1', dryRun)).toMatchObject({
        ok: false,
        error: { code: 'state/conflict', message: expect.stringContaining('a') },
      });
    }
    expect(contents()).toEqual({ a: 'two', b: 'one' });
    must(await undo('2'));
    must(await undo('1'));
    expect(contents()).toEqual({});
  });

  it('[S106] names the later call of the run that changed a path, and somebody else only for the rest', async () => {
    const { run, undo } = calls();
    await run('1', { a: 'one', b: 'one' });
    await run('2', { a: 'two' });
    expect(await undo('1')).toMatchObject({
      error: {
        message: 'call 2 of edit changed a since; nothing was overwritten',
        details: { paths: ['a'], calls: [{ call: '2', tool: 'edit', paths: ['a'] }] },
      },
    });
    fs.writeFileSync(`${root}/b`, 'mine');
    expect(await undo('1', true)).toMatchObject({
      error: { message: 'call 2 of edit changed a, and someone else changed b since; nothing was overwritten' },
    });
  });

  it('[S68] says so where a call failed or changed nothing', async () => {
    const { run, undo } = calls();
    await run('1', { a: 'one' }, true);
    await run('2', {});
    for (const id of ['1', '2']) {
      expect(await undo(id)).toMatchObject({ ok: false, error: { code: 'state/nothing-to-undo' } });
    }
  });

  it('[S69] the files of before or after a call are made in an empty directory, and nowhere else', async () => {
    fs.writeFileSync(`${root}/a`, 'first', { mode: 0o600 });
    const { store, run, checkpoint } = calls();
    await run('1', { a: 'second', 'deep/b': 'b' });
    await run('2', { a: null });
    const at = async (name: string, phase: 'pre' | 'post') => {
      fs.mkdirSync(`${directory.path}/${name}`, { recursive: true });
      const tree = treeAt([checkpoint('1')], phase, EMPTY_DIRECTORY) ?? EMPTY_DIRECTORY;
      return putFiles(openTestFilesystem(`${directory.path}/${name}`, { store }), tree, '1');
    };
    must(await at('before', 'pre'));
    must(await at('after', 'post'));
    expect(fs.readFileSync(`${directory.path}/before/a`, 'utf8')).toBe('first');
    expect(fs.readdirSync(`${directory.path}/before`)).toEqual(['a']);
    expect(fs.readFileSync(`${directory.path}/after/a`, 'utf8')).toBe('second');
    expect(fs.readFileSync(`${directory.path}/after/deep/b`, 'utf8')).toBe('b');
    expect(await at('after', 'pre')).toMatchObject({ ok: false, error: { code: 'state/conflict' } });
  });
});
