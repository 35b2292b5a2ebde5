import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rollbackToTool, settleHeldCall, type ToolCheckpoint, undoCall } from '../src/index.ts';
import { must, temporaryDirectory, treeOf } from './builders.ts';
import { commandTool, hasLayers, type LayeredPlace, openLayered } from './layered.ts';

let directory: ReturnType<typeof temporaryDirectory>;
let place: LayeredPlace;
beforeEach(async () => {
  directory = temporaryDirectory();
  if (hasLayers) place = await openLayered(fs.realpathSync(directory.path));
});
afterEach(() => {
  spawnSync('chmod', ['-R', 'u+rwx', directory.path]);
  directory.remove();
});

/** What was there, and what a command does. Root is refused nothing; everybody else is. */
const CLOSED: readonly (readonly [string, string, string])[] = [
  ['a file that goes', 'echo x > s; chmod 000 s', 'rm -f s'],
  ['a file that is closed', 'echo x > s', 'chmod 000 s'],
  ['a file that is opened', 'echo x > s; chmod 000 s', 'chmod 600 s'],
  ['a new file', ':', 'echo x > n; chmod 000 n'],
  ['a file with a new name', 'echo x > s; chmod 000 s', 'ln s t; chmod 600 s'],
  ['a file that moves', 'echo x > s; chmod 000 s', 'mv s t'],
  ['a file in a directory that goes', 'mkdir d; echo x > d/s; chmod 000 d/s', 'rm -rf d'],
  ['a directory in one that goes', 'mkdir -p d/e; chmod 000 d/e', 'rmdir d/e d'],
  [
    'directories in each other that go',
    'mkdir -p d/e/f; echo x > d/e/f/g; chmod 000 d/e/f; chmod 400 d/e',
    'chmod 700 d/e; chmod 700 d/e/f; rm -rf d',
  ],
  [
    'new directories in each other',
    ':',
    'mkdir -p d/e/f; echo x > d/e/f/g; chmod 000 d/e/f; chmod 100 d/e; chmod 000 d',
  ],
  [
    'a file below directories that stay',
    'mkdir -p d/e; echo x > d/e/g; chmod 000 d/e; chmod 600 d',
    'chmod 700 d d/e; echo y > d/e/g; echo n > d/e/n; chmod 000 d/e; chmod 600 d',
  ],
  ['a directory that is closed for reading', 'mkdir d; echo x > d/s', 'echo y > d/s; chmod 200 d'],
];

describe.skipIf(!hasLayers)('what its owner may not read', () => {
  const plant = (script: string) => void execFileSync('sh', ['-c', script], { cwd: place.root });

  it.each(CLOSED)('[S220] changes and comes back like anything else: %s', async (_, before, script) => {
    plant(before);
    const was = treeOf(place.root);
    expect((await place.run(`${script}; exit 1`)).status).toBe('failed');
    expect(treeOf(place.root)).toEqual(was);
    expect(await place.run(script)).toMatchObject({ status: 'succeeded' });
    const checkpoint = place.checkpoints.get('call-2') as ToolCheckpoint;
    must(await undoCall({ files: place.files, checkpoint, locks: place.locks }));
    expect(treeOf(place.root)).toEqual(was);
  });

  it.each(CLOSED)('[S220] is rolled back over several calls: %s', async (_, before, script) => {
    plant(before);
    const was = treeOf(place.root);
    for (const one of [script, 'chmod -R u+rwx .', 'echo n > n']) {
      expect(await place.run(one)).toMatchObject({ status: 'succeeded' });
    }
    must(await rollbackToTool({ state: place.state, locks: place.locks, toolCallId: 'call-1' }));
    expect(treeOf(place.root)).toEqual(was);
  });

  it('[S220] is in changes that wait for a person, and is applied or left as they choose', async () => {
    for (const choice of ['apply-rest', 'apply-all'] as const) {
      plant('chmod -R u+rwx .; rm -rf *; mkdir -p d/e; echo x > d/e/g; echo x > s; echo a > a; chmod 000 s d/e');
      const script = 'chmod 700 d/e; rm -rf d; chmod 600 s; echo y > s; chmod 000 s; echo c > a';
      const calls = place.checkpoints.list().length;
      const outcome = await place.run(script, { meanwhile: () => fs.writeFileSync(`${place.root}/a`, 'mine') });
      expect(outcome).toMatchObject({ rollback: { held: { conflicts: [{ path: 'a' }] } } });
      const { state, locks } = place;
      const callId = `call-${calls + 1}`;
      expect(must(await settleHeldCall({ state, locks, tool: commandTool, callId, choice }))).toMatchObject({
        status: 'succeeded',
      });
      const a = choice === 'apply-all' ? 'c\n' : 'mine';
      expect(treeOf(place.root)).toEqual({ './a': `file 644 ${a}`, './s': 'file 0 y\n' });
    }
  });

  it('[S221] what a person adds to it while it is removed is a conflict', async () => {
    plant('mkdir -p d/e; echo x > d/e/g; chmod 000 d/e');
    const person = () => {
      fs.chmodSync(`${place.root}/d/e`, 0o700);
      fs.writeFileSync(`${place.root}/d/e/mine`, 'mine');
      fs.chmodSync(`${place.root}/d/e`, 0);
    };
    const outcome = await place.run('chmod 700 d/e; rm -rf d', { meanwhile: person });
    const { conflicts = [] } = (outcome as { rollback: { held?: { conflicts: readonly { path: string }[] } } }).rollback
      .held ?? { conflicts: [] };
    expect(conflicts.map(({ path }) => path)).toContain('d/e/mine');
    expect(treeOf(place.root)).toMatchObject({ './d/e': 'directory 0', './d/e/mine': 'file 644 mine' });
  });
});
