import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { sized } from '../../../test/sized.ts';
import {
  checkpointsFrom,
  forkAt,
  type InnerEnd,
  innerCheckpoints,
  putFiles,
  rollbackToTool,
  settleHeldCall,
  treeAt,
  undoCall,
  withoutInner,
} from '../src/index.ts';
import { must, treeOf } from './builders.ts';
import { type TestAgent, takeTurn, turnTool } from './inner-turn.ts';
import { hasLayers, openLayered } from './layered.ts';
import { directory, layersLeft, place, plantEach, read, root, write } from './planted-layer.ts';

plantEach();

const checkpoint = (id: string) => {
  const found = place.checkpoints.get(id);
  if (found === undefined) throw new Error(`no ${id}`);
  return found;
};
const undo = (id: string) => undoCall({ files: place.files, checkpoint: checkpoint(id), locks: place.locks });
const turn = (work: (agent: TestAgent) => Promise<void>, hold = false) => takeTurn(place, work, { hold });

const SUCCEEDED = { tool: 'edit', outcome: 'succeeded', summary: null } as const;

/** A directory as it was changed by everything that an apply has to deal with. */
const KINDS: readonly (readonly [string, string])[] = [
  ['create', 'echo n > new; echo n > src/deep/new; mkdir -p made/deep; echo m > made/deep/m'],
  ['edit', 'echo c > src/a; echo more >> src/deep/c'],
  ['delete', 'rm src/b; rm -rf old'],
  ['rename', 'mv src/a src/z; mv old older'],
  ['mode', 'chmod 600 src/a; chmod 700 src/deep'],
  ['link', 'rm src/link; ln -s b src/link; ln -s nowhere gone'],
  ['another kind', 'rm -rf old; echo file > old; rm src/a; mkdir src/a; echo in > src/a/in'],
  ['a directory made again', 'rm -rf old; mkdir old; echo z > old/z'],
  ['hard link', 'ln src/b src/hard; echo n > one; ln one two'],
  ['.git and node_modules', 'mkdir -p .git node_modules/p; echo i > .git/index; echo p > node_modules/p/i'],
  ['times', 'touch -d 2001-01-01 src/a'],
];

describe.skipIf(!hasLayers)('inner calls', () => {
  it.each(KINDS)('[S280] [S281] one that makes this change (%s) is undone, and the others stay', async (_, script) => {
    let ends: readonly InnerEnd[] = [];
    const before = treeOf(root);
    const outcome = await turn(async agent => {
      ends = [
        await agent.call('one', 'echo 1 > first'),
        await agent.call('two', script),
        await agent.call('three', 'echo 3 > third'),
      ];
    });
    expect(outcome).toMatchObject({ status: 'succeeded' });
    const after = treeOf(root);
    expect(ends[0]).toEqual({ kind: 'kept' });
    const [others, changed] = [{ './first': 'file 644 1\n', './third': 'file 644 3\n' }, { ...after }];
    // A changed time is not undone alone: it is no content.
    expect(ends[1]).toEqual({ kind: script.startsWith('touch') ? 'unchanged' : 'kept' });
    if (script.startsWith('touch')) return;
    must(await undo('two'));
    expect(treeOf(root)).toEqual({ ...before, ...others });
    expect(treeOf(root)).not.toEqual(changed);
    expect(must(await undo('two')).paths).toEqual([]);
  });

  it('[S280] are listed with the call, and each has its facts', async () => {
    await turn(async agent => {
      await agent.call('one', 'echo 1 > first');
      await agent.run('echo between > nobody');
      await agent.inner.begin('two');
      await agent.run('echo 2 > second');
      expect(await agent.inner.end('two', { id: 'two', tool: 'run', outcome: 'failed', summary: 'exit 1' })).toEqual({
        kind: 'kept',
      });
      expect(await agent.call('nothing', 'cat first')).toEqual({ kind: 'unchanged' });
      await agent.run('echo last > last');
    });
    expect(place.checkpoints.list().map(one => one.toolCallId)).toEqual(['turn']);
    expect(
      innerCheckpoints(checkpoint('turn')).map(one => [one.toolCallId, one.toolName, one.outcome, one.resultSummary]),
    ).toEqual([
      ['one', 'edit', 'succeeded', 'echo 1 > first'],
      ['turn', 'agent_turn', 'succeeded', null],
      ['two', 'run', 'failed', 'exit 1'],
      ['turn', 'agent_turn', 'succeeded', null],
    ]);
    // They are read back as they were written.
    const again = await openLayered(fs.realpathSync(directory.path));
    expect(again.checkpoints.get('turn')).toEqual(checkpoint('turn'));
    must(await undoCall({ files: again.files, checkpoint: checkpoint('two'), locks: again.locks }));
    expect([read('first'), fs.existsSync(`${root}/second`)]).toEqual(['1\n', false]);
  });

  it('[S281] one is not undone over a later one, or over what somebody changed', async () => {
    await turn(async agent => {
      await agent.call('one', 'echo 1 >> src/a; echo 1 > alone');
      await agent.call('two', 'echo 2 >> src/a');
    });
    const left = treeOf(root);
    expect(await undo('one')).toMatchObject({
      ok: false,
      error: { code: 'state/conflict', details: { paths: ['src/a'] } },
    });
    expect(treeOf(root)).toEqual(left);
    must(await undo('two'));
    expect(read('src/a')).toBe('a1\n');
    write('alone', 'mine');
    expect(await undo('one')).toMatchObject({
      ok: false,
      error: { code: 'state/conflict', details: { paths: ['alone'] } },
    });
    write('alone', '1\n');
    must(await undo('one'));
    expect([read('src/a'), fs.existsSync(`${root}/alone`)]).toEqual(['a', false]);
  });

  it('[S281] a file that one made and a later one removed comes back with the later one alone', async () => {
    const before = treeOf(root);
    await turn(async agent => {
      await agent.call('one', 'mkdir d; echo 1 > d/temporary; echo k > kept');
      await agent.call('two', 'rm -r d');
    });
    expect(treeOf(root)).toEqual({ ...before, './kept': 'file 644 k\n' });
    must(await undo('two'));
    expect(read('d/temporary')).toBe('1\n');
    must(await undo('one'));
    expect(treeOf(root)).toEqual(before);
  });

  it('[S282] that overlap are undone with the whole call, which says so', async () => {
    let ends: readonly InnerEnd[] = [];
    await turn(async ({ inner, run, call }) => {
      await call('before', 'echo 0 > zero');
      await inner.begin('one');
      await run('echo 1 > one');
      await inner.begin('two');
      await run('echo 2 > two');
      const how = (id: string) => ({ ...SUCCEEDED, id });
      ends = [
        await inner.end('one', how('one')),
        await inner.end('two', how('two')),
        await call('after', 'echo 3 > three'),
      ];
    });
    expect(ends).toEqual([{ kind: 'mixed', with: ['two'] }, { kind: 'mixed', with: ['one'] }, { kind: 'kept' }]);
    expect(['one', 'two'].map(id => place.checkpoints.get(id))).toEqual([undefined, undefined]);
    must(await undo('after'));
    must(await undo('before'));
    expect(Object.keys(treeOf(root)).filter(path => /\/(zero|one|two|three)$/.test(path))).toEqual(['./one', './two']);
  });

  it('[S282] nothing outside of them is undone with one, and one that was already running is not told apart', async () => {
    await turn(async ({ inner, run, call }) => {
      await call('one', 'echo 1 > one');
      await run('echo nobody > nobody');
      await call('two', 'echo 2 > two');
      await run('echo early > late');
      await inner.begin('late', { running: true });
      await run('echo more >> late');
      expect(await inner.end('late', { ...SUCCEEDED, id: 'late' })).toEqual({ kind: 'late' });
      await inner.begin('quiet', { running: true });
      await run('echo quiet > quiet');
      expect(await inner.end('quiet', { ...SUCCEEDED, id: 'quiet' })).toEqual({ kind: 'kept' });
      await inner.begin('lost');
      await run('echo lost > lost');
      await inner.abort('lost');
      expect(await inner.end('lost', { ...SUCCEEDED, id: 'lost' })).toMatchObject({ kind: 'unknown' });
    });
    for (const id of ['one', 'two', 'quiet']) must(await undo(id));
    const left = Object.keys(treeOf(root)).filter(path => /\/(one|two|nobody|late|quiet|lost)$/.test(path));
    expect(left).toEqual(['./late', './lost', './nobody']);
    expect(['late', 'lost'].map(id => place.checkpoints.get(id))).toEqual([undefined, undefined]);
  });

  it('[S283] the files before and after one can be had, in place and in a fork', async () => {
    const trees = [treeOf(root)];
    await turn(async agent => {
      await agent.call('one', 'echo 1 > src/a; rm -rf old');
      await agent.run('echo between > nobody');
      await agent.call('two', 'echo 2 > src/a; echo 2 > two');
      await agent.run('echo last > last');
    });
    await place.run('echo later > src/a');
    const afterOne: Record<string, string> = { ...trees[0], './src/a': 'file 644 1\n' };
    for (const path of ['./old', './old/x', './old/y']) delete afterOne[path];
    const beforeTwo = { ...afterOne, './nobody': 'file 644 between\n' };
    const afterTwo = { ...beforeTwo, './src/a': 'file 644 2\n', './two': 'file 644 2\n' };
    const list = place.checkpoints.list();
    for (const [id, phase, expected] of [
      ['one', 'pre', trees[0]],
      ['one', 'post', afterOne],
      ['two', 'pre', beforeTwo],
      ['two', 'post', afterTwo],
      ['turn', 'pre', trees[0]],
    ] as const) {
      const now = must(await place.files.snapshot());
      const tree = treeAt(checkpointsFrom(list, id), phase, now.tree);
      const into = await openLayered('', { root: `${directory.path}/${id}-${phase}`, data: place.data });
      if (tree === undefined) throw new Error('no tree');
      const stored = must(await into.files.decode(await place.files.encode({ tree })));
      must(await putFiles(into.files, stored.tree, id));
      expect([id, phase, treeOf(into.root)]).toEqual([id, phase, expected]);
    }
    const fork = await openLayered('', { root: `${directory.path}/fork`, data: place.data });
    const into = { sessionId: place.state.ids.mint<never>(), resources: fork.state.resources };
    must(await forkAt({ state: place.state, toolCallId: 'two', phase: 'pre', into }));
    expect(treeOf(fork.root)).toEqual(beforeTwo);
    must(await rollbackToTool({ state: place.state, locks: place.locks, toolCallId: 'two', phase: 'pre' }));
    expect(treeOf(root)).toEqual(beforeTwo);
  });

  it.each(['apply-all', 'apply-rest'] as const)('[S284] survive while changes are held, and %s', async choice => {
    const before = treeOf(root);
    const work = async (agent: TestAgent) => {
      await agent.call('one', 'echo 1 > src/a; echo 1 > one');
      write('src/a', 'mine');
      await agent.call('two', 'echo 2 > two');
    };
    expect(await turn(work, true)).toMatchObject({ status: 'failed', rollback: { kind: 'held' } });
    expect(place.checkpoints.get('one')).toBeUndefined();
    const again = await openLayered(fs.realpathSync(directory.path));
    const { state, locks, files, checkpoints } = again;
    const tool = turnTool(again, work);
    must(await settleHeldCall({ state, locks, tool, callId: 'turn', choice }));
    const a = choice === 'apply-all' ? '1\n' : 'mine';
    expect([read('src/a'), read('one'), read('two')]).toEqual([a, '1\n', '2\n']);
    for (const id of ['one', 'two']) {
      const own = checkpoints.get(id);
      if (own === undefined) throw new Error(`no ${id}`);
      must(await undoCall({ files, checkpoint: own, locks }));
    }
    expect(treeOf(root)).toEqual({ ...before, './src/a': `file 644 ${a}` });
    await expect.poll(layersLeft).toBe(0);
  });

  it('[S284] of dropped and failed calls there are none', async () => {
    const work = (agent: TestAgent) => agent.call('one', 'echo 1 > one').then(() => {});
    await turn(work, true);
    const { state, locks } = place;
    must(await settleHeldCall({ state, locks, tool: turnTool(place, work), callId: 'turn', choice: 'drop' }));
    await turn(async agent => {
      await work(agent);
      throw new Error('it failed');
    });
    expect(place.checkpoints.get('one')).toBeUndefined();
    expect(fs.existsSync(`${root}/one`)).toBe(false);
    await expect.poll(layersLeft).toBe(0);
  });

  it('[S286] the program does not notice, and what did not change is not read again', async () => {
    let stamps: readonly string[] = [];
    await turn(async ({ inner, run, call }) => {
      await run('for n in $(seq 50); do echo $n > n$n; done; chmod 700 n1; mkdir closed; chmod 500 closed');
      await run('stat -c "%n %Y %Z %a" n* closed > /tmp/before');
      for (let time = 0; time < 3; time++) expect(await call(`none-${time}`, ':')).toEqual({ kind: 'unchanged' });
      await run('stat -c "%n %Y %Z %a" n* closed | cmp - /tmp/before');
      stamps = inner.leftOut();
    });
    expect(stamps).toEqual([]);
  });

  it('[S286] does not follow a directory that tools can fill again, if there is much in it', async () => {
    await turn(async ({ inner, run, call }) => {
      expect(await call('few', 'mkdir -p node_modules/a; echo a > node_modules/a/a')).toEqual({ kind: 'kept' });
      await inner.begin('install');
      await run('mkdir node_modules/b; for n in $(seq 2001); do : > node_modules/b/$n; done; echo lock > lock');
      expect(await inner.end('install', { ...SUCCEEDED, id: 'install' })).toEqual({ kind: 'kept' });
      expect(inner.leftOut()).toEqual(['node_modules']);
      expect(await call('edit', 'echo e > e; rm node_modules/b/1')).toEqual({ kind: 'kept' });
    });
    for (const id of ['edit', 'install']) must(await undo(id));
    expect([fs.existsSync(`${root}/lock`), fs.existsSync(`${root}/e`)]).toEqual([false, false]);
    expect(fs.readdirSync(`${root}/node_modules/b`)).toHaveLength(2000);
  });

  it('[S287] what is left of a call is undone after some of its inner calls were', async () => {
    const before = treeOf(root);
    await turn(async agent => {
      await agent.call('one', 'echo 1 > src/a');
      await agent.call('two', 'echo 2 > src/a; rm -rf old');
      await agent.run('echo n > nobody');
    });
    must(await undo('two'));
    const { files, locks } = place;
    expect(await undo('turn')).toMatchObject({ error: { code: 'state/conflict', details: { paths: ['src/a'] } } });
    const rest = withoutInner(checkpoint('turn'), new Set(['two']));
    must(await undoCall({ files, checkpoint: rest, locks }));
    expect(treeOf(root)).toEqual(before);
  });

  it('[S285] a process that is killed leaves a checkpoint with all of them, or none', async () => {
    const base = fs.realpathSync(directory.path);
    const child = childScript(import.meta.dirname, 'inner-crash-child.ts');
    const before = treeOf(root);
    const run = (at: number) => {
      const ended = spawnSync('node', [child, base, String(at)], { encoding: 'utf8' });
      if (ended.signal !== 'SIGKILL' && ended.status !== 0) throw new Error(ended.stderr);
      return ended.stdout.trim();
    };
    const count = Number(run(0));
    const after = treeOf(root);
    expect(after).not.toEqual(before);
    const points = Array.from({ length: count }, (_, at) => at + 1);
    const every = Math.ceil(count / sized(4, 12, count));
    for (const at of points.filter(point => point % every === 0 || point > count - 3)) {
      const own = await openLayered(base);
      const [undone] = own.checkpoints.list();
      if (undone !== undefined) must(await undoCall({ files: own.files, checkpoint: undone, locks: own.locks }));
      fs.rmSync(`${own.data}/checkpoints.jsonl`, { force: true });
      expect(treeOf(root)).toEqual(before);
      run(at);
      const next = await openLayered(base);
      const recovered = await next.recover();
      expect(recovered.filter(({ outcome }) => outcome.kind === 'failed')).toEqual([]);
      const ids = ['turn', 'one', 'two'].map(id => next.checkpoints.get(id)?.toolCallId);
      const isApplied = ids[0] !== undefined;
      expect([at, ids]).toEqual([at, isApplied ? ['turn', 'one', 'two'] : [undefined, undefined, undefined]]);
      expect([at, treeOf(root)]).toEqual([at, isApplied ? after : before]);
    }
  });
});
