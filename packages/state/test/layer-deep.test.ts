import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createPathLocks,
  findLayers,
  openHostContentStore,
  openHostFilesystem,
  openHostUndoLog,
  recoverPending,
  rollbackToTool,
  type ToolOutcome,
  undoCall,
  writeFile,
} from '../src/index.ts';
import { createTestRunner, createTestState, must, temporaryDirectory, treeOf } from './builders.ts';
import { commandTool, hasLayers, openLayered, sandbox, usedLayers } from './layered.ts';

let directory: ReturnType<typeof temporaryDirectory>;
let base: string;
beforeEach(() => {
  directory = temporaryDirectory();
  base = fs.realpathSync(directory.path);
});
afterEach(() => directory.remove());

/** Two thousand directories in each other: no path of the system reaches the last one. */
const DEEP = [
  'chain=$(printf "d/%.0s" $(seq 700))',
  'mkdir -p "a/$chain" "b/$chain" "c/$chain"',
  'echo bottom > "a/$chain/bottom"',
  'mv a "b/$chain" && mv b "c/$chain"',
].join(' && ');
const makeDeep = (root: string) => execFileSync('sh', ['-c', DEEP], { cwd: root });
const tooDeep = expect.stringContaining('is nested too deeply');

/** Calls in place, in a process of their own each. */
function openInPlace() {
  const root = `${base}/root`;
  fs.mkdirSync(root, { recursive: true });
  const undoLog = openHostUndoLog(`${base}/undo`);
  const store = openHostContentStore(`${base}/blobs`);
  const open = () => openHostFilesystem({ root, store, undoLog, dataDirectory: `${base}/data` });
  const { state } = createTestState({ files: must(open()) });
  const runner = createTestRunner(state, { tools: [commandTool, writeFile] });
  const execute = async (id: string, name: string, input: object): Promise<ToolOutcome> =>
    must(await runner.execute({ id, name, input }));
  return {
    root,
    run: (id: string, script: string) => execute(id, 'run_command', { command: ['sh', '-c', script] }),
    write: (id: string, path: string) => execute(id, 'write_file', { path, content: id }),
    recover: () => recoverPending({ undoLog, locks: createPathLocks(), open }),
    undoLog,
    store,
    open,
  };
}

describe.skipIf(!sandbox.ok)('in place', () => {
  it('[S233] a command that nests directories too deeply fails, is undone, and blocks nothing', async () => {
    const { root, run, recover } = openInPlace();
    fs.writeFileSync(`${root}/mine`, 'mine');
    for (const [id, script] of [
      ['1', DEEP],
      ['2', `${DEEP}; exit 1`],
    ] as const) {
      expect(await run(id, `echo changed > mine; ${script}`)).toMatchObject({
        status: 'failed',
        error: { message: tooDeep },
        rollback: { kind: 'restored', lost: [] },
      });
      expect(treeOf(root)).toEqual({ './mine': 'file 644 mine' });
    }
    expect(await run('3', 'echo next > next')).toMatchObject({ status: 'succeeded' });
    expect(await recover()).toEqual([]);
  });

  it('[S233] a process that died in such a command is recovered from', async () => {
    const { root, undoLog, open, recover, run } = openInPlace();
    fs.writeFileSync(`${root}/mine`, 'mine');
    const files = must(open());
    const before = must(await files.snapshot());
    must(await files.begin({ id: 'dead', tool: 'run_command', before }));
    makeDeep(root);
    await undoLog.touch(`${root}\ndead`);
    expect(await recover()).toMatchObject([{ id: 'dead', outcome: { kind: 'rolled-back', lost: [], left: [] } }]);
    expect(treeOf(root)).toEqual({ './mine': 'file 644 mine' });
    expect(await run('1', 'echo next > next')).toMatchObject({ status: 'succeeded' });
  });

  it('[S234] where a person nested directories too deeply, no command begins, and files can be written', async () => {
    const { root, run, write, open } = openInPlace();
    makeDeep(root);
    const refused = { status: 'failed', error: { code: 'state/snapshot-failed', message: tooDeep } };
    expect(await write('1', 'first')).toMatchObject({ status: 'succeeded' });
    expect(await run('2', 'rm -rf c; exit 1')).toMatchObject({ ...refused, rollback: { kind: 'nothing-to-undo' } });
    expect(await write('3', 'second')).toMatchObject({ status: 'succeeded' });
    expect(await write('4', `c/${'d/'.repeat(300)}third`)).toMatchObject({
      status: 'failed',
      error: { message: tooDeep },
    });
    expect(await must(open()).remove('c')).toMatchObject({ ok: false, error: { message: tooDeep } });
    expect(fs.readdirSync(root).sort()).toEqual(['c', 'first', 'second']);
  });
});

describe.skipIf(!hasLayers)('on a layer', () => {
  it('[S233] what a command nests too deeply is refused, and its layer removed', async () => {
    const { root, data, run, files, checkpoints, locks, state } = await openLayered(base);
    fs.writeFileSync(`${root}/mine`, 'mine');
    expect(await run('echo one > one')).toMatchObject({ status: 'succeeded' });
    const before = treeOf(root);
    const deep = `echo changed > mine; ${DEEP}`;
    expect(await run(`${deep}; exit 1`)).toMatchObject({ status: 'failed', rollback: { kind: 'dropped' } });
    expect(await run(deep)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining(`${root}/c/d/d`) },
      rollback: { kind: 'dropped' },
    });
    expect(treeOf(root)).toEqual(before);
    expect(await run('echo two > two')).toMatchObject({ status: 'succeeded' });
    await expect.poll(() => usedLayers(`${data}/layers`)).toEqual([]);
    const checkpoint = checkpoints.get('call-4');
    if (checkpoint === undefined) throw new Error('there is no call to undo');
    must(await undoCall({ files, checkpoint, locks }));
    expect(treeOf(root)).toEqual(before);
    must(await rollbackToTool({ state, locks, toolCallId: 'call-1' }));
    expect(treeOf(root)).toEqual({ './mine': 'file 644 mine' });
  });

  it('[S234] what a person nested too deeply stays: a command that removes it is refused, others are applied', async () => {
    const { root, run } = await openLayered(base);
    makeDeep(root);
    expect(await run('echo one > one')).toMatchObject({ status: 'succeeded' });
    expect(await run('rm -rf c one')).toMatchObject({
      status: 'failed',
      error: { message: tooDeep },
      rollback: { kind: 'dropped' },
    });
    expect(fs.readdirSync(root).sort()).toEqual(['c', 'one']);
  });

  it('[S233] a layer that a dead process left is removed, however deeply it is nested', async () => {
    const { data, run } = await openLayered(base);
    const upper = `${data}/layers/dead/upper`;
    fs.mkdirSync(upper, { recursive: true });
    makeDeep(upper);
    fs.writeFileSync(`${upper}/one`, 'one');
    fs.linkSync(`${upper}/one`, `${upper}/other`);
    must(findLayers(`${data}/layers`)).sweep(new Set());
    // It is removed in turns; commands are not kept from their layers meanwhile.
    expect(await run('echo one > one')).toMatchObject({ status: 'succeeded' });
    await expect.poll(() => fs.existsSync(`${data}/layers/dead`)).toBe(false);
  });
});
