import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { sized } from '../../../test/sized.ts';
import { bringBackKept } from '../src/index.ts';
import { must, removeAll, temporaryDirectory, treeOf } from './builders.ts';
import { hasLayers, openLayered } from './layered.ts';

const child = childScript(import.meta.dirname, 'layer-crash-child.ts');

let directory: ReturnType<typeof temporaryDirectory>;
let base: string;
beforeEach(() => {
  directory = temporaryDirectory();
  base = fs.realpathSync(directory.path);
});
afterEach(() => directory.remove());

/** Everything that an apply has to deal with. */
const SCRIPT = [
  'echo changed > file; rm dir/gone; mkdir -p new/deep; echo new > new/deep/file; ln new/deep/file new/hard',
  'rm link; mkdir link; rm -rf nested; mkdir nested; echo made > nested/again; rmdir empty; echo file > empty',
  'chmod 700 dir; ln -s file dir/to; chmod u+w locked; echo changed > locked/inner; chmod u-w locked; mv odd even',
].join('\n');

function buildTree(): Record<string, string> {
  const root = `${base}/root`;
  removeAll(root);
  removeAll(`${base}/data`);
  for (const name of ['dir', 'nested/tree', 'empty', 'locked']) fs.mkdirSync(`${root}/${name}`, { recursive: true });
  for (const name of ['file', 'dir/gone', 'nested/tree/leaf', 'locked/inner', 'odd']) {
    fs.writeFileSync(`${root}/${name}`, 'original');
  }
  fs.symlinkSync('file', `${root}/link`);
  fs.chmodSync(`${root}/locked`, 0o555);
  return treeOf(root);
}

function run(scenario: 'apply' | 'undo', at: number, when: string) {
  const ended = spawnSync('node', [child, base, scenario, String(at), when], {
    encoding: 'utf8',
    env: { ...process.env, SCRIPT },
  });
  if (ended.signal !== 'SIGKILL' && ended.status !== 0) throw new Error(ended.stderr);
  return { isKilled: ended.signal === 'SIGKILL', lines: ended.stdout.trim().split('\n') };
}

/** What the next start finds and does. */
async function restart() {
  const place = await openLayered(base);
  const recoveries = await place.recover();
  expect(recoveries.filter(({ outcome }) => outcome.kind === 'failed')).toEqual([]);
  return { call: place.checkpoints.get('call-1'), again: await place.recover() };
}

/** All points, or an even sample of them and the last ones. */
function points(count: number, sample: number): readonly number[] {
  const [parts, last] = sized([3, 1], [sample, 3], [count, 3]);
  const every = Math.ceil(count / parts);
  const all = Array.from({ length: count + last }, (_, index) => index + 1);
  return all.filter(point => point % every === 0 || point > count - last);
}

describe.skipIf(!hasLayers)('a process that is killed', () => {
  it.each(['before', 'after'])('[S77] %s any step of an apply leaves it applied whole or not at all', async when => {
    const before = buildTree();
    const count = Number(run('apply', 0, when).lines.at(-1));
    const after = treeOf(`${base}/root`);
    expect(after).not.toEqual(before);
    const seen = { killed: 0, applied: 0, not: 0 };
    for (const point of points(count, 5)) {
      buildTree();
      const { isKilled, lines } = run('apply', point, when);
      const { call, again } = await restart();
      const isApplied = call?.outcome === 'succeeded';
      expect([point, treeOf(`${base}/root`)]).toEqual([point, isApplied ? after : before]);
      // What was answered is there; what is not there is not said to be.
      if (lines.includes('answered')) expect(isApplied).toBe(true);
      expect(again).toEqual([]);
      seen.killed += isKilled ? 1 : 0;
      seen[isApplied ? 'applied' : 'not'] += 1;
    }
    expect(seen.killed).toBeGreaterThan(sized(2, 5, 5));
    expect(seen.applied).toBeGreaterThan(0);
    expect(seen.not).toBeGreaterThan(0);
  });

  it.each(['before', 'after'])('[S77] [S79] %s any step of an undo leaves it done whole or not at all', async when => {
    const before = buildTree();
    run('apply', 0, when);
    const after = treeOf(`${base}/root`);
    const count = Number(run('undo', 0, when).lines.at(-1));
    expect(treeOf(`${base}/root`)).toEqual(before);
    let killed = 0;
    for (const point of points(count, 4)) {
      buildTree();
      run('apply', 0, when);
      killed += run('undo', point, when).isKilled ? 1 : 0;
      await restart();
      const now = treeOf(`${base}/root`);
      expect([point, now]).toEqual([point, now['./file'] === before['./file'] ? before : after]);
    }
    expect(killed).toBeGreaterThan(sized(2, 3, 3));
  });

  it('[S77] [S114] what somebody changed before the next start stays, is named, and what was there before it can be had', async () => {
    buildTree();
    const place = await openLayered(base);
    const { layering } = place.files;
    const layer = must((await layering?.open()) ?? { ok: false, error: { message: 'no layer' } });
    expect(layer.root).toBe(`${base}/root`);
    layer.drop();
    const count = Number(run('apply', 0, 'before').lines.at(-1));
    let isShown = false;
    for (let point = count; point > 0 && !isShown; point--) {
      buildTree();
      run('apply', point, 'before');
      const pending = await openLayered(base);
      if (
        pending.checkpoints.get('call-1') !== undefined ||
        fs.readFileSync(`${base}/root/file`, 'utf8') !== 'changed\n'
      )
        continue;
      fs.writeFileSync(`${base}/root/file`, 'mine');
      const [recovery] = await pending.recover();
      expect(recovery?.outcome).toMatchObject({ kind: 'taken-back', left: ['file'] });
      expect(fs.readFileSync(`${base}/root/file`, 'utf8')).toBe('mine');
      expect(recovery?.evaluation).toBe('test');
      const kept = recovery?.outcome.kind === 'taken-back' ? recovery.outcome.kept : null;
      if (kept === null) throw new Error('nothing was kept');
      const call = { id: 'call-1', before: kept.digest, kept };
      const { files, locks } = pending;
      expect(must(await bringBackKept({ files, call, locks, copies: true }))).toEqual({
        ...{ paths: [], conflicts: ['file'], copies: ['file.kept'], lost: [] },
      });
      const texts = ['file', 'file.kept'].map(name => fs.readFileSync(`${base}/root/${name}`, 'utf8'));
      expect(texts).toEqual(['mine', 'original']);
      isShown = true;
    }
    expect(isShown).toBe(true);
  });
});
