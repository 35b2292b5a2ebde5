import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { sized } from '../../../test/sized.ts';
import {
  createPathLocks,
  openHostContentStore,
  openHostFilesystem,
  openHostUndoLog,
  type Recovery,
  recoverPending,
} from '../src/index.ts';
import { temporaryDirectory, treeOf } from './builders.ts';

const SOAK = process.env.SIGNALBOX_SOAK === '1';
/** How many changes there are differs a little from run to run: digests that hold inodes fall into other directories. */
const VARYING = SOAK ? 8 : 2;
const child = childScript(import.meta.dirname, 'crash-child.ts');

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory.remove());

/** A tree with everything that a restore has to deal with, and nothing left of an earlier run. */
function buildTree(): Record<string, string> {
  const root = `${directory.path}/root`;
  directory.remove();
  fs.mkdirSync(`${root}/dir`, { recursive: true });
  fs.writeFileSync(`${root}/file`, 'original');
  fs.writeFileSync(`${root}/dir/gone`, 'original');
  fs.symlinkSync('file', `${root}/link`);
  fs.mkdirSync(`${root}/nested/.git/refs`, { recursive: true });
  fs.writeFileSync(`${root}/nested/.git/HEAD`, 'ref');
  fs.writeFileSync(`${root}/nested/tracked`, 'original');
  fs.mkdirSync(`${root}/empty`);
  fs.mkdirSync(`${root}/locked`);
  fs.writeFileSync(`${root}/locked/inner`, 'original');
  fs.chmodSync(`${root}/locked`, 0o555);
  fs.writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff])]), 'odd');
  return treeOf(root);
}

function run(scenario: string, at: number, when: 'before' | 'after') {
  const ended = spawnSync('node', [child, directory.path, scenario, String(at), when], { encoding: 'utf8' });
  if (ended.signal !== 'SIGKILL' && ended.status !== 0) throw new Error(ended.stderr);
  return { killed: ended.signal === 'SIGKILL', lines: ended.stdout.trim().split('\n') };
}

/** What the next start does. */
function recover(): Promise<readonly Recovery[]> {
  const undoLog = openHostUndoLog(`${directory.path}/undo`);
  const store = openHostContentStore(`${directory.path}/blobs`);
  return recoverPending({
    undoLog,
    locks: createPathLocks(),
    open: root => openHostFilesystem({ root, store, undoLog }),
  });
}

/** All points, or an even sample of them. */
function points(count: number, sample: number): readonly number[] {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  const every = sized(Math.ceil(count / Math.ceil(sample / 2)), Math.ceil(count / sample), 1);
  return all.filter(point => point % every === 0);
}

describe('a process that is killed', () => {
  it.each(['before', 'after'] as const)(
    '[S28] %s any step of a call that fails leaves the tree as it was, at the latest after the next start',
    async when => {
      const before = buildTree();
      const count = Number(run('fail', 0, when).lines.at(-1));
      expect(treeOf(`${directory.path}/root`)).toEqual(before);
      let killed = 0;
      for (const point of points(count, 6)) {
        buildTree();
        killed += run('fail', point, when).killed ? 1 : 0;
        const recovered = await recover();
        expect({ point, tree: treeOf(`${directory.path}/root`) }).toEqual({ point, tree: before });
        expect(recovered.map(({ id, tool }) => ({ id, tool }))).toEqual(
          recovered.length === 0 ? [] : [{ id: 'call', tool: 'change' }],
        );
        expect(await recover()).toEqual([]);
      }
      expect(killed).toBeGreaterThanOrEqual(points(count, 6).length - VARYING);
    },
  );

  it.each(['before', 'after'] as const)(
    '[S28] %s any step of a call that succeeds leaves the tree before or after it, and after it once it was answered',
    async when => {
      const before = buildTree();
      const count = Number(run('succeed', 0, when).lines.at(-1));
      const after = treeOf(`${directory.path}/root`);
      expect(after).not.toEqual(before);
      for (const point of points(count, 4)) {
        buildTree();
        const { lines } = run('succeed', point, when);
        await recover();
        const tree = treeOf(`${directory.path}/root`);
        expect({ point, tree }).toEqual({ point, tree: tree['./file'] === after['./file'] ? after : before });
        if (lines.includes('answered')) expect(tree).toEqual(after);
      }
    },
  );

  it('[S28] in a rollback to a call leaves the tree before or after it, and the next start finishes what had begun', async () => {
    const before = buildTree();
    const whole = run('rollback', 0, 'after').lines;
    expect(treeOf(`${directory.path}/root`)).toEqual(before);
    const count = Number(whole.at(-1));
    buildTree();
    const first = Number(run('succeed', 0, 'after').lines.at(-1));
    const after = treeOf(`${directory.path}/root`);
    let inside = 0;
    for (const point of points(count - first, 5)) {
      buildTree();
      const { lines } = run('rollback', first + point, 'after');
      await recover();
      const tree = treeOf(`${directory.path}/root`);
      expect({ point, tree }).toEqual({ point, tree: tree['./file'] === after['./file'] ? after : before });
      if (lines.includes('rolled back')) expect(tree).toEqual(before);
      if (lines.at(-1) === 'answered') inside++;
    }
    expect(inside).toBeGreaterThanOrEqual(points(count - first, 5).length - VARYING);
  });

  it('[S28] while it recovers can be recovered again', async () => {
    const before = buildTree();
    const count = Number(run('fail', 0, 'after').lines.at(-1));
    for (const point of points(count, 2)) {
      buildTree();
      run('fail', point, 'after');
      // Every start gets a little further before it is killed; the points differ from one round to the next.
      const stride = SOAK ? 5 : 14;
      for (let again = 1 + (point % stride); run('recover', again, 'after').killed; again += stride);
      await recover();
      expect({ point, tree: treeOf(`${directory.path}/root`) }).toEqual({ point, tree: before });
    }
  });
});
