import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as net from 'node:net';
import { describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { type FilesystemSnapshot, filesystem, findLayers, forkAt, rollbackToTool, undoCall } from '../src/index.ts';
import { createCopies } from '../src/layers/layer-copies.ts';
import { createOverlayLayers } from '../src/layers/overlay-layers.ts';
import { must, treeOf } from './builders.ts';
import { begun, hasLayers, openLayered, usedLayers } from './layered.ts';
import { directory, layersLeft, place, plantEach, read, root, save, write } from './planted-layer.ts';

plantEach();

const NOBODY = 65534;

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
    await expect.poll(layersLeft).toBe(0);
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
      await expect.poll(layersLeft).toBe(0);
    },
  );

  it.each([0o000, 0o400, 0o600, 0o300])(
    '[S184] that fails beside a directory of mode %o is dropped like any other',
    async mode => {
      fs.chmodSync(`${root}/old`, mode);
      const outcome = await place.run('echo bad > src/a; exit 3');
      expect(outcome).toMatchObject({ status: 'failed', rollback: { kind: 'dropped' } });
      expect([read('src/a'), fs.statSync(`${root}/old`).mode & 0o777]).toEqual(['a', mode]);
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

  it('[S351] because a mount is refused says what `mount` said first, once', async () => {
    const mount = `${directory.path}/mount`;
    const said = ['mount: bad superblock, or other error.', '       dmesg(1) may know more.'];
    fs.writeFileSync(mount, `#!/bin/sh\n${said.map(one => `echo '${one}' >&2`).join('\n')}\nexit 32\n`, {
      mode: 0o755,
    });
    const layers = createOverlayLayers({
      home: `${place.data}/layers`,
      programs: { unshare: '/usr/bin/unshare', mount },
    });
    const own = await openLayered(fs.realpathSync(directory.path), { layers });
    expect(await own.run('true')).toMatchObject({ status: 'succeeded' });
    const why = `${root} cannot have layers: mount: bad superblock, or other error`;
    const opened = await own.files.layering?.open();
    expect(opened).toMatchObject({ ok: false, error: { message: why } });
    fs.mkdirSync(`${root}/data/layers`, { recursive: true });
    expect(await createCopies(`${root}/data/layers`).open(root, why)).toMatchObject({
      ok: false,
      error: { message: `${why}; and it cannot be copied: the data directory is inside it` },
    });
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
      const child = childScript(import.meta.dirname, 'layer-owner-child.ts');
      const script = `process.setgroups([${gid}]);process.setgid(${NOBODY});process.setuid(${NOBODY});process.argv.splice(1,0,'');await import(${JSON.stringify(child)})`;
      const ended = spawnSync(process.execPath, ['--input-type=module', '-e', script, base, 'echo c > shared'], {
        encoding: 'utf8',
      });
      expect([ended.stderr, fs.readFileSync(`${base}/root/shared`, 'utf8')]).toEqual(['', 'c\n']);
    },
  );

  it('[S84] a view ends when it is let go, and with the process that opened it', async () => {
    const child = childScript(import.meta.dirname, 'layer-owner-child.ts');
    const own = `${fs.realpathSync(directory.path)}/own`;
    fs.mkdirSync(own);
    const owner = spawn(process.execPath, [child, own, ': > .begun; sleep 3600'], { stdio: 'ignore' });
    await expect.poll(() => fs.existsSync(`${own}/data/layers`)).toBe(true);
    await begun(`${own}/data/layers`, new Set());
    expect(onLayerOf(`${own}/root`)).not.toEqual([]);
    owner.kill('SIGKILL');
    await expect.poll(() => onLayerOf(`${own}/root`)).toEqual([]);
    expect(await (await openLayered(own)).recover()).toEqual([]);
  });
});

function nameOf(pid: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}

/** The processes that see a layer of a root. */
function onLayerOf(root: string): readonly string[] {
  return fs.readdirSync('/proc').filter(pid => {
    try {
      return fs.readFileSync(`/proc/${pid}/mounts`, 'utf8').includes(`overlay ${root} overlay`);
    } catch {
      return false;
    }
  });
}

describe.skipIf(!hasLayers)('the layer of the next call', () => {
  it('[S85] is made ahead, once', async () => {
    await place.run('echo c > src/a');
    await expect.poll(() => fs.readdirSync(`${place.data}/layers`).length).toBe(1);
    const [ahead = ''] = fs.readdirSync(`${place.data}/layers`);
    let used: readonly string[] = [];
    await place.run('echo d > src/a', {
      meanwhile: () => {
        used = usedLayers(`${place.data}/layers`);
      },
    });
    expect([used, read('src/a')]).toEqual([[ahead], 'd\n']);
  });

  it.skipIf(process.geteuid?.() !== 0)('[S85] is made anew where something was mounted since', async () => {
    const other = `${directory.path}/other`;
    fs.mkdirSync(other);
    await place.run('echo c > src/a');
    await expect.poll(() => fs.readdirSync(`${place.data}/layers`).length).toBe(1);
    await expect.poll(() => onLayerOf(root)).not.toEqual([]);
    const [ahead = ''] = fs.readdirSync(`${place.data}/layers`);
    execFileSync('mount', ['-t', 'tmpfs', 'other', other]);
    try {
      let used: readonly string[] = [];
      await place.run('echo d > src/a', {
        meanwhile: () => {
          used = usedLayers(`${place.data}/layers`);
        },
      });
      expect([used.length, used.includes(ahead), read('src/a')]).toEqual([1, false, 'd\n']);
    } finally {
      execFileSync('umount', [other]);
    }
  });

  /** The layer that waits, mounted, and the one that the next call is on. */
  async function aheadAndUsed(meanwhile: () => void, script: string) {
    await place.run('echo c > src/a');
    await expect.poll(() => fs.readdirSync(`${place.data}/layers`).length).toBe(1);
    await expect.poll(() => onLayerOf(root)).not.toEqual([]);
    const ours = fs.readFileSync('/proc/self/mounts', 'utf8');
    const [ahead = ''] = fs.readdirSync(`${place.data}/layers`);
    meanwhile();
    let used: readonly string[] = [];
    const outcome = await place.run(script, {
      meanwhile: () => {
        used = usedLayers(`${place.data}/layers`);
      },
    });
    // Other tests mount things meanwhile.
    const isAsBefore = fs.readFileSync('/proc/self/mounts', 'utf8') === ours;
    return { isAhead: used.includes(ahead), isAsBefore, outcome };
  }

  it('[S182] is mounted, and shows what was changed in the root before the call', async () => {
    const change = () => {
      save('src/a', 'saved');
      write('new', 'new');
      fs.rmSync(`${root}/old`, { recursive: true });
      fs.mkdirSync(`${root}/old`);
      write('old/z', 'z');
      fs.renameSync(`${root}/src/deep`, `${root}/deep`);
    };
    const { isAhead, isAsBefore, outcome } = await aheadAndUsed(
      change,
      'cat src/a new; ls src old deep; echo mine >> src/a',
    );
    if (isAsBefore) expect(isAhead).toBe(true);
    expect(outcome).toMatchObject({
      status: 'succeeded',
      value: { output: 'savednewdeep:\nc\n\nold:\nz\n\nsrc:\na\nb\nlink\n' },
    });
    expect(read('src/a')).toBe('savedmine\n');
  });

  it('[S182] is not used if the root has another mode', async () => {
    const mode = await aheadAndUsed(() => fs.chmodSync(root, 0o750), 'stat -c %a . > mode');
    expect([mode.isAhead, read('mode'), fs.statSync(root).mode & 0o777]).toEqual([false, '750\n', 0o750]);
  });

  it('[S222] has its sandbox started ahead, which is used for a command that would get the same one now', async () => {
    const sees = async (script: string) => {
      const outcome = await place.run(script);
      return outcome.status === 'succeeded' ? (outcome.value as { output: string }).output : outcome.status;
    };
    const shells = () => onLayerOf(root).filter(pid => nameOf(pid) === 'sh').length;
    await place.run('true');
    await expect.poll(shells).toBe(1);
    expect(await sees('echo here')).toBe('here\n');
    await expect.poll(shells).toBe(1);
    // A socket that listens since must be covered, too.
    const at = `${root}/socket`;
    const server = net.createServer().listen(at);
    await once(server, 'listening');
    try {
      expect(await sees('[ -S socket ] && echo seen || echo covered')).toBe('covered\n');
    } finally {
      server.close();
    }
    expect(await sees('echo again')).toBe('again\n');
  });

  it('[S222] tells of a program that cannot be started as it does without', async () => {
    const start = async (...command: string[]) => {
      const call = { id: `start ${command.join(' ')}`, name: 'run_command', input: { command } };
      return must(await place.runner.execute(call));
    };
    await place.run('true');
    for (const name of ['no-such-program', './src/a', '-x', 'a b\n c']) {
      await expect.poll(() => onLayerOf(root)).not.toEqual([]);
      expect(await start(name, '1')).toMatchObject({
        status: 'failed',
        error: { message: expect.stringContaining('could not be started') },
      });
    }
    expect(await start('/bin/sh', '-c', 'exit 127')).toMatchObject({
      error: { message: expect.stringContaining('exited with 127') },
    });
  });

  it('[S85] ends with its process', async () => {
    const child = childScript(import.meta.dirname, 'layer-owner-child.ts');
    const own = `${fs.realpathSync(directory.path)}/own`;
    fs.mkdirSync(own);
    const owner = spawn(process.execPath, [child, own, 'true'], { stdio: ['pipe', 'ignore', 'ignore'] });
    try {
      await expect.poll(() => onLayerOf(`${own}/root`)).not.toEqual([]);
    } finally {
      owner.kill('SIGKILL');
    }
    await expect.poll(() => onLayerOf(`${own}/root`)).toEqual([]);
  });
});

describe.skipIf(!hasLayers)('calls on layers', () => {
  const checkpoint = (id: string) => {
    const found = place.checkpoints.get(id);
    if (found === undefined) throw new Error(`no ${id}`);
    return found;
  };

  it('[S183] are undone below directories that their owner may not look into, and those are closed again', async () => {
    fs.mkdirSync(`${root}/private`);
    write('private/s', 's');
    fs.chmodSync(`${root}/private`, 0o000);
    await place.run(
      'chmod 700 private; echo more >> private/s; chmod 000 private; mkdir secret; echo q > secret/q; chmod 000 secret',
    );
    const undone = must(await undoCall({ files: place.files, checkpoint: checkpoint('call-1'), locks: place.locks }));
    expect([undone.lost, fs.existsSync(`${root}/secret`)]).toEqual([[], false]);
    expect(fs.statSync(`${root}/private`).mode & 0o777).toBe(0);
    fs.chmodSync(`${root}/private`, 0o700);
    expect(read('private/s')).toBe('s');
  });

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

  it('[S106] are not undone over a later call, which is named with all that it changed', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `src/n${at}`);
    await place.run('for n in $(seq 0 29); do echo 1 > src/n$n; done');
    await place.run('for n in $(seq 0 28); do echo 2 > src/n$n; done');
    write('src/n29', 'mine');
    const later = async () => [laterCall('call-2')];
    const refused = await undoCall({ files: place.files, checkpoint: checkpoint('call-1'), locks: place.locks, later });
    expect(refused).toMatchObject({
      error: {
        message: expect.stringMatching(
          /^call call-2 of run_command changed .* 26 more, and someone else changed src\/n29 since/,
        ),
        details: { total: names.length },
      },
    });
  });

  const laterCall = (id: string) => {
    const { toolCallId, toolName, pre, post } = checkpoint(id);
    const filesOf = (one: typeof pre | null) => one?.resources.get(filesystem.name) as FilesystemSnapshot;
    return { toolCallId, toolName, before: filesOf(pre), after: filesOf(post) };
  };

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
    const [kept] = usedLayers(`${place.data}/layers`);
    fs.mkdirSync(`${place.data}/layers/left/upper`, { recursive: true });
    fs.writeFileSync(
      `${place.data}/layers/left/call.json`,
      JSON.stringify({ id: 'call-9', tool: 'run_command', evaluation: 'test' }),
    );
    expect(must(findLayers(`${place.data}/layers`)).sweep(new Set())).toEqual([
      { id: 'call-9', tool: 'run_command', evaluation: 'test', isUntouched: true },
    ]);
    await expect.poll(() => fs.readdirSync(`${place.data}/layers`)).toEqual([kept]);
  });
});
