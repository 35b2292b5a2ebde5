import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { type HeldChoice, nodeHostFiles, settleHeldCall } from '../src/index.ts';
import { companionsOf } from '../src/layers/files-in-use.ts';
import { must, treeOf } from './builders.ts';
import { commandTool, hasLayers, openLayered, usedLayers } from './layered.ts';
import { directory, layersLeft, place, plantEach, read, root, save, write } from './planted-layer.ts';
import { startWriting } from './writing-program.ts';

plantEach();

const held = (outcome: unknown) =>
  (
    outcome as { rollback?: { held?: { conflicts: { path: string; theirs: string }[] } } }
  ).rollback?.held?.conflicts.flatMap(({ path, theirs }) => (theirs === 'open' ? [] : [path]));

describe.skipIf(!hasLayers)('changes that meet those of somebody else', () => {
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

  it('[S74] another name that the command gave a file is no conflict, whatever else changed beside it', async () => {
    const outcome = await place.run('ln src/a src/h; echo more >> src/a; chmod 600 src/b', {
      meanwhile: () => fs.linkSync(`${root}/src/deep/c`, `${root}/src/c2`),
    });
    expect(outcome).toMatchObject({ status: 'succeeded' });
    expect([read('src/a'), read('src/h')]).toEqual(['amore\n', 'amore\n']);
  });

  it('[S76] two modes for one directory leave out that mode, and nothing in the directory', async () => {
    const outcome = await place.run(':', {
      first: 'chmod 700 src; echo n > src/new',
      meanwhile: () => fs.chmodSync(`${root}/src`, 0o711),
    });
    expect(held(outcome)).toEqual(['src']);
    const { state, locks } = place;
    const settle = { state, locks, tool: commandTool, callId: 'call-1', choice: 'apply-rest' as const };
    expect(must(await settleHeldCall(settle))).toMatchObject({ status: 'succeeded' });
    expect([read('src/new'), fs.statSync(`${root}/src`).mode & 0o777]).toEqual(['n\n', 0o711]);
  });

  it('[S78] a root that was replaced while the command ran gets nothing of it', async () => {
    const elsewhere = `${fs.realpathSync(directory.path)}/elsewhere`;
    fs.cpSync(root, elsewhere, { recursive: true });
    const before = treeOf(elsewhere);
    let isBack = () => {};
    const outcome = await place.run(':', {
      first: 'echo c > src/a; echo n > new',
      meanwhile: () => {
        fs.renameSync(root, `${root}-away`);
        fs.symlinkSync(elsewhere, root);
        fs.writeFileSync(`${root}-away/.go`, 'go');
        isBack = () => {
          fs.rmSync(root);
          fs.renameSync(`${root}-away`, root);
        };
      },
    });
    expect(outcome).toMatchObject({ status: 'failed', rollback: { kind: 'dropped' } });
    expect((outcome as { error: { message: string } }).error.message).toContain('is a link now');
    expect(treeOf(elsewhere)).toEqual(before);
    isBack();
    expect([read('src/a'), fs.existsSync(`${root}/new`)]).toEqual(['a', false]);
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
    let isLate = false;
    const files = {
      ...nodeHostFiles,
      link(from: string, to: string) {
        // A descriptor that is open earlier stops the apply before it begins.
        if (from === `${root}/src/a`) open = fs.openSync(from, 'a');
        nodeHostFiles.link(from, to);
      },
      rename(from: string, to: string) {
        nodeHostFiles.rename(from, to);
        if (to !== `${root}/src/b` || isLate) return;
        isLate = true;
        late();
      },
    };
    const own = await openLayered(fs.realpathSync(directory.path), { files });
    const outcome = await own.run(script);
    if (open !== 0) fs.closeSync(open);
    open = 0;
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

  it.each([true, false])('[S350] took as long as their call did, however long the person took: %s', async isHeld => {
    const ended = await place.run('echo c > src/a', {
      meanwhile: () => {
        if (isHeld) write('src/a', 'mine');
        place.clock.advance(250);
      },
    });
    expect(ended).toMatchObject(isHeld ? { rollback: { kind: 'held' } } : { status: 'succeeded' });
    place.clock.advance(90_000);
    const { state, locks } = place;
    const asked = { state, locks, tool: commandTool, callId: 'call-1', choice: 'apply-all' as const };
    if (isHeld) expect(must(await settleHeldCall(asked))).toMatchObject({ status: 'succeeded' });
    expect(place.checkpoints.get('call-1')).toMatchObject({ outcome: 'succeeded', elapsedMs: 250 });
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

  it.each<[string, string, () => void, Record<string, string>, Record<string, string>]>([
    [
      'a directory that it made a file',
      'rm -rf old; echo c > old',
      () => write('old/x', 'mine'),
      { './old': 'file 644 c\n' },
      { './old': 'directory 755', './old/x': 'file 644 mine', './old/y': 'file 644 y' },
    ],
    [
      'a file that it made a directory',
      'rm src/a; mkdir src/a; echo in > src/a/in',
      () => write('src/a', 'mine'),
      { './src/a': 'directory 755', './src/a/in': 'file 644 in\n' },
      { './src/a': 'file 644 mine' },
    ],
    [
      'a directory that it made a link',
      'rm -rf old; ln -s src old',
      () => write('old/mine', 'mine'),
      { './old': 'link src' },
      { './old': 'directory 755', './old/mine': 'file 644 mine', './old/x': 'file 644 x', './old/y': 'file 644 y' },
    ],
  ])('[S86] %s is applied, or left out, as a person chose', async (_, script, meanwhile, all, rest) => {
    for (const [choice, expected] of [['apply-rest', rest] as const, ['apply-all', all] as const]) {
      const own = await openLayered(fs.realpathSync(directory.path));
      const outcome = await own.run(':', { first: `${script}; echo n > new`, meanwhile });
      expect(outcome).toMatchObject({ rollback: { kind: 'held' } });
      const call = own.files.layering?.held(`call-${choice === 'apply-rest' ? 1 : 2}`)?.call.id ?? '';
      const { state, locks } = own;
      const settled = must(await settleHeldCall({ state, locks, tool: commandTool, callId: call, choice }));
      expect(settled).toMatchObject({ status: 'succeeded' });
      const under = Object.entries(treeOf(root)).filter(([path]) => /^\.\/(old|src\/a)(\/|$)/.test(path));
      const others = Object.fromEntries(
        under.filter(([path]) => Object.keys(expected).some(own => path.startsWith(own))),
      );
      expect([choice, others]).toEqual([choice, expected]);
      expect(read('new')).toBe('n\n');
    }
  });

  it('[S87] a database that a program has open is never replaced under it: the choice is asked again', async () => {
    for (const mode of ['wal', 'delete']) {
      fs.mkdirSync(`${root}/db`);
      const server = new DatabaseSync(`${root}/db/app.db`);
      server.exec(`pragma journal_mode=${mode}; create table t(who text); insert into t values (1)`);
      for (const script of ['echo gone > db/app.db', 'rm -rf db']) {
        const own = await openLayered(fs.realpathSync(directory.path));
        const outcome = await own.run(':', { first: script, meanwhile: () => {} });
        expect([mode, script, held(outcome)?.includes('db/app.db')]).toEqual([mode, script, true]);
        const { layering } = own.files;
        const { id } = (outcome as { rollback: { held: { call: { id: string } } } }).rollback.held.call;
        const refused = await layering?.settleHeld(id, 'apply-all', facts);
        expect(refused).toMatchObject({ ok: false, error: { code: 'state/conflict' } });
        expect(layering?.held(id)).toMatchObject({ round: 1 });
        server.exec('insert into t values (2)');
        expect(await layering?.settleHeld(id, 'drop', facts)).toMatchObject({ ok: true });
      }
      const rows = server.prepare('select count(*) as n from t').get();
      server.close();
      expect(rows).toEqual({ n: 3 });
      const again = new DatabaseSync(`${root}/db/app.db`);
      expect(again.prepare('select count(*) as n from t').get()).toEqual({ n: 3 });
      again.close();
      fs.rmSync(`${root}/db`, { recursive: true });
    }
  });

  it.each([
    ['changes', 'echo command >> src/a; echo n > new'],
    ['replaces', 'echo command > src/x; mv src/x src/a; echo n > new'],
    ['removes', 'rm src/a; echo n > new'],
    ['removes with its directory', 'rm -r src; echo n > new'],
    ['moves', 'mv src/a src/z; echo n > new'],
  ])(
    '[S352] [S355] a file that a program has open for writing, and a command %s, is replaced only if a person says so',
    async (_, script) => {
      const program = await startWriting(`${root}/src/a`);
      const by = [{ program: 'sh', pid: program.pid }];
      const first = await place.run(script);
      expect(first).toMatchObject({
        status: 'failed',
        error: { message: expect.stringContaining(`sh (pid ${program.pid}) has src/a open for writing`) },
        rollback: { kind: 'held', held: { conflicts: [{ path: 'src/a', theirs: 'open', by }] } },
      });
      await program.write('+more');
      expect([read('src/a'), fs.existsSync(`${root}/new`)]).toEqual(['a+more\n', false]);
      const { state, locks } = place;
      const choose = (callId: string, choice: HeldChoice) =>
        settleHeldCall({ state, locks, tool: commandTool, callId, choice });
      expect(must(await choose('call-1', 'apply-rest'))).toMatchObject({ status: 'succeeded' });
      await program.write('still');
      expect([read('src/a'), read('new')]).toEqual(['a+more\nstill\n', 'n\n']);
      await place.run(`${script}; rm new`);
      const other = await startWriting(`${root}/src/a`);
      expect(await choose('call-2', 'apply-all')).toMatchObject({ ok: false, error: { code: 'state/conflict' } });
      await other.close();
      expect(must(await choose('call-2', 'apply-all'))).toMatchObject({
        status: 'succeeded',
        warnings: [
          expect.stringContaining(`sh (pid ${program.pid}) has src/a open for writing. A person chose to replace`),
        ],
      });
      expect(fs.existsSync(`${root}/new`)).toBe(false);
      await program.close();
    },
  );

  it('[S352] a program that opens a file while it is replaced keeps it: everything is reverted, and nothing is lost', async () => {
    let descriptor: number | undefined;
    const own = await openLayered(fs.realpathSync(directory.path), {
      files: {
        ...nodeHostFiles,
        link(from, to) {
          // Just before the rename: the last moment at which it can be opened.
          if (from === `${root}/src/a`) descriptor ??= fs.openSync(from, 'a');
          nodeHostFiles.link(from, to);
        },
      },
    });
    const outcome = await own.run('echo command > src/a; rm src/b; echo n > new');
    expect(outcome).toMatchObject({ rollback: { held: { conflicts: [{ path: 'src/a', theirs: 'open' }] } } });
    fs.writeSync(descriptor ?? -1, ' and more');
    fs.closeSync(descriptor ?? -1);
    expect([read('src/a'), read('src/b'), fs.existsSync(`${root}/new`)]).toEqual(['a and more', 'b', false]);
  });

  it('[S78] another directory, or a link, at the path of the root gets nothing, and the choice is asked again', async () => {
    const layering = await conflicted();
    const elsewhere = `${fs.realpathSync(directory.path)}/elsewhere`;
    const away = `${fs.realpathSync(directory.path)}/away`;
    fs.renameSync(root, away);
    for (const replace of [
      () => fs.cpSync(away, root, { recursive: true }),
      () => {
        fs.cpSync(away, elsewhere, { recursive: true });
        fs.symlinkSync(elsewhere, root);
      },
      () => {},
    ]) {
      replace();
      const before = fs.existsSync(root) ? treeOf(`${root}/`) : {};
      for (const choice of ['apply-all', 'apply-rest'] as const) {
        const { round = 0 } = layering.held('call-1') ?? {};
        expect(await layering.settleHeld('call-1', choice, facts)).toMatchObject({ ok: false });
        const conflicts = [{ path: '', theirs: 'moved' }, { path: 'src/a' }];
        expect(layering.held('call-1')).toMatchObject({ round: round + 1, conflicts });
      }
      expect(fs.existsSync(root) ? treeOf(`${root}/`) : {}).toEqual(before);
      fs.rmSync(root, { recursive: true, force: true });
    }
    fs.renameSync(away, root);
    const done = must(await layering.settleHeld('call-1', 'apply-all', facts));
    if (done.kind === 'applied') await done.applied.finish();
    expect([read('src/a'), read('src/new')]).toEqual(['c\n', 'n\n']);
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
