import { execFileSync, spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findLayers, forkAt, nodeHostFiles, rollbackToTool, undoCall } from '../src/index.ts';
import { createOverlayLayers } from '../src/layers/overlay-layers.ts';
import { companionsOf } from '../src/layers/read-changes.ts';
import { must, temporaryDirectory, treeOf } from './builders.ts';
import { begun, hasLayers, type LayeredPlace, openLayered } from './layered.ts';

let directory: ReturnType<typeof temporaryDirectory>;
let place: LayeredPlace;
let root: string;
beforeEach(async () => {
  directory = temporaryDirectory();
  if (!hasLayers) return;
  place = await openLayered(fs.realpathSync(directory.path));
  root = place.root;
  fs.mkdirSync(`${root}/src/deep`, { recursive: true });
  fs.mkdirSync(`${root}/old`);
  fs.writeFileSync(`${root}/src/a`, 'a');
  fs.writeFileSync(`${root}/src/b`, 'b');
  fs.writeFileSync(`${root}/src/deep/c`, 'c');
  fs.writeFileSync(`${root}/old/x`, 'x');
  fs.writeFileSync(`${root}/old/y`, 'y');
  fs.symlinkSync('a', `${root}/src/link`);
});
afterEach(() => {
  try {
    execFileSync('chmod', ['-R', 'u+rwx', directory.path]);
  } catch {
    // What a link leads nowhere for cannot be changed.
  }
  directory.remove();
});

const NOBODY = 65534;
const read = (path: string) => fs.readFileSync(`${root}/${path}`, 'utf8');
const write = (path: string, text: string) => fs.writeFileSync(`${root}/${path}`, text);
/** As editors save: a new file takes the place of the old one. */
const save = (path: string, text: string) => {
  write(`${path}~`, text);
  fs.renameSync(`${root}/${path}~`, `${root}/${path}`);
};
const layersLeft = () => fs.readdirSync(`${place.data}/layers`).length;

describe.skipIf(!hasLayers)('a command on a layer', () => {
  it('[S70] finds the root at its own path, and changes nothing there before it has succeeded', async () => {
    const before = treeOf(root);
    let during = {};
    const outcome = await place.run('pwd; id -u; cat src/a; echo changed > src/a; cat src/a', {
      meanwhile: () => {
        during = treeOf(root);
      },
    });
    expect(outcome).toMatchObject({ status: 'succeeded' });
    expect((outcome as { value: { output: string } }).value.output).toBe(`${root}\n${process.geteuid?.()}\nachanged\n`);
    expect(during).toEqual({ ...before, './.go': 'file 644 ' });
    expect(treeOf(root)).toEqual({ ...before, './src/a': 'file 644 changed\n' });
    expect(layersLeft()).toBe(0);
  });

  it('[S70] nobody waits for another one on the same root', async () => {
    await place.run('echo 1 > one', {
      async meanwhile() {
        expect(await place.run('echo 2 > two')).toMatchObject({ status: 'succeeded' });
      },
    });
    expect([read('one'), read('two')]).toEqual(['1\n', '2\n']);
  });

  it.each(['exit 3', 'kill -9 $$', 'sleep 600'])(
    '[S71] that ends with %s leaves what others did, and nothing of its own',
    async end => {
      const aborter = new AbortController();
      const outcome = await place.run(`echo bad > src/a; rm -rf old; echo bad > new; ${end}`, {
        signal: aborter.signal,
        meanwhile: () => {
          write('src/a', 'mine');
          write('mine', 'mine');
          fs.rmSync(`${root}/src/b`);
          if (end === 'sleep 600') aborter.abort();
        },
      });
      expect(outcome).toMatchObject({ status: 'failed', rollback: { kind: 'dropped' } });
      expect(treeOf(root)).toEqual({
        './mine': 'file 644 mine',
        './old': 'directory 755',
        './old/x': 'file 644 x',
        './old/y': 'file 644 y',
        './src': 'directory 755',
        './src/a': 'file 644 mine',
        './src/deep': 'directory 755',
        './src/deep/c': 'file 644 c',
        './src/link': 'link a',
      });
      expect(layersLeft()).toBe(0);
    },
  );

  it('[S71] that takes too long is stopped and dropped', async () => {
    const before = treeOf(root);
    expect(await place.run('echo bad > src/a; sleep 600', { timeoutMs: 300 })).toMatchObject({
      status: 'failed',
      rollback: { kind: 'dropped' },
    });
    expect(treeOf(root)).toEqual(before);
  });

  it('[S72] has everything that it changed applied', async () => {
    fs.mkdirSync(`${root}/.git/refs`, { recursive: true });
    write('.git/HEAD', 'ref');
    fs.mkdirSync(`${root}/node_modules/dep`, { recursive: true });
    write('node_modules/dep/index.js', '1');
    write('same', 'same');
    const { ino } = fs.statSync(`${root}/same`);
    const script = [
      'echo changed > src/a; rm src/b; mv src/deep src/moved; ln -sfn b src/link; chmod 750 src',
      'rm -rf old; mkdir old; echo z > old/z',
      'mkdir -p new/inner; echo n > new/inner/n; ln new/inner/n new/hard; chmod 500 new/inner; mkfifo pipe',
      'echo head > .git/HEAD; rm -r .git/refs; echo 2 > node_modules/dep/index.js; echo 3 > node_modules/new.js',
      'cp same copy; cat copy > same; touch -d 2001-01-01 stamped',
      'rm -r src/moved/c; mkdir src/moved/c; echo d > src/moved/c/d',
    ].join('\n');
    expect(await place.run(script)).toMatchObject({ status: 'succeeded' });
    expect(treeOf(root)).toEqual({
      './.git': 'directory 755',
      './.git/HEAD': 'file 644 head\n',
      './copy': 'file 644 same',
      './new': 'directory 755',
      './new/hard': 'file 644 n\n',
      './new/inner': 'directory 500',
      './new/inner/n': 'file 644 n\n',
      './node_modules': 'directory 755',
      './node_modules/dep': 'directory 755',
      './node_modules/dep/index.js': 'file 644 2\n',
      './node_modules/new.js': 'file 644 3\n',
      './old': 'directory 755',
      './old/z': 'file 644 z\n',
      './pipe': 'other',
      './same': 'file 644 same',
      './src': 'directory 750',
      './src/a': 'file 644 changed\n',
      './src/link': 'link b',
      './src/moved': 'directory 755',
      './src/moved/c': 'directory 755',
      './src/moved/c/d': 'file 644 d\n',
      './stamped': 'file 644 ',
    });
    expect(fs.statSync(`${root}/new/hard`).ino).toBe(fs.statSync(`${root}/new/inner/n`).ino);
    expect(fs.statSync(`${root}/stamped`).mtime.getUTCFullYear()).toBe(2001);
    expect(ino).toBeGreaterThan(0);
  });

  it.each([['a:b', 'c,d', 'e\nf', 'g\\h', '"i"', "j'k", '$(l)', ' m ']])(
    '[S72] and its root may have any name',
    async (...names) => {
      const odd = `${fs.realpathSync(directory.path)}/${names.join('')}`;
      const own = await openLayered('', { root: `${odd}/root,:\n\\x`, data: `${odd}/data,:\n\\y` });
      for (const name of names) fs.writeFileSync(`${own.root}/${name}`, 'old');
      fs.writeFileSync(Buffer.concat([Buffer.from(`${own.root}/`), Buffer.from([0xff])]), 'odd');
      expect(await own.run('for name in *; do echo new > "$name"; done; rm "$(printf "\\377")"')).toMatchObject({
        status: 'succeeded',
      });
      expect(Object.values(treeOf(own.root))).toEqual(names.map(() => 'file 644 new\n'));
      expect(fs.readdirSync(own.root).sort()).toEqual(names.toSorted());
    },
  );

  it('[S72] a directory that it left without permissions is applied, for root and for others', async () => {
    expect(await place.run('mkdir shut; echo s > shut/s; chmod 000 shut; chmod 600 src; chmod 555 .')).toMatchObject({
      status: 'succeeded',
    });
    const mode = (path: string) => fs.statSync(`${root}/${path}`).mode & 0o777;
    expect([mode('shut'), mode('src'), mode('')]).toEqual([0, 0o600, 0o555]);
    fs.chmodSync(`${root}/shut`, 0o700);
    expect(read('shut/s')).toBe('s\n');
    expect(await place.run('chmod 755 . src; echo again > src/a')).toMatchObject({ status: 'succeeded' });
    expect(read('src/a')).toBe('again\n');
  });
});

const IDENTITY = ['-c', 'user.name=x', '-c', 'user.email=x@x', '-c', 'gc.auto=0'];

/** A checkout may lie among the temporary files, which a command does not see: then our Node goes beside the root's files. */
function visibleNode(): string {
  if (!process.execPath.startsWith(`${os.tmpdir()}/`)) return process.execPath;
  fs.copyFileSync(process.execPath, `${root}/node`, fs.constants.COPYFILE_FICLONE);
  return './node';
}

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
      () => fs.writeFileSync(`${place.data}/layers/${fs.readdirSync(`${place.data}/layers`)[0]}/before-0/mine`, 'mine'),
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
    expect([layering.held('call-1'), layersLeft()]).toEqual([undefined, 0]);
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
    expect([read('src/a'), fs.existsSync(`${root}/src/new`), layersLeft()]).toEqual(['mine', false, 0]);
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

describe.skipIf(!hasLayers)('a root without a layer', () => {
  it.skipIf(process.getuid?.() !== 0)(
    '[S81] because of a mount inside it is worked on in place, from a snapshot',
    async () => {
      fs.mkdirSync(`${root}/mounted`);
      execFileSync('mount', ['-t', 'tmpfs', 'none', `${root}/mounted`]);
      try {
        expect(await place.files.layering?.open()).toMatchObject({
          ok: false,
          error: { code: 'state/no-layer', message: expect.stringContaining('mounted inside it') },
        });
        expect(await place.run('echo c > src/a')).toMatchObject({ status: 'succeeded' });
        expect(await place.run('echo bad > src/a; exit 1')).toMatchObject({
          status: 'failed',
          rollback: { kind: 'restored' },
        });
        expect(read('src/a')).toBe('c\n');
      } finally {
        execFileSync('umount', [`${root}/mounted`]);
      }
    },
  );

  it('[S81] because a mount is refused runs nothing before it is worked on in place', async () => {
    const programs = { unshare: '/usr/bin/false', mount: '/usr/bin/false' };
    const layers = createOverlayLayers({ home: `${place.data}/layers`, programs });
    const own = await openLayered(fs.realpathSync(directory.path), { layers });
    expect(await own.run('echo c >> src/a; exit 1')).toMatchObject({
      status: 'failed',
      rollback: { kind: 'restored' },
    });
    expect(await own.run('echo c >> src/a')).toMatchObject({ status: 'succeeded' });
    expect(read('src/a')).toBe('ac\n');
    expect(await own.files.layering?.open()).toMatchObject({ ok: false });
  });

  it.skipIf(process.getuid?.() !== 0)(
    '[S81] because of files of another group is worked on in place once a command failed',
    async () => {
      const gid = 4242;
      const base = `${fs.realpathSync(directory.path)}/own`;
      fs.mkdirSync(`${base}/root`, { recursive: true });
      fs.writeFileSync(`${base}/root/shared`, 'old');
      for (const one of ['', '/root', '/root/shared'])
        fs.chownSync(base + one, NOBODY, one === '/root/shared' ? gid : NOBODY);
      fs.chmodSync(directory.path, 0o755);
      fs.chmodSync(`${base}/root/shared`, 0o664);
      const child = path.join(import.meta.dirname, 'layer-owner.ts');
      const script = `process.setgroups([${gid}]);process.setgid(${NOBODY});process.setuid(${NOBODY});process.argv.splice(1,0,'');await import(${JSON.stringify(child)})`;
      const ended = spawnSync(process.execPath, ['--input-type=module', '-e', script, base, 'echo c > shared'], {
        encoding: 'utf8',
      });
      expect([ended.stderr, fs.readFileSync(`${base}/root/shared`, 'utf8')]).toEqual(['', 'c\n']);
    },
  );

  it('[S84] a view ends when it is let go, and with the process that opened it', async () => {
    const child = path.join(import.meta.dirname, 'layer-owner.ts');
    write('.go', '');
    const owner = spawn(process.execPath, [child, fs.realpathSync(directory.path), ': > .begun; sleep 3600'], {
      stdio: 'ignore',
    });
    await begun(`${place.data}/layers`, new Set());
    const holders = () =>
      execFileSync('sh', ['-c', `grep -l ${JSON.stringify(`${root} `)} /proc/[0-9]*/mountinfo || true`], {
        stdio: ['ignore', 'pipe', 'ignore'],
      }).toString();
    expect(holders()).not.toBe('');
    owner.kill('SIGKILL');
    await expect.poll(holders).toBe('');
    expect(await place.recover()).toEqual([]);
  });
});

describe.skipIf(!hasLayers)('calls on layers', () => {
  const checkpoint = (id: string) => {
    const found = place.checkpoints.get(id);
    if (found === undefined) throw new Error(`no ${id}`);
    return found;
  };

  it('[S79] are undone path by path, also in .git and node_modules', async () => {
    fs.mkdirSync(`${root}/.git`);
    write('.git/index', 'one');
    const before = treeOf(root);
    await place.run(
      'echo c > src/a; rm -rf old; mkdir -p node_modules/d; echo 1 > node_modules/d/i; echo two > .git/index; chmod 700 src',
    );
    write('mine', 'mine');
    const undone = must(await undoCall({ files: place.files, checkpoint: checkpoint('call-1'), locks: place.locks }));
    expect(undone.lost).toEqual([]);
    expect(treeOf(root)).toEqual({ ...before, './mine': 'file 644 mine' });
    expect(
      must(await undoCall({ files: place.files, checkpoint: checkpoint('call-1'), locks: place.locks })).paths,
    ).toEqual([]);
  });

  it('[S79] are not undone over what somebody else changed since', async () => {
    await place.run('echo c > src/a; mkdir new; echo n > new/n');
    write('new/mine', 'mine');
    const before = treeOf(root);
    const refused = await undoCall({ files: place.files, checkpoint: checkpoint('call-1'), locks: place.locks });
    expect(refused).toMatchObject({ ok: false, error: { code: 'state/conflict', details: { paths: ['new/mine'] } } });
    expect(treeOf(root)).toEqual(before);
  });

  it('[S80] are rolled back together', async () => {
    const before = treeOf(root);
    await place.run('echo 1 > src/a; mkdir made; echo 1 > made/1; rm -rf src/deep');
    await place.run('echo 2 > src/a; echo 2 > made/2; rm made/1; mkdir src/deep; echo 2 > src/deep/c');
    await place.run('rm -rf made old; echo 3 > src/deep/d');
    write('mine', 'mine');
    const afterFirst = { ...before, './mine': 'file 644 mine' };
    must(await rollbackToTool({ state: place.state, locks: place.locks, toolCallId: 'call-1' }));
    expect(treeOf(root)).toEqual(afterFirst);
  });

  it('[S80] can be forked from', async () => {
    await place.run('echo 1 > src/a');
    const middle = treeOf(root);
    await place.run('echo 2 > src/a; rm -rf old; echo n > new');
    const into = await openLayered('', { root: `${directory.path}/fork`, data: place.data });
    must(
      await forkAt({
        state: place.state,
        toolCallId: 'call-1',
        into: { sessionId: place.state.ids.mint(), resources: into.state.resources },
      }),
    );
    expect(treeOf(into.root)).toEqual(middle);
  });

  it('[S78] a root that was replaced by a link is not touched', async () => {
    fs.mkdirSync(`${directory.path}/other`);
    const outcome = await place.run('echo c > src/a', {
      meanwhile: () => {
        fs.appendFileSync(`${root}/.go`, 'go');
        fs.renameSync(root, `${root}-away`);
        fs.symlinkSync(`${directory.path}/other`, root);
      },
    });
    expect(outcome).toMatchObject({ status: 'failed' });
    expect(treeOf(`${directory.path}/other`)).toEqual({});
    expect(fs.readFileSync(`${root}-away/src/a`, 'utf8')).toBe('a');
  });

  it('[S83] leave nothing behind when their process dies, but for what is held', async () => {
    await place.run('echo c > src/a', { meanwhile: () => write('src/a', 'mine') });
    const [kept] = fs.readdirSync(`${place.data}/layers`);
    fs.mkdirSync(`${place.data}/layers/left/upper`, { recursive: true });
    fs.writeFileSync(
      `${place.data}/layers/left/call.json`,
      JSON.stringify({ id: 'call-9', tool: 'run_command', evaluation: 'test' }),
    );
    expect(must(findLayers(`${place.data}/layers`)).sweep(new Set())).toEqual([
      { id: 'call-9', tool: 'run_command', evaluation: 'test' },
    ]);
    expect(fs.readdirSync(`${place.data}/layers`)).toEqual([kept]);
  });
});
