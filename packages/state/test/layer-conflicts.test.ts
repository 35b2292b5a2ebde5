import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { nodeHostFiles } from '../src/index.ts';
import { companionsOf } from '../src/layers/read-changes.ts';
import { must, treeOf } from './builders.ts';
import { hasLayers, openLayered, usedLayers } from './layered.ts';
import { directory, layersLeft, place, plantEach, read, root, save, write } from './planted-layer.ts';

plantEach();

describe.skipIf(!hasLayers)('changes that meet those of somebody else', () => {
  const held = (outcome: unknown) =>
    (outcome as { rollback?: { held?: { conflicts: { path: string }[] } } }).rollback?.held?.conflicts.map(
      one => one.path,
    );

  it.each<[string, string, () => void, readonly string[]]>([
    ['an edit in place', 'echo c > src/a; echo n > new', () => write('src/a', 'mine'), ['src/a']],
    ['a save by rename', 'echo c > src/a; echo n > new', () => save('src/a', 'mine'), ['src/a']],
    ['a file that was moved away', 'echo c > src/a', () => fs.renameSync(`${root}/src/a`, `${root}/src/z`), ['src/a']],
    ['a change of mode', 'echo c > src/a', () => fs.chmodSync(`${root}/src/a`, 0o600), ['src/a']],
    ['a new file', 'echo c > new', () => write('new', 'mine'), ['new']],
    ['an old file that was moved there', 'echo c > new', () => fs.renameSync(`${root}/old/x`, `${root}/new`), ['new']],
    ['an edit of what it deleted', 'rm src/a; echo n > new', () => write('src/a', 'mine'), ['src/a']],
    ['a file below a directory that it removed', 'rm -rf old', () => write('old/mine', 'mine'), ['old', 'old/mine']],
    [
      'a file in a directory that it removed and made again',
      'rm -rf old; mkdir old; echo z > old/z',
      () => write('old/x', 'mine'),
      ['old/x'],
    ],
    [
      'a directory that was swapped',
      'echo c > src/deep/c',
      () => {
        fs.renameSync(`${root}/src/deep`, `${root}/src/away`);
        fs.mkdirSync(`${root}/src/deep`);
        write('src/deep/c', 'mine');
      },
      ['src/deep', 'src/deep/c'],
    ],
    [
      'a directory that was moved away',
      'echo c > src/deep/c',
      () => fs.renameSync(`${root}/src/deep`, `${root}/src/away`),
      ['src/deep'],
    ],
    [
      'a directory that was deleted',
      'echo c > src/deep/c',
      () => fs.rmSync(`${root}/src/deep`, { recursive: true }),
      ['src/deep'],
    ],
    ['a directory where it made a file', 'echo c > new', () => fs.mkdirSync(`${root}/new`), ['new']],
    ['a file where it made a directory', 'mkdir new', () => write('new', 'mine'), ['new']],
    [
      'a write through a descriptor that was open',
      'echo c > src/a',
      () => {
        fs.writeSync(open, 'mine');
      },
      ['src/a'],
    ],
  ])('[S73] %s: nothing is applied, and nothing of theirs is lost', async (_, script, meanwhile, paths) => {
    open = fs.openSync(`${root}/src/a`, 'a');
    let before = {};
    const outcome = await place.run(':', {
      first: script,
      meanwhile: () => {
        meanwhile();
        before = treeOf(root);
      },
    });
    fs.closeSync(open);
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'tool/conflict' } });
    expect(held(outcome)?.toSorted()).toEqual(paths);
    const { './.go': _go, ...after } = before as Record<string, string>;
    expect(treeOf(root)).toEqual(after);
    expect(layersLeft()).toBe(1);
  });
  let open = 0;

  it('[S74] a neighbour in the same directory, and one above, are no conflict', async () => {
    const outcome = await place.run('echo c > src/a; rm src/b; echo n > src/new; chmod 700 old', {
      meanwhile: () => {
        save('src/deep/c', 'mine');
        save('src/mine', 'mine');
        save('mine', 'mine');
        fs.rmSync(`${root}/src/link`);
      },
    });
    expect(outcome).toMatchObject({ status: 'succeeded' });
    expect([read('src/a'), read('src/new'), read('src/mine'), read('src/deep/c'), read('mine')]).toEqual([
      'c\n',
      'n\n',
      'mine',
      'mine',
      'mine',
    ]);
    expect(fs.readdirSync(`${root}/src`)).toEqual(['a', 'deep', 'mine', 'new']);
  });

  it('[S74] a file that somebody deleted comes back with what the command made of it', async () => {
    const outcome = await place.run(':', { first: 'echo c > src/a', meanwhile: () => fs.rmSync(`${root}/src/a`) });
    expect([outcome.status, read('src/a')]).toEqual(['succeeded', 'c\n']);
  });

  it('[S74] what both made equal is no conflict, nor is what both deleted or a directory that both made', async () => {
    const outcome = await place.run('printf same > src/a; rm src/b; mkdir both; echo c > both/theirs', {
      meanwhile: () => {
        write('src/a', 'same');
        fs.rmSync(`${root}/src/b`);
        fs.mkdirSync(`${root}/both`);
        write('both/mine', 'mine');
      },
    });
    expect(outcome).toMatchObject({ status: 'succeeded' });
    expect([read('src/a'), read('both/theirs'), read('both/mine')]).toEqual(['same', 'c\n', 'mine']);
  });

  it('[S75] a database whose log somebody else wrote is not torn from it', async () => {
    write('app.db', 'pages');
    write('app.db-wal', 'log');
    const outcome = await place.run('echo more >> app.db; echo n > new', {
      meanwhile: () => fs.appendFileSync(`${root}/app.db-wal`, ' of mine'),
    });
    expect(held(outcome)).toEqual(['app.db-wal']);
    expect([read('app.db'), read('app.db-wal'), fs.existsSync(`${root}/new`)]).toEqual(['pages', 'log of mine', false]);
  });

  it('[S75] a database that a server writes to, or has open, stays whole', async () => {
    const server = new DatabaseSync(`${root}/app.db`);
    server.exec('pragma journal_mode=wal; create table t(who text); insert into t values (1)');
    const insert = `${visibleNode()} -e "new (require('node:sqlite').DatabaseSync)('app.db').exec('insert into t values (2)')" 2>&1`;
    for (const meanwhile of [() => server.exec('insert into t values (3)'), () => {}]) {
      const outcome = await place.run(':', { first: insert, meanwhile });
      expect(held(outcome)?.filter(path => path.startsWith('app.db')).length).toBeGreaterThan(0);
    }
    server.exec('insert into t values (4)');
    expect(server.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' });
    expect(
      server
        .prepare('select who from t')
        .all()
        .map(({ who }) => who),
    ).toEqual(['1', '3', '4']);
    server.close();
    expect(await place.run(insert)).toMatchObject({ status: 'succeeded' });
    const again = new DatabaseSync(`${root}/app.db`);
    expect(
      again
        .prepare('select who from t')
        .all()
        .map(({ who }) => who),
    ).toEqual(['1', '3', '4', '2']);
    again.close();
  });

  it('[S75] a git repository that both commit to stays whole', async () => {
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-C', root, ...IDENTITY, ...args], { encoding: 'utf8' });
    git('init', '-q');
    git('add', '-A');
    git('commit', '-qm', 'first');
    const commit = `echo agent > src/a; git ${IDENTITY.join(' ')} commit -qam agent`;
    const outcome = await place.run(':', {
      first: commit,
      meanwhile: () => {
        write('src/b', 'mine');
        git('add', 'src/b');
      },
    });
    expect(held(outcome)).toContain('.git/index');
    expect([git('diff', '--cached', '--name-only').trim(), git('log', '--format=%s').trim()]).toEqual([
      'src/b',
      'first',
    ]);
    git('fsck', '--strict');
    git('commit', '-qm', 'mine');
    expect(await place.run(commit)).toMatchObject({ status: 'succeeded' });
    expect([git('log', '--format=%s').trim(), git('status', '--porcelain').trim()]).toEqual(['agent\nmine\nfirst', '']);
  });

  it('[S75] names what belongs together', () => {
    expect(companionsOf('a/app.db-wal')).toEqual(['a/app.db', 'a/app.db-shm', 'a/app.db-journal']);
    expect(companionsOf('x/.git/refs/heads/main')).toEqual([
      ...['x/.git/refs/heads/main-wal', 'x/.git/refs/heads/main-shm', 'x/.git/refs/heads/main-journal'],
      ...['x/.git/HEAD', 'x/.git/index', 'x/.git/packed-refs'],
    ]);
  });
});

describe.skipIf(!hasLayers)('changes that are being applied', () => {
  it.each([
    [
      'a file is written to through a descriptor',
      'echo c > src/a; echo d > src/b',
      'src/a',
      () => fs.writeSync(open, 'mine'),
    ],
    [
      'something is put into a directory that goes',
      'rm -rf old; echo d > src/b',
      'old/mine',
      () => fs.writeFileSync(`${place.data}/layers/${usedLayers(`${place.data}/layers`)[0]}/before-0/mine`, 'mine'),
    ],
  ])('[S82] when %s are taken back, and held', async (_, script, path, late) => {
    open = fs.openSync(`${root}/src/a`, 'a');
    let isLate = false;
    const files = {
      ...nodeHostFiles,
      rename(from: string, to: string) {
        nodeHostFiles.rename(from, to);
        if (to !== `${root}/src/b` || isLate) return;
        isLate = true;
        late();
      },
    };
    const own = await openLayered(fs.realpathSync(directory.path), { files });
    const outcome = await own.run(script);
    fs.closeSync(open);
    expect(outcome).toMatchObject({ status: 'failed', rollback: { kind: 'held', held: { conflicts: [{ path }] } } });
    expect([read('src/b'), read(path)]).toEqual(['b', path === 'src/a' ? 'amine' : 'mine']);
  });
  let open = 0;
});

describe.skipIf(!hasLayers)('changes that are held', () => {
  const facts = { startedAt: 0, checkpoints: null };
  async function conflicted() {
    await place.run('echo c > src/a; echo n > src/new; rm src/b', { meanwhile: () => write('src/a', 'mine') });
    const again = await openLayered(fs.realpathSync(directory.path));
    await again.recover();
    const { layering } = again.files;
    if (layering === undefined) throw new Error('no layers');
    return layering;
  }

  it('[S76] wait for a person over a restart, with both versions', async () => {
    const layering = await conflicted();
    expect(layering.held('call-1')).toMatchObject({
      root,
      call: { id: 'call-1', tool: 'run_command' },
      conflicts: [{ path: 'src/a', theirs: 'changed', yours: { size: 4 }, layers: { size: 2 } }],
    });
  });

  it('[S76] and are applied but for what conflicts', async () => {
    const layering = await conflicted();
    const done = must(await layering.settleHeld('call-1', 'apply-rest', facts));
    if (done.kind === 'applied') await done.applied.finish();
    expect([read('src/a'), read('src/new'), fs.existsSync(`${root}/src/b`)]).toEqual(['mine', 'n\n', false]);
    expect(layering.held('call-1')).toBeUndefined();
    await expect.poll(layersLeft).toBe(0);
  });

  it('[S76] or applied over what conflicts', async () => {
    const layering = await conflicted();
    const done = must(await layering.settleHeld('call-1', 'apply-all', facts));
    if (done.kind === 'applied') await done.applied.finish();
    expect([read('src/a'), read('src/new')]).toEqual(['c\n', 'n\n']);
  });

  it('[S76] or dropped', async () => {
    const layering = await conflicted();
    expect(must(await layering.settleHeld('call-1', 'drop', facts)).kind).toBe('dropped');
    expect([read('src/a'), fs.existsSync(`${root}/src/new`)]).toEqual(['mine', false]);
    await expect.poll(layersLeft).toBe(0);
    expect(await layering.settleHeld('call-1', 'drop', facts)).toMatchObject({ ok: false });
  });

  it('[S76] what else was changed since is asked about, and nothing of it is taken unseen', async () => {
    await place.run(':', {
      first: 'echo c > src/a; rm -rf old; echo n > free',
      meanwhile: () => write('src/a', 'mine'),
    });
    const { layering } = place.files;
    if (layering === undefined) throw new Error('no layers');
    write('old/later', 'mine');
    write('free', 'mine');
    for (const choice of ['apply-all', 'apply-rest'] as const) {
      const before = layering.held('call-1');
      if (choice === 'apply-rest') write('old/latest', 'mine');
      expect(await layering.settleHeld('call-1', choice, facts)).toMatchObject({ ok: false });
      const after = layering.held('call-1');
      expect(after?.round).toBe((before?.round ?? 0) + 1);
      expect(after?.conflicts.map(({ path }) => path)).toEqual(expect.arrayContaining(['src/a', 'old/later', 'free']));
    }
    const done = must(await layering.settleHeld('call-1', 'apply-rest', facts));
    if (done.kind === 'applied') await done.applied.finish();
    expect([read('src/a'), read('free'), read('old/later'), read('old/latest'), read('old/x')]).toEqual([
      ...['mine', 'mine', 'mine', 'mine', 'x'],
    ]);
  });

  it('[S76] what was shown must still be so', async () => {
    const layering = await conflicted();
    write('src/a', 'mine again');
    expect(await layering.settleHeld('call-1', 'apply-all', facts)).toMatchObject({
      ok: false,
      error: { code: 'state/conflict' },
    });
    expect([read('src/a'), fs.existsSync(`${root}/src/new`)]).toEqual(['mine again', false]);
  });
});

const IDENTITY = ['-c', 'user.name=x', '-c', 'user.email=x@x', '-c', 'gc.auto=0'];

/** A checkout may lie among the temporary files, which a command does not see: then our Node goes beside the root's files. */
function visibleNode(): string {
  if (!process.execPath.startsWith(`${os.tmpdir()}/`)) return process.execPath;
  fs.copyFileSync(process.execPath, `${root}/node`, fs.constants.COPYFILE_FICLONE);
  return './node';
}
