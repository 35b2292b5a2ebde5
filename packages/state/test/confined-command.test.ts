import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as net from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { createRunCommand, detectSandbox, type ToolOutcome } from '../src/index.ts';
import { createTestRunner, createTestState, must, openTestFilesystem, temporaryDirectory, treeOf } from './builders.ts';

const detected = await detectSandbox();
const tool = createRunCommand({ sandbox: async () => detected });
const hasNamespaces = detected.ok && detected.value.name === 'bubblewrap';

let directory: ReturnType<typeof temporaryDirectory>;
let root: string;
let outside: string;
let data: string;
beforeEach(() => {
  directory = temporaryDirectory();
  const base = fs.realpathSync(directory.path);
  root = `${base}/root`;
  outside = `${base}/outside`;
  data = `${base}/data`;
  for (const one of [root, outside, data]) fs.mkdirSync(one);
  fs.writeFileSync(`${data}/token`, 'secret');
});
afterEach(() => directory.remove());

/** Not under the directory for temporary files, of which a command has its own. */
const beside = path.join(process.env.SIGNALBOX_TEST_PLACE ?? import.meta.dirname, `.confined-${process.pid}`);
afterAll(() => fs.rmSync(beside, { recursive: true, force: true }));

/** A checkout may lie among the temporary files, which a command does not see: then our Node goes into the root. */
function visibleNode(): string {
  if (!process.execPath.startsWith(`${os.tmpdir()}/`)) return process.execPath;
  fs.copyFileSync(process.execPath, `${root}/node`, fs.constants.COPYFILE_FICLONE);
  return `${root}/node`;
}

let calls = 0;
async function run(
  command: readonly string[],
  options: { input?: object; dataDirectory?: string; signal?: AbortSignal; root?: string } = {},
): Promise<ToolOutcome> {
  const files = openTestFilesystem(options.root ?? root, { dataDirectory: options.dataDirectory ?? data });
  const runner = createTestRunner(createTestState({ files }).state, { tools: [tool] });
  const call = { id: `${++calls}`, name: 'run_command', input: { command, ...options.input } };
  return must(await runner.execute(call, options.signal === undefined ? {} : { signal: options.signal }));
}
const shell = (script: string, options?: Parameters<typeof run>[1]) => run(['sh', '-c', script], options);
const said = (outcome: ToolOutcome): string => {
  if (outcome.status === 'unknown') throw new Error(outcome.error.message);
  const value = outcome.value as { output?: string } | undefined;
  if (value?.output === undefined) throw new Error(JSON.stringify(outcome));
  return value.output;
};

describe.skipIf(!hasNamespaces)('a confined command', () => {
  it('[S58] runs in the root, keeps what it did if it exits with 0, and undoes it otherwise', async () => {
    expect(await shell('pwd; echo made > made; echo seen >&2')).toEqual({
      status: 'succeeded',
      value: { exitCode: 0, output: `${root}\nseen\n`, truncated: false },
      warnings: [],
    });
    const before = treeOf(root);
    expect(await shell('rm made; mkdir -p x/y; echo no; exit 3')).toMatchObject({
      status: 'failed',
      value: { exitCode: 3, output: 'no\n' },
      rollback: { kind: 'restored' },
    });
    expect(treeOf(root)).toEqual(before);
    expect([tool.risk, tool.effects]).toEqual(['medium', { kind: 'files', onLayer: true }]);
  });

  it('[S58] is stopped by its timeout or by cancellation, with everything in it, and undone', async () => {
    const before = treeOf(root);
    const late = await shell('echo x > made; setsid sleep 600 & sleep 600', { input: { timeoutMs: 300 } });
    expect(late).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('longer than 300 ms') } });
    expect(treeOf(root)).toEqual(before);

    fs.mkdirSync(`${root}/watched`);
    const aborter = new AbortController();
    const watcher = fs.watch(`${root}/watched`, () => aborter.abort());
    const canceled = await shell('echo x > watched/made; sleep 600', { signal: aborter.signal });
    watcher.close();
    expect(canceled).toMatchObject({ error: { code: 'tool/canceled' }, rollback: { kind: 'restored' } });
    expect(fs.readdirSync(`${root}/watched`)).toEqual([]);
  });

  it('[S58] keeps only the first of a long output', async () => {
    const outcome = await shell('head -c 200000 /dev/zero | tr "\\0" x');
    expect(outcome).toMatchObject({ value: { exitCode: 0, output: 'x'.repeat(65536), truncated: true } });
  });

  it('[S58] a program that is not there, or may not be started, is a failure', async () => {
    fs.writeFileSync(`${root}/plain`, 'not a program');
    for (const program of ['no-such-program', './plain']) {
      expect(await run([program])).toMatchObject({
        status: 'failed',
        error: { message: expect.stringMatching(/could not be started: .*(No such file|Permission denied)/) },
      });
    }
  });

  it('[S60] cannot write outside the root, nor through a link that leads out of it', async () => {
    fs.mkdirSync(beside, { recursive: true });
    fs.writeFileSync(`${beside}/file`, 'as it was');
    fs.symlinkSync(beside, `${root}/link`);
    fs.symlinkSync(`${beside}/file`, `${root}/to-file`);
    const before = treeOf(beside);
    for (const script of [
      `echo x > ${beside}/new`,
      `echo x > ${beside}/file`,
      'echo x > link/new',
      'echo x > to-file',
      `rm ${beside}/file`,
      `chmod 777 ${beside}`,
      `mv ${beside}/file .`,
      'echo x > /etc/signalbox-test',
      'echo x > /proc/sys/kernel/domainname',
      `mount -o remount,rw /`,
    ]) {
      expect({ script, status: (await shell(script)).status }).toEqual({ script, status: 'failed' });
    }
    expect(treeOf(beside)).toEqual(before);
  });

  it('[S60] has places of its own for temporary files and for its home, which are gone afterwards', async () => {
    const place = fs.mkdtempSync('/tmp/signalbox-shared-');
    try {
      const script = `echo x > "$HOME/a" && echo y > "$TMPDIR/b" && cat "$HOME/a" "$TMPDIR/b"; ls ${place}; ls /run`;
      expect(said(await shell(script))).toMatch(/^x\ny\nls: .*No such file/);
      expect(said(await shell('ls -A "$HOME" | grep -x a; echo end'))).toBe('end\n');
    } finally {
      fs.rmSync(place, { recursive: true });
    }
  });

  it('[S60] a root that holds the directories of the system is refused', async () => {
    for (const wide of ['/', '/tmp']) {
      if (!detected.ok) throw new Error('there is a sandbox');
      const { ended } = detected.value.start({ command: ['true'], root: wide, refused: [], env: {} });
      expect(await ended).toEqual({ kind: 'not started', reason: expect.stringContaining('cannot be confined') });
    }
  });

  it('[S61] cannot read the data directory, wherever it is and whatever leads to it', async () => {
    fs.mkdirSync(`${root}/inside/data`, { recursive: true });
    fs.writeFileSync(`${root}/inside/data/token`, 'secret');
    fs.symlinkSync('inside/data', `${root}/shortcut`);
    const inside = { dataDirectory: `${root}/inside/data` };
    for (const script of ['cat inside/data/token', 'cat shortcut/token', 'mv inside moved && cat moved/data/token']) {
      const outcome = await shell(script, inside);
      expect({ script, status: outcome.status }).toEqual({ script, status: 'failed' });
      expect(said(outcome)).not.toContain('secret');
    }
    expect(said(await shell('exec 2>&1; ls -A inside/data; echo x > inside/data/new; echo end', inside))).toMatch(
      /Read-only.*\nend\n$/,
    );
    expect(treeOf(`${root}/inside`)).toEqual({
      './data': 'directory 755',
      './data/token': 'file 644 secret',
    });

    fs.mkdirSync(beside, { recursive: true });
    fs.writeFileSync(`${beside}/token`, 'secret');
    const elsewhere = await shell(`cat ${beside}/token`, { dataDirectory: beside });
    expect([elsewhere.status, said(elsewhere)]).toEqual(['failed', expect.stringContaining('No such file')]);
  });

  it.skipIf(process.geteuid?.() !== 0)(
    '[S174] [S61] cannot read it where a mount shows it by another path',
    async () => {
      const around = `${data}-around`;
      fs.mkdirSync(`${around}/own/data`, { recursive: true });
      fs.writeFileSync(`${around}/own/data/token`, 'secret');
      fs.mkdirSync(`${root}/mounted`, { recursive: true });
      execFileSync('mount', ['--bind', around, `${root}/mounted`]);
      try {
        const tools = { dataDirectory: `${around}/own/data` };
        for (const at of [root, `${root}/mounted`, `${root}/mounted/own`]) {
          const outcome = await shell('grep -rs secret . ; echo end', { ...tools, root: at });
          expect(said(outcome)).toBe('end\n');
          const files = openTestFilesystem(at, tools);
          expect(files.refused).toHaveLength(2);
          const inside = path.relative(at, `${root}/mounted/own/data/token`);
          expect(await files.read(inside)).toMatchObject({ ok: false, error: { code: 'state/path-refused' } });
        }
      } finally {
        execFileSync('umount', [`${root}/mounted`]);
        fs.rmSync(around, { recursive: true });
      }
    },
  );

  it('[S61] what is refused around the root is hidden, and the root is not; a file can be refused too', async () => {
    if (!detected.ok) throw new Error('there is a sandbox');
    fs.writeFileSync(`${root}/key`, 'secret');
    const base = path.dirname(root);
    const running = detected.value.start({
      command: ['sh', '-c', `ls ${base}; ls ${data}; cat key; echo x > made`],
      root,
      refused: [base, `${root}/key`],
      env: {},
    });
    let output = '';
    running.onOutput(chunk => {
      output += chunk.toString();
    });
    expect(await running.ended).toEqual({ kind: 'exited', exitCode: 0 });
    expect(output).toMatch(/^root\nls: .*No such file/);
    expect(output).not.toContain('secret');
    expect(fs.readFileSync(`${root}/made`, 'utf8')).toBe('x\n');
  });

  it('[S62] reaches no server on this machine, by address or by socket, and has a loopback of its own', async () => {
    const heard: string[] = [];
    const servers: net.Server[] = [];
    const listen = async (at: { port: number; host: string } | { path: string }) => {
      const server = net.createServer(socket => {
        heard.push(JSON.stringify(at));
        socket.end('hello');
      });
      servers.push(server.listen(at));
      await once(server, 'listening');
      return server.address();
    };
    fs.mkdirSync(beside, { recursive: true });
    const address = (await listen({ port: 0, host: '127.0.0.1' })) as net.AddressInfo;
    for (const one of [`${beside}/s`, `${root}/s`]) await listen({ path: one });
    const node = visibleNode();
    const connect = (to: string) =>
      run([node, '-e', `require('net').connect(${to}).on('data', d => console.log(String(d)))`]);
    for (const to of [`${address.port}, '127.0.0.1'`, `'${beside}/s'`, `'${root}/s'`]) {
      const outcome = await connect(to);
      expect({ to, status: outcome.status }).toEqual({ to, status: 'failed' });
      expect(said(outcome)).toMatch(/ECONNREFUSED|ENOTSOCK|EACCES|ENOENT/);
    }
    const own = `const s = require('net').createServer(c => { c.end(); s.close(); console.log('own'); });
      s.listen(0, '127.0.0.1', () => require('net').connect(s.address().port, '127.0.0.1').resume());`;
    expect(said(await run([node, '-e', own]))).toBe('own\n');
    for (const server of servers) await new Promise(resolve => server.close(resolve));
    expect(heard).toEqual([]);
  });

  it('[S63] nothing that it started outlives it: a daemon that left its group and its parent is dead', async () => {
    // They would write for ever, and hold no pipe of ours. There are many, so that it takes a while to end them.
    const daemon = "setsid sh -c 'while :; do echo x >> alive; done' < /dev/null > /dev/null 2>&1 &";
    const script = `for i in $(seq 40); do (${daemon}) & done; while ! [ -s alive ]; do :; done`;
    if (!detected.ok) throw new Error('there is a sandbox');
    const { ended } = detected.value.start({ command: ['sh', '-c', script], root, refused: [], env: {} });
    expect(await ended).toEqual({ kind: 'exited', exitCode: 0 });
    const written = fs.statSync(`${root}/alive`).size;
    expect(await shell('sleep 0.1')).toMatchObject({ status: 'succeeded' });
    expect(fs.statSync(`${root}/alive`).size).toBe(written);
  });

  it('[S63] it ends with the process that started it', async () => {
    const child = childScript(import.meta.dirname, 'confined-child.ts');
    const parent = spawn('node', [child, root], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise<void>(resolve => {
      const watcher = fs.watch(root, () => {
        if (!fs.existsSync(`${root}/alive`)) return;
        watcher.close();
        resolve();
      });
    });
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    // The namespace goes a moment after its parent: then nobody writes any more.
    const size = () => fs.statSync(`${root}/alive`).size;
    for (let last = -1; last !== size(); ) {
      last = size();
      await shell('sleep 0.2');
    }
  });

  it('[S64] sees none of our variables but the harmless ones, and those that the call names', async () => {
    process.env.SIGNALBOX_TEST_KEY = 'secret';
    const outcome = await shell('env; cat /proc/*/environ', { input: { env: { OWN: 'x', LD_PRELOAD: '' } } });
    delete process.env.SIGNALBOX_TEST_KEY;
    expect(said(outcome)).not.toContain('secret');
    const names = said(await run(['env'], { input: { env: { OWN: 'x' } } }))
      .trim()
      .split('\n')
      .map(line => line.split('=')[0]);
    expect(names.sort()).toEqual(['HOME', 'LANG', 'OWN', 'PATH', 'PWD', 'TERM', 'TMPDIR']);
  });

  it('[S64] a variable that loads code is the command’s alone, not the sandbox’s', async () => {
    fs.writeFileSync(`${root}/evil.so`, 'not a library');
    const outcome = await run(['true'], { input: { env: { LD_PRELOAD: `${root}/evil.so`, PATH: root } } });
    expect(outcome).toMatchObject({ error: { message: expect.stringContaining('could not be started') } });
    const loaded = await run(['/bin/sh', '-c', 'exit 0'], { input: { env: { LD_PRELOAD: `${root}/evil.so` } } });
    expect(said(loaded).match(/evil\.so/g)).toHaveLength(1);
  });

  it('[S60] [S61] holds for somebody who is not root too', async () => {
    const NOBODY = 65534;
    const asRoot = process.getuid?.() === 0;
    for (const one of asRoot ? [path.dirname(root), root, data, `${data}/token`] : [])
      fs.chownSync(one, NOBODY, NOBODY);
    fs.mkdirSync(beside, { recursive: true });
    fs.chmodSync(beside, 0o777);
    const child = childScript(import.meta.dirname, 'confined-child.ts');
    const script = `id -u; echo made > made; echo x > ${beside}/new; cat ${data}/token; exit 0`;
    const who = asRoot ? { uid: NOBODY, gid: NOBODY } : {};
    const other = spawn('node', [child, root, data, script], { ...who, cwd: '/' });
    let printed = '';
    other.stdout.on('data', chunk => {
      printed += chunk;
    });
    await once(other, 'close');
    expect(JSON.parse(printed)).toMatchObject({
      status: 'succeeded',
      value: { output: expect.stringMatching(/^[1-9]\d*\n/) },
    });
    expect(printed).not.toContain('secret');
    expect(fs.readdirSync(beside)).not.toContain('new');
    expect(fs.readFileSync(`${root}/made`, 'utf8')).toBe('made\n');
  });
});
