import * as fs from 'node:fs';
import { ok } from '@signalbox/model';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { must, temporaryDirectory, treeOf } from '../../test/builders.ts';
import type { Filesystem } from '../filesystem/filesystem.ts';
import { openHostContentStore } from '../filesystem/host-content-store.ts';
import { type HostFilesystem, openHostFilesystem } from '../filesystem/host-filesystem.ts';
import { createPathLocks } from '../filesystem/path-locks.ts';
import { openHostUndoLog } from '../filesystem/undo-log.ts';
import { changesBetween } from './call-changes.ts';
import { type CallInRoot, undoCalls } from './undo-calls.ts';

let directory: ReturnType<typeof temporaryDirectory>;
let base: string;
let calls: CallInRoot[];
let opened: Map<string, HostFilesystem>;
beforeEach(() => {
  directory = temporaryDirectory();
  base = `${fs.realpathSync(directory.path)}/base`;
  calls = [];
  opened = new Map();
  for (const folder of ['one', 'two/inner']) fs.mkdirSync(`${base}/${folder}`, { recursive: true });
  write('one/a', 'a0');
  write('two/b', 'b0');
  write('two/inner/c', 'c0');
});
afterEach(() => directory.remove());

const write = (name: string, text: string) => fs.writeFileSync(`${base}/${name}`, text);
const tree = () => treeOf(base);

function open(root: string): HostFilesystem {
  const known = opened.get(root);
  if (known !== undefined) return known;
  const data = `${directory.path}/data`;
  fs.mkdirSync(data, { recursive: true });
  const [store, undoLog] = [openHostContentStore(`${data}/blobs`), openHostUndoLog(`${data}/undo`)];
  const files = must(openHostFilesystem({ root, store, undoLog, dataDirectory: data }));
  opened.set(root, files);
  return files;
}

/** Does something under a root as a call does it: between two snapshots. */
async function call(folder: string, work: () => void): Promise<void> {
  const files = open(`${base}/${folder}`);
  const before = must(await files.snapshot());
  work();
  const after = must(await files.snapshot());
  await files.encode(before);
  await files.encode(after);
  calls.push({ root: files.root, changes: changesBetween(before.tree, after.tree) });
}

function undo(more: { readonly dryRun?: boolean; readonly open?: (root: string) => Filesystem } = {}) {
  const { dryRun = false, open: use = open } = more;
  const nameOf = (root: string, name: string) => `${root.slice(base.length + 1)}/${name}`;
  return undoCalls({ calls, id: 'test', open: root => ok(use(root)), locks: createPathLocks(), dryRun, nameOf });
}

describe('undoCalls', () => {
  it('[S140] undoes calls under several roots together, dry and for real, and nothing twice', async () => {
    const before = tree();
    await call('one', () => write('one/a', 'a1'));
    await call('two', () => fs.rmSync(`${base}/two/inner`, { recursive: true }));
    await call('one', () => {
      write('one/a', 'a2');
      fs.mkdirSync(`${base}/one/new`);
      write('one/new/n', 'n');
    });
    const left = tree();
    const report = [
      { root: `${base}/one`, paths: ['a', 'new', 'new/n'], removed: ['new', 'new/n'], lost: [] },
      { root: `${base}/two`, paths: ['inner', 'inner/c'], removed: [], lost: [] },
    ];
    expect(must(await undo({ dryRun: true }))).toEqual(report);
    expect(tree()).toEqual(left);
    expect(must(await undo())).toEqual(report);
    expect(tree()).toEqual(before);
    expect(must(await undo()).flatMap(({ paths }) => paths)).toEqual([]);
    expect(tree()).toEqual(before);
  });

  it('[S141] changes nothing anywhere if somebody else changed one of the paths, also between two calls', async () => {
    await call('one', () => write('one/a', 'a1'));
    await call('two', () => write('two/b', 'b1'));
    write('two/b', 'mine');
    let left = tree();
    const refusal = (paths: readonly string[]) => ({
      ok: false,
      error: { code: 'state/conflict', details: { paths } },
    });
    for (const dryRun of [true, false]) expect(await undo({ dryRun })).toMatchObject(refusal(['two/b']));
    expect(tree()).toEqual(left);
    await call('two', () => write('two/b', 'b2'));
    left = tree();
    expect(await undo()).toMatchObject(refusal(['two/b']));
    expect(tree()).toEqual(left);
  });

  it('[S141] puts the other roots back if somebody changes a path while it works', async () => {
    await call('one', () => write('one/a', 'a1'));
    await call('two', () => write('two/b', 'b1'));
    // Somebody saves a file after the look and before its root is undone.
    const meddled = (root: string): Filesystem => {
      const files = open(root);
      const own = files.undo?.bind(files);
      if (!root.endsWith('two') || own === undefined) return files;
      return {
        ...files,
        async undo(changes, how) {
          if (how.dryRun !== true) write('two/b', 'mine');
          return own(changes, how);
        },
      };
    };
    const left = { ...tree(), './two/b': 'file 644 mine' };
    expect(await undo({ open: meddled })).toMatchObject({ error: { details: { paths: ['two/b'] } } });
    expect(tree()).toEqual(left);
  });

  it('[S142] takes a root inside another as part of it', async () => {
    const before = tree();
    await call('two', () => write('two/inner/c', 'c1'));
    await call('two/inner', () => write('two/inner/c', 'c2'));
    await call('two', () => write('two/inner/c', 'c3'));
    expect(must(await undo())).toEqual([{ root: `${base}/two`, paths: ['inner/c'], removed: [], lost: [] }]);
    expect(tree()).toEqual(before);
  });
});
