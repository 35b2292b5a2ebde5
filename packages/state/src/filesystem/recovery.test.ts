import * as fs from 'node:fs';
import { setImmediate } from 'node:timers/promises';
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
import { defineTool, fail, succeed } from '../tools/tool.ts';
import { createMemoryContentStore } from './content-store.ts';
import { nodeHostFiles } from './host-files.ts';
import { createPathLocks } from './path-locks.ts';
import { recoverPending } from './recovery.ts';
import { loadTree } from './tree-codec.ts';
import { createMemoryUndoLog, openHostUndoLog } from './undo-log.ts';

let directory: ReturnType<typeof temporaryDirectory>;
let root: string;
beforeEach(() => {
  directory = temporaryDirectory();
  root = `${fs.realpathSync(directory.path)}/root`;
  fs.mkdirSync(root);
});
afterEach(() => directory.remove());

const full = () => {
  throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
};

function createWorld() {
  const disk = { isFull: false, hangs: false };
  const files = {
    ...nodeHostFiles,
    create: (path: string, mode: number) => (disk.isFull ? full() : nodeHostFiles.create(path, mode)),
    sync: (path: string) => (disk.hangs ? new Promise<void>(() => {}) : nodeHostFiles.sync(path)),
  };
  const store = createMemoryContentStore();
  const undoLog = createMemoryUndoLog();
  const open = (at: string) => ({ ok: true as const, value: openTestFilesystem(at, { store, undoLog, files }) });
  const recover = () => recoverPending({ undoLog, locks: createPathLocks(), open, files });
  return { disk, store, undoLog, recover, filesystem: open(root).value };
}

describe('recovery', () => {
  it('[S28] a call that was cut short is named and undone, and what was found is kept', async () => {
    const { store, recover, filesystem } = createWorld();
    must(await filesystem.write('a', 'before'));
    const before = must(await filesystem.snapshot());
    must(await filesystem.begin({ id: 'call 1', tool: 'breaker', before }));
    fs.writeFileSync(`${root}/a`, 'half');
    fs.writeFileSync(`${root}/b`, 'done');
    await filesystem.alive('call 1');
    const [recovery, ...others] = await recover();
    expect(recovery).toMatchObject({ id: 'call 1', tool: 'breaker', outcome: { kind: 'rolled-back', lost: [] } });
    expect([others, treeOf(root)]).toEqual([[], { './a': 'file 644 before' }]);
    const kept = recovery?.outcome.kind === 'rolled-back' ? recovery.outcome.kept : null;
    if (kept === null) throw new Error('what was found is kept');
    expect(kept.paths.toSorted()).toEqual(['a', 'b']);
    expect([...must(await loadTree(store, kept.digest)).entries.keys()].sort()).toEqual(['a', 'b']);
    expect(await recover()).toEqual([]);
  });

  it('[S28] [S22] [S113] of a call that declared its paths only those are undone, and what was there is kept', async () => {
    const { recover, filesystem } = createWorld();
    must(await filesystem.write('a', 'before'));
    const before = must(await filesystem.snapshot({ paths: ['a'] }));
    must(await filesystem.begin({ id: 'call', tool: 'write', before, paths: ['a'] }));
    fs.writeFileSync(`${root}/a`, 'half');
    fs.writeFileSync(`${root}/theirs`, 'made by someone else since');
    expect(await recover()).toMatchObject([{ outcome: { kind: 'rolled-back', kept: { paths: ['a'] }, left: [] } }]);
    expect(treeOf(root)).toEqual({ './a': 'file 644 before', './theirs': 'file 644 made by someone else since' });
  });

  it('[S28] [S25] a restore that had only been staged is dropped, and what others changed meanwhile stays', async () => {
    const { recover, filesystem } = createWorld();
    must(await filesystem.write('a', 'before'));
    const before = must(await filesystem.snapshot());
    must(await filesystem.write('a', 'after'));
    must(await filesystem.stage(before, { id: 'restore', left: 'known' }));
    fs.writeFileSync(`${root}/theirs`, 'x');
    expect(await recover()).toEqual([{ id: 'restore', tool: 'restore', outcome: { kind: 'restore-dropped' } }]);
    expect(treeOf(root)).toEqual({ './a': 'file 644 after', './theirs': 'file 644 x' });
  });

  /** A restore of a failed call that got as far as its record, and whose power went before the first step. */
  async function createUnsyncedRestore() {
    const world = createWorld();
    const { disk, filesystem, undoLog } = world;
    must(await filesystem.write('a', 'before'));
    must(await filesystem.write('gone', 'before'));
    must(await filesystem.symlink('a', 'link'));
    const before = must(await filesystem.snapshot());
    must(await filesystem.begin({ id: 'call', tool: 'breaker', before }));
    fs.writeFileSync(`${root}/a`, 'half');
    fs.writeFileSync(`${root}/new`, 'half');
    for (const name of ['gone', 'link']) fs.rmSync(`${root}/${name}`);
    const staged = must(await filesystem.stage(before, { id: 'call', left: 'present' }));
    disk.hangs = true;
    void staged.apply();
    const restoring = async () => {
      const [record] = await undoLog.pending();
      return record?.work.kind === 'files' ? record.work.restoring : undefined;
    };
    while ((await restoring()) === undefined) await setImmediate();
    disk.hangs = false;
    const staging = `${root}/${(await restoring())?.staging}`;
    return { ...world, staging, prepared: `${staging}-new` };
  }
  const asBefore = { './a': 'file 644 before', './gone': 'file 644 before', './link': 'link a' };

  it.each<[string, (prepared: string) => void]>([
    ['all of it is there', () => {}],
    ['its directory is gone', prepared => fs.rmSync(prepared, { recursive: true })],
    [
      'its files are gone',
      prepared => {
        fs.rmSync(prepared, { recursive: true });
        fs.mkdirSync(prepared);
      },
    ],
    [
      'its files are empty',
      prepared => {
        for (const name of fs.readdirSync(prepared)) {
          if (fs.lstatSync(`${prepared}/${name}`).isFile()) fs.truncateSync(`${prepared}/${name}`);
        }
      },
    ],
  ])('[S28] a restore whose record outlived what was staged: %s', async (_, damage) => {
    const { recover, prepared } = await createUnsyncedRestore();
    damage(prepared);
    expect(await recover()).toMatchObject([{ id: 'call', outcome: { kind: 'rolled-back' } }]);
    expect(treeOf(root)).toEqual(asBefore);
    expect(await recover()).toEqual([]);
  });

  it('[S28] a recovery that is cut short does not take the steps of the first attempt for its own', async () => {
    const { disk, recover, undoLog, prepared } = await createUnsyncedRestore();
    fs.rmSync(prepared, { recursive: true });
    disk.isFull = true;
    expect(await recover()).toMatchObject([{ outcome: { kind: 'failed' } }]);
    expect(await undoLog.pending()).toMatchObject([
      { work: expect.not.objectContaining({ restoring: expect.anything() }) },
    ]);
    disk.isFull = false;
    expect(await recover()).toMatchObject([{ outcome: { kind: 'rolled-back' } }]);
    expect(treeOf(root)).toEqual(asBefore);
  });

  it('[S28] a step that outlived the new name of the staging directory is seen, and the rest is done', async () => {
    const { recover, undoLog, prepared } = await createUnsyncedRestore();
    const [record] = await undoLog.pending();
    const steps = record?.work.kind === 'files' ? (record.work.restoring?.steps ?? []) : [];
    const [first] = steps.filter(step => step.op === 'aside');
    fs.renameSync(`${root}/${first?.path}`, `${prepared}/${first?.as}`);
    expect(await recover()).toMatchObject([{ id: 'call', outcome: { kind: 'restore-finished', kept: null } }]);
    expect(treeOf(root)).toEqual(asBefore);
  });

  it('[S28] [S25] a finished restore whose record came back changes nothing, and what others did since stays', async () => {
    const { recover, prepared } = await createUnsyncedRestore();
    fs.rmSync(prepared, { recursive: true });
    fs.writeFileSync(`${root}/a`, 'before');
    fs.writeFileSync(`${root}/gone`, 'before');
    fs.symlinkSync('a', `${root}/link`);
    fs.rmSync(`${root}/new`);
    fs.writeFileSync(`${root}/theirs`, 'x');
    expect(await recover()).toEqual([
      { id: 'call', tool: 'breaker', outcome: { kind: 'restore-finished', kept: null } },
    ]);
    expect(treeOf(root)).toEqual({ ...asBefore, './theirs': 'file 644 x' });
  });

  it('[S47] an external call whose process died is told as unknown', async () => {
    const { undoLog, recover } = createWorld();
    await undoLog.put({ version: 1, id: 'x', callId: 'mail', tool: 'send', startedAt: 0, work: { kind: 'external' } });
    expect(await recover()).toEqual([{ id: 'mail', tool: 'send', outcome: { kind: 'outcome-unknown' } }]);
    expect(await undoLog.pending()).toEqual([]);
  });

  it('[S28] two calls with one id in two directories do not hide each other', async () => {
    const { recover, undoLog, store, filesystem } = createWorld();
    const other = `${fs.realpathSync(directory.path)}/other`;
    fs.mkdirSync(other);
    const worlds = [filesystem, openTestFilesystem(other, { store, undoLog })];
    for (const one of worlds) {
      must(await one.write('a', 'before'));
      must(await one.begin({ id: 'call_1', tool: 'breaker', before: must(await one.snapshot()) }));
      fs.writeFileSync(`${one.root}/a`, 'half');
      await one.alive('call_1');
    }
    expect((await recover()).map(({ id, outcome }) => [id, outcome.kind])).toEqual([
      ['call_1', 'rolled-back'],
      ['call_1', 'rolled-back'],
    ]);
    for (const one of worlds) expect(treeOf(one.root)).toEqual({ './a': 'file 644 before' });
  });

  it('[S28] what cannot be finished stays recorded and is tried again', async () => {
    const { disk, recover, filesystem } = createWorld();
    must(await filesystem.write('a', 'before'));
    const before = must(await filesystem.snapshot());
    must(await filesystem.begin({ id: 'call', tool: 'breaker', before }));
    fs.writeFileSync(`${root}/a`, 'half');
    await filesystem.alive('call');
    disk.isFull = true;
    expect(await recover()).toMatchObject([{ outcome: { kind: 'failed', error: { code: 'state/restore-failed' } } }]);
    disk.isFull = false;
    expect(await recover()).toMatchObject([{ outcome: { kind: 'rolled-back' } }]);
    expect(treeOf(root)).toEqual({ './a': 'file 644 before' });
  });

  it('[S50] [S29] a root whose restore failed refuses calls with file effects until it is recovered', async () => {
    const { disk, undoLog, recover, filesystem } = createWorld();
    const { state } = createTestState({ files: filesystem });
    must(await filesystem.write('a', 'before'));
    const write = defineTool({
      name: 'write',
      description: 'a test',
      input: z.boolean(),
      output: z.null(),
      risk: 'low',
      effects: { kind: 'files' },
      async handler(works, { files }) {
        must(await files.write('a', 'after'));
        if (!works) disk.isFull = true;
        return works ? succeed(null) : fail('as told');
      },
    });
    const look = defineTool({ ...write, name: 'look', effects: { kind: 'none' }, handler: () => succeed(null) });
    const runner = createTestRunner(state, { tools: [write, look], undoLog });
    expect(must(await runner.execute({ id: '1', name: 'write', input: false }))).toMatchObject({
      status: 'failed',
      rollback: { kind: 'failed', error: { code: 'state/restore-failed', onDisk: { state: 'unchanged' } } },
    });
    expect(treeOf(root)).toEqual({ './a': 'file 644 after' });
    disk.isFull = false;
    expect(must(await runner.execute({ id: '2', name: 'write', input: true }))).toMatchObject({
      status: 'failed',
      error: { code: 'state/recovery-needed', message: expect.stringContaining('call 1') },
    });
    expect(must(await runner.execute({ id: '3', name: 'look', input: true }))).toMatchObject({ status: 'succeeded' });
    expect(await recover()).toMatchObject([{ id: '1', outcome: { kind: 'rolled-back' } }]);
    expect(treeOf(root)).toEqual({ './a': 'file 644 before' });
    expect(must(await runner.execute({ id: '4', name: 'write', input: true }))).toMatchObject({ status: 'succeeded' });
  });

  it('[S28] a record that was torn while it was first written says nothing, one torn later keeps what it said', async () => {
    const undoLog = openHostUndoLog(`${directory.path}/undo`);
    const record = {
      version: 1 as const,
      id: 'x',
      callId: 'c',
      tool: 't',
      startedAt: 1,
      work: { kind: 'external' as const },
    };
    await undoLog.put(record);
    const [name] = fs.readdirSync(`${directory.path}/undo`);
    fs.appendFileSync(`${directory.path}/undo/${name}`, '{"version":1,"id":"x","to');
    fs.writeFileSync(`${directory.path}/undo/other.jsonl`, '{"version"');
    expect(await undoLog.pending()).toEqual([record]);
    const next = { ...record, tool: 'next' };
    await undoLog.put(next);
    expect(await undoLog.pending()).toEqual([next]);
    await undoLog.remove('x');
    expect(await undoLog.pending()).toEqual([]);
  });
});
