import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as net from 'node:net';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { childScript } from '../../../test/child-script.ts';
import {
  AGENT_LIMITS,
  type AnyTool,
  type CommandEnd,
  type CommandSandbox,
  defineTool,
  detectSandbox,
  type InteractiveCommand,
  type InteractiveProcess,
  OtherLayerNeeded,
  openInGroup,
  settleHeldCall,
  succeed,
  type ToolOutcome,
} from '../src/index.ts';
import { createOverlayLayers } from '../src/layers/overlay-layers.ts';
import { SYSTEM_DIRECTORIES } from '../src/programs/system-programs.ts';
import { createTestRunner, must, temporaryDirectory, treeOf } from './builders.ts';
import { hasLayers, openLayered, sandbox } from './layered.ts';

const hasNamespaces = sandbox.ok && sandbox.value.name === 'bubblewrap';

let directory: ReturnType<typeof temporaryDirectory>;
let root: string;
let data: string;
let home: string;
beforeEach(() => {
  directory = temporaryDirectory();
  const base = fs.realpathSync(directory.path);
  root = `${base}/root`;
  data = `${base}/data`;
  home = `${data}/homes/one`;
  for (const one of [root, `${data}/agents/echo`, home]) fs.mkdirSync(one, { recursive: true });
  fs.writeFileSync(`${data}/token`, 'secret');
  fs.writeFileSync(`${data}/agents/echo/program`, 'installed');
});
afterEach(() => directory.remove());

/** Not under the directory for temporary files, of which a program has its own. */
const beside = path.join(process.env.SIGNALBOX_TEST_PLACE ?? import.meta.dirname, `.staying-${process.pid}`);
afterAll(() => fs.rmSync(beside, { recursive: true, force: true }));

const PATH = '/usr/local/bin:/usr/bin:/bin';

/** Says when it runs, and that it was asked to end. */
const TALKING = "trap 'echo asked; exit 0' TERM; echo ready; while :; do sleep 0.05; done";

function open(
  script: string,
  options: Partial<InteractiveCommand> = {},
  confinement: CommandSandbox = must(sandbox),
): InteractiveProcess {
  return confinement.open({
    ...{ command: ['sh', '-c', script], root, refused: [data], home, readable: [], limits: AGENT_LIMITS },
    variables: { PATH },
    ...options,
  });
}

/** What it says while it lives, line by line. */
function lines(program: InteractiveProcess) {
  const iterator = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  return async () => (await iterator.next()).value as string | undefined;
}

/** Everything it says to the end, with how it ended. */
async function whole(program: InteractiveProcess): Promise<{ out: string; said: string; end: CommandEnd }> {
  program.stdin.end();
  const [out, said, end] = await Promise.all([text(program.stdout), text(program.stderr), program.ended]);
  return { out, said, end };
}

describe.skipIf(!hasNamespaces)('a program that stays', () => {
  it('[S240] is talked to for as long as it lives, with its two outputs apart', async () => {
    const program = open('while read -r line; do echo "got $line"; echo "heard $line" >&2; done; echo end');
    const next = lines(program);
    const said = text(program.stderr);
    for (const word of ['one', 'two', 'three']) {
      program.stdin.write(`${word}\n`);
      expect(await next()).toBe(`got ${word}`);
    }
    program.stdin.end();
    expect(await next()).toBe('end');
    expect(await program.ended).toEqual({ kind: 'exited', exitCode: 0 });
    expect(await said).toBe('heard one\nheard two\nheard three\n');
  });

  it('[S240] says as much as it wants', async () => {
    const bytes = 3_000_000;
    const program = open(`head -c ${bytes} /dev/zero | tr '\\0' x; head -c ${bytes} /dev/zero | tr '\\0' y >&2`);
    expect((await text(program.stdout)).length).toBe(bytes);
    expect(await program.ended).toEqual({ kind: 'exited', exitCode: 0 });
  });

  it('[S240] a program that is not there ends at once, and writing to it is no error', async () => {
    const program = open('', { command: ['/no/such/program'] });
    program.stdin.write('x'.repeat(1_000_000));
    const { end, said } = await whole(program);
    expect(end.kind === 'not started' || (end.kind === 'exited' && end.exitCode !== 0)).toBe(true);
    expect(`${said}${end.kind === 'not started' ? end.reason : ''}`).toMatch(/No such file/);
  });

  it('[S241] sees the variables it is given, and no others', async () => {
    process.env.SIGNALBOX_TEST_KEY = 'secret';
    const { out } = await whole(open('env; cat /proc/*/environ', { variables: { PATH, OWN: 'x', HOME: home } }));
    delete process.env.SIGNALBOX_TEST_KEY;
    expect(out).not.toContain('secret');
    const { out: names } = await whole(open('env | cut -d= -f1', { variables: { PATH, OWN: 'x', HOME: home } }));
    expect(names.trim().split('\n').toSorted()).toEqual(['HOME', 'OWN', 'PATH', 'PWD']);
  });

  it('[S241] reaches the network', async () => {
    const server = net.createServer(socket => socket.end('hello')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as net.AddressInfo;
    const script = `require('net').connect(${port}, '127.0.0.1').on('data', d => console.log(String(d)))`;
    const node = fs.realpathSync(process.execPath);
    const program = open('', { command: [node, '-e', script], readable: [node] });
    expect(await whole(program)).toEqual({ out: 'hello\n', said: '', end: { kind: 'exited', exitCode: 0 } });
    server.close();
  });

  it('[S242] sees what is named for it inside the data directory, and nothing else there', async () => {
    fs.writeFileSync(`${home}/.netrc`, 'its own');
    fs.mkdirSync(`${data}/homes/another`);
    const script = [
      'echo made > made; echo kept > "$HOME/kept"; echo x > /tmp/private',
      'cat "$HOME/.netrc" && echo && ls -A "$0" "$0/homes"; cat "$0/agents/echo/program"; echo',
      'cat "$0/token"; echo x > "$0/new"; echo x > "$0/agents/echo/program"; echo end',
    ].join('\n');
    const program = open('', {
      command: ['sh', '-c', script, data],
      readable: [`${data}/agents/echo`],
      variables: { PATH, HOME: home },
    });
    const { out, said, end } = await whole(program);
    expect([out, end]).toEqual([
      `its own\n${data}:\nagents\nhomes\n\n${data}/homes:\none\ninstalled\nend\n`,
      { kind: 'exited', exitCode: 0 },
    ]);
    expect(said.trim().split('\n')).toHaveLength(3);
    expect(treeOf(data)).toMatchObject({
      './token': 'file 644 secret',
      './agents/echo/program': 'file 644 installed',
      './homes/one/kept': 'file 644 kept\n',
    });
    expect([fs.existsSync(`${data}/new`), fs.existsSync('/tmp/private')]).toEqual([false, false]);
  });

  it('[S242] is started by a link, of the system, in the root or in a hidden place', async () => {
    const system = fs.readdirSync('/usr/bin', { withFileTypes: true }).find(entry => entry.isSymbolicLink());
    const program = `${data}/agents/echo/program`;
    fs.writeFileSync(program, '#!/bin/sh\necho started');
    fs.chmodSync(program, 0o755);
    fs.symlinkSync('../agents/echo/program', `${data}/homes/link`);
    fs.symlinkSync(program, `${root}/link`);
    const readable = [`${data}/agents/echo`, `/usr/bin/${system?.name}`, `${data}/homes/link`, `${root}/link`];
    for (const link of [`${data}/homes/link`, `${root}/link`]) {
      const { out, end } = await whole(open('', { command: [link], readable }));
      expect([link, out, end]).toEqual([link, 'started\n', { kind: 'exited', exitCode: 0 }]);
    }
  });

  it('[S242] [S60] writes nowhere else', async () => {
    fs.mkdirSync(beside, { recursive: true });
    fs.writeFileSync(`${beside}/file`, 'as it was');
    const { out } = await whole(open(`echo x > ${beside}/file; echo x > ${beside}/new; echo x > /etc/new; echo end`));
    expect(out).toBe('end\n');
    expect(treeOf(beside)).toEqual({ './file': 'file 644 as it was' });
  });

  it('[S243] is asked to end, and ends by itself', async () => {
    const program = open(TALKING);
    const next = lines(program);
    expect(await next()).toBe('ready');
    program.stop();
    program.stop();
    expect(await next()).toBe('asked');
    expect(await program.ended).toEqual({ kind: 'killed', signal: 'SIGTERM' });
  });

  it('[S243] is asked to end, too, if it says something before it is known which process it is', async () => {
    const go = `${data}/go`;
    const late = `until [ -e ${go} ]; do /bin/sleep 0.01; done; exec /bin/cat >&10`;
    const wrapper = ['#!/bin/bash', 'exec 10>&3', `exec 3> >(${late})`, 'exec 10>&-', 'exec /usr/bin/bwrap "$@"'];
    fs.writeFileSync(`${data}/bwrap`, wrapper.join('\n'), { mode: 0o755 });
    fs.writeFileSync(go, '');
    const reportsLate = must(await detectSandbox([data, ...SYSTEM_DIRECTORIES]));
    fs.rmSync(go);
    const program = open(TALKING, {}, reportsLate);
    const next = lines(program);
    expect(await next()).toBe('ready');
    program.stop();
    fs.writeFileSync(go, '');
    expect(await next()).toBe('asked');
    expect(await program.ended).toEqual({ kind: 'killed', signal: 'SIGTERM' });
  });

  it('[S243] one that ended by itself and is stopped then says how it ended', async () => {
    const program = open('exit 3');
    // Its output ends before it is known how it ended.
    program.stdout.resume().once('end', () => program.stop());
    expect(await program.ended).toEqual({ kind: 'exited', exitCode: 3 });
  });

  it('[S243] is killed if it does not, with everything that left its group', async () => {
    const deaf = "trap '' TERM; while :; do echo x >> alive; sleep 0.01; done";
    const program = open(
      `setsid sh -c "${deaf}" & trap '' TERM; until [ -s alive ]; do :; done; echo ready; while :; do sleep 0.05; done`,
    );
    expect(await lines(program)()).toBe('ready');
    program.stop();
    expect(await program.ended).toEqual({ kind: 'killed', signal: 'SIGKILL' });
    const written = fs.statSync(`${root}/alive`).size;
    await whole(open('sleep 0.1'));
    expect(fs.statSync(`${root}/alive`).size).toBe(written);
  });

  it('[S243] ends with the process that opened it, even if that is killed', async () => {
    const child = childScript(import.meta.dirname, 'interactive-child.ts');
    const parent = spawn('node', [child, root, home], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [first] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string];
    expect(first).toBe('ready');
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    // The namespace goes a moment after its parent: then nobody writes any more.
    const size = () => fs.statSync(`${home}/alive`).size;
    for (let last = -1; last !== size(); ) {
      last = size();
      await whole(open('sleep 0.2'));
    }
  });

  it('[S244] is killed at its limits, which have no time', async () => {
    const many = 'for i in $(seq 60); do sleep 600 & done; wait';
    expect((await whole(open(many, { limits: { ...AGENT_LIMITS, processes: 8 } }))).end).toEqual({
      kind: 'limit',
      limit: 'processes',
    });
    const { out, end } = await whole(open('sleep 1.2; echo end', { limits: { ...AGENT_LIMITS, seconds: 1 } }));
    expect([out, end]).toEqual(['end\n', { kind: 'exited', exitCode: 0 }]);
  });
});

describe.skipIf(!hasLayers)('a program that stays on a layer', () => {
  type Work = (program: InteractiveProcess, view: () => string | undefined) => Promise<CommandEnd>;

  const turn = (work: Work, script: string) =>
    defineTool({
      ...{ name: 'turn', description: 'one turn', input: z.strictObject({}), output: z.json(), risk: 'low' },
      effects: { kind: 'files', onLayer: true },
      async handler(_, { layer, root: at, refused }) {
        const program = open(script, { root: at ?? '', refused, ...(layer && { layer }) });
        const end = await work(program, () => layer?.view());
        if (end.kind === 'other layer') throw new OtherLayerNeeded();
        return end.kind === 'exited' && end.exitCode === 0
          ? succeed({ onLayer: layer !== undefined })
          : { success: false, message: end.kind };
      },
    });

  async function take(
    script: string,
    work: Work,
    before: (place: Awaited<ReturnType<typeof openLayered>>) => Promise<unknown> = async () => {},
  ): Promise<ToolOutcome> {
    const place = await openLayered(path.dirname(root));
    await before(place);
    const { state, locks } = place;
    const runner = createTestRunner(state, { tools: [turn(work, script)], locks });
    const outcome = must(await runner.execute({ id: 'turn-1', name: 'turn', input: {} }));
    return outcome;
  }

  it('[S240] nothing it writes is in the directory before the turn has succeeded', async () => {
    const outcome = await take(
      'while read -r line; do echo "$line" >> made; echo "got $line"; done',
      async (program, view) => {
        const next = lines(program);
        program.stdin.write('one\n');
        expect(await next()).toBe('got one');
        expect(fs.readdirSync(root)).toEqual([]);
        // We see and change what it sees.
        fs.appendFileSync(`${view()}/made`, 'between\n');
        program.stdin.end('two\n');
        return program.ended;
      },
    );
    expect(outcome).toMatchObject({ status: 'succeeded', value: { onLayer: true } });
    expect(treeOf(root)).toEqual({ './made': 'file 644 one\nbetween\ntwo\n' });
  });

  it('[S243] its layer is dropped if it is stopped', async () => {
    const outcome = await take('echo x > made; echo ready; while :; do sleep 0.05; done', async program => {
      expect(await lines(program)()).toBe('ready');
      program.stop();
      return program.ended;
    });
    expect(outcome).toMatchObject({ status: 'failed', rollback: { kind: 'dropped' } });
    expect(fs.readdirSync(root)).toEqual([]);
  });

  it('[S247] its changes wait for a person if its tool asks for it', async () => {
    const holding = (script: string): AnyTool => {
      const tool = turn(program => program.ended, script);
      return { ...tool, handler: async (...given) => ({ ...(await tool.handler(...given)), hold: true }) as never };
    };
    for (const [choice, made] of [
      ['drop', false],
      ['apply-all', true],
    ] as const) {
      const { state, locks } = await openLayered(path.dirname(root));
      const tool = holding('echo x > made');
      const outcome = must(
        await createTestRunner(state, { tools: [tool], locks }).execute({ id: choice, name: 'turn', input: {} }),
      );
      expect(outcome).toMatchObject({ status: 'failed', rollback: { kind: 'held', held: { conflicts: [] } } });
      expect(fs.existsSync(`${root}/made`)).toBe(false);
      const again = await openLayered(path.dirname(root));
      const settled = await settleHeldCall({ state: again.state, locks: again.locks, tool, callId: choice, choice });
      expect(must(settled)).toMatchObject(made ? { status: 'succeeded', warnings: [] } : { status: 'failed' });
      expect(fs.existsSync(`${root}/made`)).toBe(made);
    }
    const { state, locks } = await openLayered(path.dirname(root));
    const runner = createTestRunner(state, { tools: [holding('true')], locks });
    expect(must(await runner.execute({ id: 'nothing', name: 'turn', input: {} }))).toMatchObject({
      status: 'succeeded',
    });
  });

  it('[S245] says that its layer could not be mounted, also if it is stopped meanwhile', async () => {
    const programs = { unshare: '/usr/bin/unshare', mount: '/bin/false' };
    const layers = createOverlayLayers({ home: `${path.dirname(root)}/unmountable`, programs });
    for (const isStopped of [false, true]) {
      const layer = must(await layers.open(root));
      const program = open('true', { layer: layer.entry });
      if (isStopped) program.stop();
      expect(await program.ended).toEqual({ kind: 'no layer', reason: 'it could not be mounted' });
      layer.drop();
    }
  });

  it('[S245] is not started on a layer prepared for a command; the call gets another one', async () => {
    const ends: string[] = [];
    const outcome = await take(
      'echo x > made',
      async program => {
        const end = await program.ended;
        ends.push(end.kind);
        return end;
      },
      async place => {
        // The sandbox of the next command waits on its layer.
        for (const word of ['one', 'two'])
          must(await place.run(`echo ${word}`).then(value => ({ ok: true, value }) as const));
      },
    );
    expect(outcome.status).toBe('succeeded');
    expect(ends).toEqual(['other layer', 'exited']);
    expect(fs.readFileSync(`${root}/made`, 'utf8')).toBe('x\n');
  });
});

describe('an unconfined program that stays', () => {
  const unconfined = (script: string) => openInGroup(['sh', '-c', script], { cwd: root, env: { PATH } });

  it('[S246] is talked to, and its group is stopped with it', async () => {
    const program = unconfined(
      'sh -c \'while :; do echo x >> alive; sleep 0.01; done\' & until [ -s alive ]; do :; done; while read -r line; do echo "got $line"; done',
    );
    const next = lines(program);
    program.stdin.write('one\n');
    expect(await next()).toBe('got one');
    program.stop();
    expect(await program.ended).toEqual({ kind: 'killed', signal: 'SIGTERM' });
    const written = fs.statSync(`${root}/alive`).size;
    expect(await whole(unconfined('sleep 0.1'))).toEqual({ out: '', said: '', end: { kind: 'exited', exitCode: 0 } });
    expect(fs.statSync(`${root}/alive`).size).toBe(written);
  });

  it('[S246] says why it could not be started', async () => {
    const program = openInGroup(['/no/such/program'], { cwd: root, env: {} });
    program.stdin.write('x');
    expect(await program.ended).toEqual({ kind: 'not started', reason: 'ENOENT' });
  });
});
