import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { seededRng } from '@signalbox/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { sized } from '../../../test/sized.ts';
import {
  type AnyTool,
  defineTool,
  findLayers,
  heldCall,
  layersOrCopies,
  settleHeldCall,
  succeed,
  undoCall,
} from '../src/index.ts';
import { copyTree } from '../src/layers/copied-tree.ts';
import { createCopiesOnly } from '../src/layers/layer-copies.ts';
import { kernelMountInside } from '../src/layers/mount-table.ts';
import { createTestRunner, must } from './builders.ts';
import { openLayered } from './layered.ts';
import { startWriting } from './writing-program.ts';

/** A directory on a machine without layers, and a tool that runs scripts in a copy of it. */
async function openCopied(given?: string) {
  const directory = given ?? fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'signalbox-copies-')));
  if (given === undefined) onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }));
  const layers = createCopiesOnly(`${directory}/data/layers`, 'there are none here');
  const place = await openLayered(directory, { layers });
  let meanwhile = () => {};
  const tool: AnyTool = defineTool({
    ...{
      name: 'turn',
      description: 'Runs a script.',
      input: z.strictObject({ script: z.string(), hold: z.boolean() }),
    },
    ...{ output: z.null(), risk: 'low', effects: { kind: 'files', onLayer: 'or-copy' } },
    handler({ script, hold }, { layer, root }) {
      if (layer?.copy === undefined || root === null) throw new Error('it has no copy');
      const before = treeOf(root);
      const { status, stderr } = spawnSync('/bin/sh', ['-ec', script], { cwd: layer.copy.at, encoding: 'utf8' });
      if (status !== 0) throw new Error(stderr);
      expect(treeOf(root)).toEqual(before);
      meanwhile();
      return { ...succeed(null), ...(hold && { hold: true }) };
    },
  });
  const runner = createTestRunner(place.state, { tools: [tool], locks: place.locks, undoLog: place.undoLog });
  let calls = 0;
  return {
    ...{ ...place, directory, layers, tool },
    async run(script: string, options: { readonly meanwhile?: () => void; readonly hold?: boolean } = {}) {
      meanwhile = options.meanwhile ?? (() => {});
      const input = { script, hold: options.hold === true };
      return must(await runner.execute({ id: `turn-${++calls}`, name: 'turn', input }));
    },
    write: (file: string, text: string) => fs.writeFileSync(`${place.root}/${file}`, text),
  };
}

/** Everything below a directory: modes, contents and targets. */
function treeOf(root: string, below = ''): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of fs.readdirSync(path.join(root, below), { withFileTypes: true })) {
    const at = path.join(below, entry.name);
    const full = path.join(root, at);
    const mode = (fs.lstatSync(full).mode & 0o777).toString(8);
    if (entry.isDirectory()) Object.assign(found, { [at]: `${mode}/` }, treeOf(root, at));
    else if (entry.isSymbolicLink()) found[at] = `-> ${fs.readlinkSync(full)}`;
    else found[at] = `${mode} ${fs.readFileSync(full, 'utf8')}`;
  }
  return found;
}

describe('a copy of a directory', () => {
  it('[S340] stands in for a layer: its changes are applied as a whole, and undone', async () => {
    const { root, run, write, files, checkpoints, locks } = await openCopied();
    for (const name of ['a', 'b', 'c']) write(name, name);
    fs.mkdirSync(`${root}/old/deep`, { recursive: true });
    write('old/deep/file', 'x');
    fs.symlinkSync('a', `${root}/link`);
    const before = treeOf(root);
    const script = `echo new > a; rm b; chmod 600 c; mv old moved; mkdir made; echo y > made/file; ln -sf c link`;
    expect(await run(script)).toMatchObject({ status: 'succeeded' });
    expect(treeOf(root)).toMatchObject({
      a: '644 new\n',
      c: '600 c',
      'moved/deep/file': '644 x',
      'made/file': '644 y\n',
    });
    expect([fs.existsSync(`${root}/b`), fs.existsSync(`${root}/old`), fs.readlinkSync(`${root}/link`)]).toEqual([
      false,
      false,
      'c',
    ]);
    const checkpoint = checkpoints.get('turn-1');
    if (checkpoint === undefined) throw new Error('it has no checkpoint');
    must(await undoCall({ files, checkpoint, locks }));
    expect(treeOf(root)).toEqual(before);
  });

  it('[S340] leaves nothing behind if it fails, and the directory as it was', async () => {
    const { root, run, write, data } = await openCopied();
    write('a', 'a');
    expect(await run('echo new > a; exit 3')).toMatchObject({ status: 'failed', rollback: { kind: 'dropped' } });
    expect(treeOf(root)).toEqual({ a: '644 a' });
    await expect.poll(() => fs.readdirSync(`${data}/layers`)).toEqual([]);
  });

  it.each<[string, string, (root: string) => void, string]>([
    ['changed', 'echo mine > a', root => fs.writeFileSync(`${root}/a`, 'theirs'), 'a'],
    ['created', 'echo mine > new', root => fs.writeFileSync(`${root}/new`, 'theirs'), 'new'],
    ['deleted', 'echo mine > a', root => fs.rmSync(`${root}/a`), 'a'],
    ['changed', 'rm -r dir', root => fs.writeFileSync(`${root}/dir/added`, ''), 'dir/added'],
    ['moved', 'echo mine > dir/file', root => swapped(`${root}/dir`), 'dir'],
  ])('[S341] conflicts with what somebody else %s: %s', async (theirs, script, meanwhile, at) => {
    const { root, run, write, state } = await openCopied();
    write('a', 'a');
    fs.mkdirSync(`${root}/dir`);
    write('dir/file', 'x');
    const outcome = await run(`${script}; echo other > other`, { meanwhile: () => meanwhile(root) });
    expect(outcome).toMatchObject({ status: 'failed', rollback: { kind: 'held' } });
    expect(heldCall(state, 'turn-1')?.conflicts).toContainEqual(expect.objectContaining({ path: at, theirs }));
    expect(fs.existsSync(`${root}/other`)).toBe(false);
  });

  it('[S341] does not conflict with other paths, nor with the same change', async () => {
    const { root, run, write } = await openCopied();
    write('a', 'a');
    write('b', 'b');
    const meanwhile = () => {
      write('b', 'theirs');
      write('same', 'same\n');
    };
    expect(await run('echo mine > a; echo same > same', { meanwhile })).toMatchObject({ status: 'succeeded' });
    expect(treeOf(root)).toEqual({ a: '644 mine\n', b: '644 theirs', same: '644 same\n' });
  });

  it('[S342] is refused with a sentence if there is too much to copy, and nothing runs', async () => {
    const { root, run, write, directory } = await openCopied();
    write('a', 'a'.repeat(100));
    write('b', 'b');
    await expect(copyTree(root, makes(`${directory}/few`), { entries: 1, bytes: 1_000 })).rejects.toThrow(
      'it has more than 1 files',
    );
    await expect(copyTree(root, makes(`${directory}/small`), { entries: 10, bytes: 100 })).rejects.toThrow(
      'it has more than 0 MB, all of which would be copied',
    );
    fs.mkdirSync(`${root}/data`);
    const inside = createCopiesOnly(`${root}/data/layers`, 'there are none here');
    const none = await inside.open(root);
    const why = none.ok ? '' : none.error.message;
    expect(await inside.openCopy(root, why)).toMatchObject({
      ok: false,
      error: {
        message: `${root} cannot have layers: there are none here; and it cannot be copied: the data directory is inside it`,
      },
    });
    fs.mkdirSync(`${root}/${'d'.repeat(200)}`);
    expect(await run('true')).toMatchObject({ status: 'succeeded' });
  });

  it('[S343] leaves the directory as the program left the copy, whatever it did', async () => {
    for (let seed = 1; seed <= sized(4, 60, 300); seed++) {
      const rng = seededRng(seed);
      const { root, run, directory } = await openCopied();
      const twin = makes(`${directory}/twin`);
      for (let round = 0; round < 3; round++) {
        const script = Array.from({ length: 12 }, () => anyStep(rng.below)).join('\n');
        expect(await run(script), `seed ${seed}`).toMatchObject({ status: 'succeeded' });
        spawnSync('/bin/sh', ['-ec', script], { cwd: twin });
        expect(treeOf(root), `seed ${seed}:\n${script}`).toEqual(treeOf(twin));
      }
    }
  });

  it('[S344] that a dead process left is removed, and its call is known; held changes stay', async () => {
    const { root, run, write, layers, data, directory, state } = await openCopied();
    write('a', 'a');
    write('large', 'x'.repeat(10_000));
    await run('echo mine > a', { hold: true });
    const held = heldCall(state, 'turn-1')?.layer ?? '';
    expect(fs.readdirSync(`${data}/layers/${held}/upper`)).toEqual(['a']);
    must(await layers.openCopy(root, 'none', { id: 'cut-off', tool: 'turn', evaluation: 'task' }));
    const next = await openCopied(directory);
    expect(next.layers.sweep(new Set())).toEqual([
      { id: 'cut-off', tool: 'turn', evaluation: 'task', isUntouched: false },
    ]);
    const asked = { ...next, callId: 'turn-1', by: 'person' as const };
    expect(await settleHeldCall({ ...asked, choice: 'apply-all' })).toMatchObject({ ok: true });
    expect(treeOf(root)).toMatchObject({ a: '644 mine\n' });
  });

  it('[S340] is what a machine without layers has', () => {
    const none = layersOrCopies('/nowhere', home => findLayers(home, []));
    expect(none.home).toBe('/nowhere');
  });
});

function makes(directory: string): string {
  fs.mkdirSync(directory);
  return directory;
}

/** Puts another directory with the same content in its place. */
function swapped(directory: string): void {
  fs.cpSync(directory, `${directory}.new`, { recursive: true });
  fs.renameSync(directory, `${directory}.old`);
  fs.renameSync(`${directory}.new`, directory);
}

const NAMES = ['a', 'b', 'd/a', 'd/b', 'd/e/a'];

function anyStep(below: (most: number) => number): string {
  const [one, other] = [NAMES[below(NAMES.length)], NAMES[below(NAMES.length)]];
  const parent = `mkdir -p "$(dirname ${one})" 2>/dev/null || true`;
  switch (below(7)) {
    case 0:
      return `rm -rf ${one}`;
    case 1:
      return `rm -rf d`;
    case 2:
      return `${parent}; mv -fT ${other} ${one} 2>/dev/null || true`;
    case 3:
      return `rm -rf ${one}; ${parent}; mkdir ${one} 2>/dev/null || true`;
    case 4:
      return `rm -rf ${one}; ${parent}; ln -s target-${below(3)} ${one} 2>/dev/null || true`;
    case 5:
      return `chmod ${below(2) === 0 ? '755' : '700'} ${one} 2>/dev/null || true`;
    default:
      return `${parent}; echo ${below(1000)} > ${one} 2>/dev/null || true`;
  }
}

/** A mount inside a directory, seen by this process alone; undefined where none can be made. */
function mountInside(at: string): boolean {
  fs.mkdirSync(at, { recursive: true });
  const mounted = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', at]).status === 0;
  if (mounted) onTestFinished(() => void spawnSync('umount', ['-l', at]));
  return mounted;
}

describe('a copy of a directory with a mount inside', () => {
  it('[S356] shows what is mounted; changes beside it are applied, those on it wait for a person, and it is never emptied', async () => {
    const place = await openCopied();
    const { root, run, write, state, locks, tool } = place;
    // Only root can mount.
    if (!mountInside(`${root}/data/disk`)) return;
    fs.writeFileSync(`${root}/data/disk/kept`, 'mounted');
    write('a', 'a');
    expect(await run('cat data/disk/kept > a')).toMatchObject({ status: 'succeeded' });
    expect(fs.readFileSync(`${root}/a`, 'utf8')).toBe('mounted');
    for (const [number, script] of ['echo x > data/disk/kept', 'echo x > data/disk/new', 'rm -rf data'].entries()) {
      const outcome = await run(`${script}; echo ${number} > a`);
      const path = ['data/disk/kept', 'data/disk/new', 'data'][number] ?? '';
      expect(outcome).toMatchObject({
        error: { message: expect.stringContaining('is on another file system that is mounted there') },
        rollback: {
          held: { conflicts: expect.arrayContaining([expect.objectContaining({ path, theirs: 'mounted' })]) },
        },
      });
      const callId = `turn-${number + 2}`;
      const choose = (choice: 'apply-all' | 'apply-rest') => settleHeldCall({ state, locks, tool, callId, choice });
      expect(await choose('apply-all')).toMatchObject({ ok: false, error: { code: 'state/conflict' } });
      expect(must(await choose('apply-rest'))).toMatchObject({ status: 'succeeded' });
      expect([fs.readFileSync(`${root}/a`, 'utf8'), fs.readdirSync(`${root}/data/disk`)]).toEqual([
        `${number}\n`,
        ['kept'],
      ]);
      expect(fs.readFileSync(`${root}/data/disk/kept`, 'utf8')).toBe('mounted');
    }
  });

  it('[S357] is refused if the kernel’s own files are mounted there, or if it is too large', () => {
    const table = ['/r/sub', '/r/sub/proc', '/elsewhere/proc'].map(
      (point, index) => `1 2 0:3 / ${point} rw - ${index === 0 ? 'ext4' : 'proc'} none rw`,
    );
    expect(kernelMountInside('/r', table.join('\n'))).toBe('/r/sub/proc');
    expect(kernelMountInside('/r', table[0])).toBeUndefined();
  });

  it('[S352] holds changes of a file that a program has open for writing', async () => {
    const { root, run, write } = await openCopied();
    write('dev.log', 'old\n');
    const program = await startWriting(`${root}/dev.log`);
    const outcome = await run('echo copy >> dev.log; echo n > new');
    await program.write('later');
    expect(outcome).toMatchObject({
      rollback: {
        held: { conflicts: [{ path: 'dev.log', theirs: 'open', by: [{ program: 'sh', pid: program.pid }] }] },
      },
    });
    expect([fs.readFileSync(`${root}/dev.log`, 'utf8'), fs.existsSync(`${root}/new`)]).toEqual(['old\nlater\n', false]);
    await program.close();
  });
});
