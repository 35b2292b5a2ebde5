import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  createTestRunner,
  createTestState,
  must,
  openTestFilesystem,
  temporaryDirectory,
  treeOf,
} from '../../test/builders.ts';
import { createCheckpointStore } from '../checkpoints/checkpoint-store.ts';
import { undoCall } from '../checkpoints/undo-call.ts';
import { editFile, writeFile } from '../tools/at-hand/file-tools.ts';
import { defineTool, fail, succeed } from '../tools/tool.ts';
import { createPathLocks } from './path-locks.ts';

let directory: ReturnType<typeof temporaryDirectory>;
let root: string;
beforeEach(() => {
  directory = temporaryDirectory();
  root = `${directory.path}/root`;
  fs.mkdirSync(root);
});
afterEach(() => directory.remove());

/** A tool that writes the file that it declares in place, as programs of others do. */
const inPlace = defineTool({
  name: 'in_place',
  description: 'a test',
  input: z.strictObject({ path: z.string(), succeeds: z.boolean() }),
  output: z.null(),
  risk: 'low',
  effects: { kind: 'files', paths: ({ path }) => [path] },
  handler({ path, succeeds }) {
    fs.writeFileSync(`${root}/${path}`, 'in place');
    return succeeds ? succeed(null) : fail('as told');
  },
});

function working() {
  const files = openTestFilesystem(root);
  const checkpoints = createCheckpointStore();
  const { state } = createTestState({ files, checkpoints });
  const locks = createPathLocks();
  const runner = createTestRunner(state, { tools: [writeFile, editFile, inPlace], locks });
  const undo = (call: string) => {
    const checkpoint = checkpoints.get(call);
    if (checkpoint === undefined) throw new Error(`no checkpoint of ${call}`);
    return undoCall({ files, checkpoint, locks });
  };
  return { runner, undo };
}

describe('a file with several names', () => {
  it('[S104] is written under the one name only, by write and by edit, and undo does not touch the other', async () => {
    fs.writeFileSync(`${directory.path}/outside`, 'one two', { mode: 0o640 });
    fs.linkSync(`${directory.path}/outside`, `${root}/inside`);
    const { runner, undo } = working();
    must(await runner.execute({ id: '1', name: 'write_file', input: { path: 'inside', content: 'three four' } }));
    must(
      await runner.execute({ id: '2', name: 'edit_file', input: { path: 'inside', find: 'four', replaceWith: '4' } }),
    );
    expect(fs.readFileSync(`${directory.path}/outside`, 'utf8')).toBe('one two');
    expect(treeOf(root)).toEqual({ './inside': 'file 640 three 4' });
    const inode = fs.statSync(`${directory.path}/outside`).ino;
    must(await undo('2'));
    must(await undo('1'));
    expect(treeOf(root)).toEqual({ './inside': 'file 640 one two' });
    expect(fs.readFileSync(`${directory.path}/outside`, 'utf8')).toBe('one two');
    expect(fs.statSync(`${directory.path}/outside`).ino).toBe(inode);
  });

  it('[S104] is both paths’ change where both are under the root: both are captured and both come back', async () => {
    fs.mkdirSync(`${root}/deep`);
    fs.writeFileSync(`${root}/a`, 'original');
    fs.linkSync(`${root}/a`, `${root}/deep/b`);
    const before = treeOf(root);
    const { runner, undo } = working();
    const failed = must(await runner.execute({ id: '1', name: 'in_place', input: { path: 'a', succeeds: false } }));
    expect(failed).toMatchObject({ status: 'failed', rollback: { kind: 'restored' } });
    expect(treeOf(root)).toEqual(before);

    fs.rmSync(`${root}/deep/b`);
    fs.linkSync(`${root}/a`, `${root}/deep/b`);
    must(await runner.execute({ id: '2', name: 'in_place', input: { path: 'deep/b', succeeds: true } }));
    expect(fs.readFileSync(`${root}/a`, 'utf8')).toBe('in place');
    expect(must(await undo('2')).paths.toSorted()).toEqual(['a', 'deep/b']);
    expect(treeOf(root)).toEqual(before);
  });

  it('[S104] leaves nothing beside it when it is replaced', async () => {
    fs.writeFileSync(`${root}/a`, 'original');
    fs.linkSync(`${root}/a`, `${root}/b`);
    fs.mkdirSync(`${root}/.signalbox-write-ffffffffffffffff`);
    const { runner } = working();
    must(await runner.execute({ id: '1', name: 'write_file', input: { path: 'a', content: 'new' } }));
    expect(fs.readdirSync(root).toSorted()).toEqual(['.signalbox-write-ffffffffffffffff', 'a', 'b']);
    expect([fs.readFileSync(`${root}/a`, 'utf8'), fs.readFileSync(`${root}/b`, 'utf8')]).toEqual(['new', 'original']);
  });
});
