import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sized } from '../../../test/sized.ts';
import { isClosed, lookIntoClosed } from '../src/filesystem/closed-paths.ts';
import { type DirectoryNode, differingPaths, nodeAt } from '../src/filesystem/tree.ts';
import { rollbackToTool, treeAt, undoCall } from '../src/index.ts';
import { must, temporaryDirectory, treeOf } from './builders.ts';
import { takeTurn } from './inner-turn.ts';
import { hasLayers, type LayeredPlace, openLayered } from './layered.ts';
import { createDice } from './person-and-command.ts';

/** Each runs four to five scripts. */
const SEEDS = sized(3, 10, 450);
const FIRST = Number(process.env.SIGNALBOX_FIRST_SEED ?? 1);

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => {
  spawnSync('chmod', ['-R', 'u+rwx', directory.path]);
  directory.remove();
});

const NAMES = ['a', 'b', 'd', 'd/a', 'd/e', 'd/e/f', 'g', 'g/h', '.git/index', 'node_modules/m/i', 'x y', 'n\nl'];
const MODES = ['600', '644', '755', '700', '400', '500', '000', '300', '200'];

/** One thing that a shell does to files. What cannot be done is left out, in the layer as in the model. */
function step(dice: (limit: number) => number, count: number): string {
  const pick = () => `'${NAMES[dice(NAMES.length)]}'`;
  const [at, other] = [pick(), pick()];
  const parent = `mkdir -p "$(dirname ${at})"`;
  // What a copy of a directory into itself leaves, also through a link, depends on the order in which the filesystem lists it.
  const [from, to] = [`$(cd ${at} && pwd -P)`, `$(cd ${other} || cd "$(dirname ${other})"; pwd -P)`];
  const copy = `from=${from}; to=${to}; case "$to/" in "\${from:-none}/"*) ;; *) cp -r ${at} ${other};; esac`;
  const works = [
    `${parent}; printf '%s' ${count} > ${at}`,
    `${parent}; printf '%s' ${count} >> ${at}`,
    `${parent}; printf '%s' ${count} > ${at}.tmp; mv -f ${at}.tmp ${at}`,
    `rm -rf ${at}`,
    `rm -rf ${at}; mkdir -p ${at}; printf '%s' ${count} > ${at}/again`,
    `mkdir -p "$(dirname ${other})"; mv -f ${at} ${other}`,
    `mkdir -p ${at}`,
    `chmod ${MODES[dice(MODES.length)]} ${at}`,
    `ln -sfn ${other} ${at}`,
    `ln -f ${at} ${other}`,
    copy,
    `rmdir ${at}`,
    `touch -d 2002-02-02 ${at}`,
  ];
  return `{ ${works[dice(works.length)]}; } 2>/dev/null`;
}

async function play(seed: number): Promise<void> {
  const dice = createDice(seed);
  const here = `${fs.realpathSync(directory.path)}/${seed}`;
  const place: LayeredPlace = await openLayered(here);
  const { root, state, locks, files, checkpoints } = place;
  const bare = `${here}/bare`;
  fs.mkdirSync(bare);
  const before: { readonly call: string; readonly tree: object }[] = [];
  let count = 0;
  const calls = 4 + dice(2);
  for (let call = 1; call <= calls; call++) {
    separateNames(bare);
    const now = treeOf(root);
    const fails = dice(4) === 0;
    const lines = Array.from({ length: 1 + dice(5) }, () => step(dice, count++));
    const script = `${lines.join('\n')}\nexit ${fails ? 1 : 0}`;
    const outcome = await place.run(script);
    if (!fails) spawnSync('sh', ['-c', script], { cwd: bare });
    const told = outcome.status === 'failed' && !fails ? JSON.stringify(outcome) : '';
    expect([seed, script, outcome.status, told]).toEqual([seed, script, fails ? 'failed' : 'succeeded', '']);
    expect([seed, script, treeOf(root)]).toEqual([seed, script, treeOf(bare)]);
    before.push({ call: `call-${call}`, tree: now });
  }
  const last = before.at(-1);
  const checkpoint = last && checkpoints.get(last.call);
  if (dice(2) === 0 && checkpoint !== undefined && checkpoint.post !== null) {
    const undone = await undoCall({ files, checkpoint, locks });
    if (undone.ok) expect([seed, treeOf(root)]).toEqual([seed, last?.tree]);
    else expect(undone.error.code).toBe('state/nothing-to-undo');
    return;
  }
  const target = before[dice(before.length)];
  if (target === undefined) return;
  const rolledBack = await rollbackToTool({ state, locks, toolCallId: target.call });
  expect([seed, target.call, rolledBack.ok ? '' : rolledBack.error.message]).toEqual([seed, target.call, '']);
  expect([seed, target.call, treeOf(root)]).toEqual([seed, target.call, target.tree]);
}

/** A command that writes a file of several names changes one of them on a layer, and all on a plain directory. */
function separateNames(tree: string): void {
  const separate = 'for file; do cp -p "$file" "$file.own" && mv "$file.own" "$file"; done';
  spawnSync('find', ['.', '-type', 'f', '-links', '+1', '-exec', 'sh', '-c', separate, 'sh', '{}', '+'], { cwd: tree });
}

/** A turn of random inner calls, with random changes between them, whose inner calls are then undone from the last to the first. */
async function playTurn(seed: number): Promise<void> {
  const dice = createDice(seed);
  const place: LayeredPlace = await openLayered(`${fs.realpathSync(directory.path)}/turn-${seed}`);
  const { root, files, locks, checkpoints } = place;
  let count = 0;
  const script = () =>
    Array.from({ length: 1 + dice(4) }, () => step(dice, count++).replaceAll(`'n\nl'`, 'nl')).join('; ');
  await place.run(`${script()}; ${script()}; true`);
  separateNames(root);
  const told: string[] = [];
  const hasGaps = dice(2) === 0;
  // A change outside of them may be in the way: between them, of one that was not told apart, or of a file that was not kept.
  let mayConflict = hasGaps;
  const outcome = await takeTurn(place, async agent => {
    for (let call = 0; call < 4; call++) {
      if (hasGaps) await agent.run(`${script()}; true`);
      const own = script();
      told.push(own);
      const { kind } = await agent.call(`inner-${call}`, `${own}; true`);
      mayConflict ||= kind === 'unknown';
    }
  });
  expect([seed, told, outcome]).toEqual([seed, told, expect.objectContaining({ status: 'succeeded' })]);
  for (let call = 3; call >= 0; call--) {
    const checkpoint = checkpoints.get(`inner-${call}`);
    if (checkpoint === undefined) continue;
    const { tree } = must(await files.snapshot());
    const undone = await undoCall({ files, checkpoint, locks });
    const left = must(await files.snapshot()).tree;
    if (!undone.ok) {
      expect([seed, told, undone.error.code]).toEqual([seed, told, mayConflict ? 'state/conflict' : 'none']);
      expect([seed, told, differingPaths(left, tree)]).toEqual([seed, told, []]);
      continue;
    }
    const { lost } = undone.value;
    mayConflict ||= lost.length > 0;
    const wanted = treeAt([checkpoint], 'pre', tree);
    const differing = wanted && differingPaths(left, wanted).filter(path => !isAsWanted(root, path, wanted));
    if (lost.length === 0) expect([seed, told, differing]).toEqual([seed, told, []]);
  }
}

/** Whether a file that a snapshot cannot read, because its owner closed it, is as it should be all the same. */
function isAsWanted(root: string, path: string, wanted: DirectoryNode): boolean {
  const node = nodeAt(wanted, path.split('/'));
  const below = lookIntoClosed(root);
  try {
    const stat = below.stat(path);
    if (stat?.isFile() !== true || !isClosed(stat) || node?.kind !== 'file') return false;
    const fd = below.openFile(path);
    const digest = `sha256:${createHash('sha256').update(fs.readFileSync(fd)).digest('hex')}`;
    fs.closeSync(fd);
    return Number(stat.mode & 0o7777n) === node.mode && digest === node.digest;
  } finally {
    below.close();
  }
}

describe.skipIf(!hasLayers)('scripts on layers', () => {
  it('[S280] [S281] undo each inner call to what it found', async () => {
    for (let seed = FIRST; seed < FIRST + SEEDS; seed++) await playTurn(seed);
  });

  it('[S280] [S281] undo one that wrote to a file which its owner may not read: seed 477', () => playTurn(477));

  it('[S72] [S79] [S80] leave what they leave on a plain directory, and go back to every call', async () => {
    for (let seed = FIRST; seed < FIRST + SEEDS; seed++) await play(seed);
  });
});
