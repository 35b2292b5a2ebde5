import * as fs from 'node:fs';
import { type Digest, err } from '@signalbox/model';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  clockTicks,
  createTestRunner,
  createTestState,
  must,
  openTestFilesystem,
  temporaryDirectory,
  treeOf,
} from '../../test/builders.ts';
import { bringBackKept, nothingKept } from '../checkpoints/bring-back-kept.ts';
import { createMemoryCheckpointLog } from '../checkpoints/checkpoint-log.ts';
import { openCheckpointStore } from '../checkpoints/checkpoint-store.ts';
import { createMemoryContentStore } from '../filesystem/content-store.ts';
import { type FilesystemSnapshot, filesystem } from '../filesystem/filesystem.ts';
import { nodeHostFiles } from '../filesystem/host-files.ts';
import type { KeptEntry } from '../filesystem/kept-book.ts';
import { createPathLocks } from '../filesystem/path-locks.ts';
import { recoverPending } from '../filesystem/recovery.ts';
import { openHostUndoLog } from '../filesystem/undo-log.ts';
import { createResources, resource } from '../snapshots/resources.ts';
import { defineTool, fail } from './tool.ts';

let directory: ReturnType<typeof temporaryDirectory>;
let root: string;
beforeEach(() => {
  directory = temporaryDirectory();
  root = `${directory.path}/root`;
  fs.mkdirSync(`${root}/dir`, { recursive: true });
  fs.writeFileSync(`${root}/shared`, 'original');
  fs.writeFileSync(`${root}/dir/inner`, 'original');
});
afterEach(() => directory.remove());

/** A call that fails after a command of its own and a person worked in the directory. */
async function failedCall(work: () => void, hooks: Partial<typeof nodeHostFiles> = {}) {
  const store = createMemoryContentStore();
  const files = openTestFilesystem(root, { store, files: { ...nodeHostFiles, ...hooks } });
  const log = createMemoryCheckpointLog();
  const resources = createResources([resource(filesystem, files)]);
  const open = async () => must(await openCheckpointStore({ log, resources }));
  const { state } = createTestState({ files, checkpoints: await open() });
  const locks = createPathLocks();
  const command = defineTool({
    name: 'command',
    description: 'a test',
    input: z.null(),
    output: z.null(),
    risk: 'low',
    effects: { kind: 'files' },
    handler() {
      work();
      return fail('as told');
    },
  });
  const runner = createTestRunner(state, { tools: [command], locks });
  const outcome = must(await runner.execute({ id: 'call', name: 'command', input: null }));
  const bringBack = async (dryRun = false, copies = false) => {
    const checkpoint = (await open()).get('call');
    if (checkpoint === undefined) throw new Error('no checkpoint');
    const { root: before } = (await files.encode(
      checkpoint.pre.resources.get(filesystem.name) as FilesystemSnapshot,
    )) as { readonly root: Digest };
    if (checkpoint.kept === undefined) return err(nothingKept('call'));
    return bringBackKept({ files, call: { id: 'call', before, kept: checkpoint.kept }, locks, dryRun, copies });
  };
  return { outcome, bringBack };
}

describe('what a rollback in place throws away', () => {
  it('[S110] [S111] is kept and listed, and comes back: edits, new files, modes and whole directories', async () => {
    const before = treeOf(root);
    const { outcome, bringBack } = await failedCall(() => {
      fs.writeFileSync(`${root}/shared`, 'by a person or the command');
      fs.writeFileSync(`${root}/new`, 'new');
      fs.mkdirSync(`${root}/made/node_modules/pkg`, { recursive: true });
      fs.writeFileSync(`${root}/made/node_modules/pkg/index.js`, 'module');
      fs.chmodSync(`${root}/dir`, 0o700);
      fs.rmSync(`${root}/dir/inner`);
    });
    const paths = ['dir', 'made/node_modules/pkg/index.js', 'new', 'shared'];
    expect(outcome).toMatchObject({ rollback: { kind: 'restored', lost: [] } });
    const kept =
      outcome.status === 'failed' && outcome.rollback.kind === 'restored' ? outcome.rollback.kept : undefined;
    expect(kept?.paths.toSorted()).toEqual(paths);
    expect(treeOf(root)).toEqual(before);

    expect(must(await bringBack(true))).toMatchObject({ conflicts: [], lost: [] });
    expect(treeOf(root)).toEqual(before);
    expect(must(await bringBack()).paths.toSorted()).toEqual(paths);
    expect(treeOf(root)).toEqual({
      ...before,
      './dir': 'directory 700',
      './shared': 'file 644 by a person or the command',
      './new': 'file 644 new',
      './made': 'directory 755',
      './made/node_modules': 'directory 755',
      './made/node_modules/pkg': 'directory 755',
      './made/node_modules/pkg/index.js': 'file 644 module',
    });
    // What is inside an opaque directory is not looked at: it counts as changed.
    expect(must(await bringBack())).toEqual({ paths: [], conflicts: ['made/node_modules/pkg/index.js'], lost: [] });
  });

  it('[S114] is written down for every attempt before it is let go of; where it cannot be, the rollback is not over', async () => {
    const entries: KeptEntry[] = [];
    const files = openTestFilesystem(root, {
      keptBook: {
        async add(entry) {
          if (entries.length === 2) throw new Error('the disk is full');
          // What was moved out of the way is still there.
          expect(fs.readdirSync(root).some(name => name.startsWith('.signalbox'))).toBe(true);
          entries.push(entry);
        },
      },
    });
    const { state } = createTestState({ files });
    let attempt = 0;
    const command = defineTool({
      ...{ name: 'command', description: 'a test', input: z.null(), output: z.null(), risk: 'low' },
      effects: { kind: 'files' },
      handler() {
        fs.writeFileSync(`${root}/${++attempt === 1 ? 'mine' : 'shared'}`, `in attempt ${attempt}`);
        return fail('as told');
      },
    });
    const runner = createTestRunner(state, { tools: [command] });
    const run = async () => must(await runner.execute({ id: 'call', name: 'command', input: null }));
    await run();
    await run();
    expect(entries.map(({ call, tool, evaluation, kept }) => [call, tool, evaluation, kept.paths])).toEqual([
      ['call', 'command', 'test', ['mine']],
      ['call', 'command', 'test', ['shared']],
    ]);
    const [first] = entries;
    if (first === undefined) throw new Error('no entry');
    const call = { id: 'call', before: first.before, kept: first.kept };
    expect(must(await bringBackKept({ files, call, locks: createPathLocks() })).paths).toEqual(['mine']);
    expect(fs.readFileSync(`${root}/mine`, 'utf8')).toBe('in attempt 1');
    expect(await run()).toMatchObject({ rollback: { kind: 'failed' } });
  });

  it('[S115] comes beside what changed since, where copies are asked for', async () => {
    const { bringBack } = await failedCall(() => {
      for (const name of ['shared', 'new']) fs.writeFileSync(`${root}/${name}`, 'kept');
      fs.mkdirSync(`${root}/made`);
      fs.writeFileSync(`${root}/made/a`, 'kept');
      fs.mkdirSync(`${root}/gone`);
      fs.writeFileSync(`${root}/gone/b`, 'kept');
    });
    fs.writeFileSync(`${root}/shared`, 'since');
    fs.writeFileSync(`${root}/shared.kept`, 'since');
    fs.writeFileSync(`${root}/made`, 'since, and no directory');
    fs.mkdirSync(`${root}/gone`);
    fs.writeFileSync(`${root}/gone/b`, 'since');
    const since = treeOf(root);
    const told = { paths: ['new'], conflicts: ['gone/b', 'made/a', 'shared'], lost: [] };
    const copies = ['gone/b.kept', 'made.kept/a', 'shared.kept-2'];
    expect(must(await bringBack(true, true))).toEqual({ ...told, copies });
    expect(treeOf(root)).toEqual(since);
    expect(must(await bringBack(false, true))).toEqual({ ...told, copies });
    expect(treeOf(root)).toEqual({
      ...since,
      './new': 'file 644 kept',
      './gone/b.kept': 'file 644 kept',
      './made.kept': 'directory 755',
      './made.kept/a': 'file 644 kept',
      './shared.kept-2': 'file 644 kept',
    });
  });

  it('[S111] does not come back over what was changed since the rollback: that is told by path, the rest comes back', async () => {
    const { bringBack } = await failedCall(() => {
      fs.writeFileSync(`${root}/shared`, 'kept');
      fs.writeFileSync(`${root}/new`, 'kept');
      fs.mkdirSync(`${root}/made`);
      fs.writeFileSync(`${root}/made/a`, 'kept');
    });
    fs.writeFileSync(`${root}/shared`, 'since');
    fs.writeFileSync(`${root}/made`, 'since, and no directory');
    expect(must(await bringBack())).toEqual({ paths: ['new'], conflicts: ['made/a', 'shared'], lost: [] });
    expect(treeOf(root)).toMatchObject({
      './shared': 'file 644 since',
      './new': 'file 644 kept',
      './made': 'file 644 since, and no directory',
    });
  });

  it('[S110] a call that changed nothing keeps nothing, and says so', async () => {
    const { outcome, bringBack } = await failedCall(() => {});
    expect(outcome).toMatchObject({ rollback: { kind: 'restored', lost: [], opaqueChanged: [] } });
    expect(await bringBack()).toMatchObject({ error: { code: 'state/nothing-to-undo' } });
  });

  it('[S112] what was changed after the command had ended stays where it is, and is named', async () => {
    // The person works when the rollback has marked the end of the call and before it looks at the directory.
    const unlink = (path: string) => {
      nodeHostFiles.unlink(path);
      if (!path.endsWith('-new')) return;
      fs.writeFileSync(`${root}/shared`, 'by the person');
      fs.writeFileSync(`${root}/made/theirs`, 'by the person');
      fs.writeFileSync(`${root}/theirs`, 'by the person');
    };
    const work = () => {
      fs.writeFileSync(`${root}/shared`, 'by the command');
      fs.mkdirSync(`${root}/made`);
      fs.writeFileSync(`${root}/made/own`, 'by the command');
    };
    const { outcome } = await failedCall(work, { unlink });
    expect(outcome).toMatchObject({ rollback: { kind: 'restored', kept: { paths: ['made/own'] } } });
    const left = outcome.status === 'failed' && outcome.rollback.kind === 'restored' ? outcome.rollback.left : [];
    expect(left?.toSorted()).toEqual(['made/theirs', 'shared', 'theirs']);
    expect(treeOf(root)).toEqual({
      './dir': 'directory 755',
      './dir/inner': 'file 644 original',
      './made': 'directory 755',
      './made/theirs': 'file 644 by the person',
      './shared': 'file 644 by the person',
      './theirs': 'file 644 by the person',
    });
  });

  it('[S113] after a crash, what was changed after the last sign of life stays, and the rest is kept and undone', async () => {
    const store = createMemoryContentStore();
    const undoLog = openHostUndoLog(`${directory.path}/undo`);
    const files = openTestFilesystem(root, { store, undoLog });
    const before = must(await files.snapshot());
    must(await files.begin({ id: 'call', tool: 'command', before, evaluation: 'task' }));
    fs.writeFileSync(`${root}/shared`, 'by the command');
    fs.writeFileSync(`${root}/own`, 'by the command');
    await files.alive('call');
    clockTicks(directory.path);
    fs.writeFileSync(`${root}/dir/inner`, 'by the person');
    fs.writeFileSync(`${root}/theirs`, 'by the person');
    const told: unknown[] = [];
    const recoveries = await recoverPending({
      undoLog,
      locks: createPathLocks(),
      open: at => ({ ok: true, value: openTestFilesystem(at, { store, undoLog }) }),
      onRecovered: async (recovery, at) => void told.push([recovery.evaluation, at.root, at.before !== null]),
    });
    expect(recoveries).toMatchObject([{ id: 'call', outcome: { kind: 'rolled-back', lost: [] } }]);
    const outcome = recoveries[0]?.outcome;
    if (outcome?.kind !== 'rolled-back') throw new Error('it is rolled back');
    expect([outcome.kept?.paths.toSorted(), outcome.left.toSorted()]).toEqual([
      ['own', 'shared'],
      ['dir/inner', 'theirs'],
    ]);
    expect(told).toEqual([['task', fs.realpathSync(root), true]]);
    expect(treeOf(root)).toEqual({
      './dir': 'directory 755',
      './dir/inner': 'file 644 by the person',
      './shared': 'file 644 original',
      './theirs': 'file 644 by the person',
    });
  });
});
