import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { detectSandbox } from '@signalbox/state';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sized } from '../../../test/sized.ts';
import { entry, ownEnvironment, signalbox, temporaryFolder } from './program.ts';

const folder = temporaryFolder();
const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;
type EndSignal = (typeof SIGNALS)[number][0];

/** An agent whose one tool call changes a file, makes another, and goes on until it is ended, unless `go` is there. */
const PLAN = `
import { Agent, definePlan } from 'signalbox';
export default definePlan({
  name: 'long',
  render: () => (
    <Agent id="agent" model="scripted:model.json" cwd="work" retries={0} permissions="skip" prompt="Do it." />
  ),
});
`;
const COMMAND = 'echo changed > kept.txt; echo new > new.txt; [ -e go ] || sleep 1000';
const MODEL = {
  version: 1,
  rules: [
    { when: { turn: 1 }, calls: [{ tool: 'run_command', input: { command: ['sh', '-c', COMMAND] } }] },
    { text: 'Done.' },
  ],
};

function place(name: string) {
  const cwd = path.join(folder, name);
  const work = path.join(cwd, 'work');
  mkdirSync(work, { recursive: true });
  writeFileSync(path.join(work, 'kept.txt'), 'before\n');
  writeFileSync(path.join(cwd, 'plan.tsx'), PLAN);
  writeFileSync(path.join(cwd, 'model.json'), JSON.stringify(MODEL));
  return {
    cwd,
    files: () =>
      Object.fromEntries(
        readdirSync(work, { withFileTypes: true })
          .filter(file => file.isFile())
          .map(({ name: file }) => [file, readFileSync(path.join(work, file), 'utf8').trim()]),
      ),
    /** Whether the command has begun: on a layer, nothing of it is in the directory. */
    hasBegun: () => {
      const layers = path.join(cwd, '.local/share/signalbox/layers');
      const uppers = existsSync(layers) ? readdirSync(layers).map(id => path.join(layers, id, 'upper')) : [];
      return [work, ...uppers].some(directory => existsSync(path.join(directory, 'new.txt')));
    },
    runs: () => lines(signalbox(['ls', '--json'], { cwd }).stdout),
    tasks: (run: string) =>
      lines(signalbox(['events', run, '--json'], { cwd }).stdout).filter(({ event }) => event.type.startsWith('task.')),
  };
}

const lines = (text: string) =>
  text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line));

function start(cwd: string, args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [entry, ...args], {
    cwd,
    env: { ...ownEnvironment(cwd), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  let told = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', text => {
      told += text;
    });
  }
  const ended = new Promise<readonly [number | null, NodeJS.Signals | null]>(resolve =>
    child.once('close', (...how) => resolve(how)),
  );
  onTestFinished(() => kill(child));
  return { child, ended, told: () => told };
}

function kill({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(resolve => setTimeout(resolve, 20));
}

type Place = ReturnType<typeof place>;

/** How each command is brought to where a tool call is under way. */
const commands: Readonly<Record<string, (at: Place) => Promise<ReturnType<typeof start>>>> = {
  async run({ cwd }) {
    return start(cwd, ['run', 'plan.tsx', '--json']);
  },
  async resume({ cwd, files, hasBegun, runs }) {
    const first = start(cwd, ['run', 'plan.tsx', '--json']);
    await until(hasBegun);
    first.child.kill('SIGTERM');
    await first.ended;
    expect(files()).toEqual({ 'kept.txt': 'before' });
    return start(cwd, ['resume', runs()[0].id, '--json']);
  },
  async serve({ cwd }) {
    const serving = start(cwd, ['serve', '--port', '0', '--json']);
    await until(() => serving.told().includes('\n'));
    expect(signalbox(['run', 'plan.tsx', '--detach'], { cwd }).status).toBe(0);
    return serving;
  },
  async 'mcp --operator'({ cwd }) {
    const mcp = start(cwd, ['mcp', '--operator']);
    await until(() => existsSync(path.join(cwd, '.local/share/signalbox/owner.json')));
    await until(() => signalbox(['run', 'plan.tsx', '--detach'], { cwd }).status === 0);
    return mcp;
  },
  async desktop({ cwd }) {
    const desktop = start(cwd, ['desktop'], { SIGNALBOX_BROWSER: aWindow(cwd) });
    await until(() => existsSync(path.join(cwd, 'window')));
    expect(signalbox(['run', 'plan.tsx', '--detach'], { cwd }).status).toBe(0);
    return desktop;
  },
};

/** Commands that have nothing under way. */
const PLAIN: readonly string[] = ['demo', 'mcp'];

/** A program that stays open, as a window does. */
function aWindow(cwd: string): string {
  const file = path.join(cwd, 'browser');
  writeFileSync(file, '#!/bin/sh\ntouch window\nexec sleep 1000\n', { mode: 0o755 });
  return file;
}

/** One signal for each command; every one for some in a full run, and for all in a soak. */
function chosen(names: readonly string[], name: string) {
  const at = names.indexOf(name);
  const isWhole = sized(false, at === 0 || names === PLAIN, true);
  return SIGNALS.filter((_, index) => isWhole || index === at % SIGNALS.length);
}

const sandbox = await detectSandbox();

describe.skipIf(!sandbox.ok)('a signal while a tool call is under way', () => {
  // An ordinary run takes one that drives its run itself, one that serves it, and one that speaks to a client.
  const tried = sized(['run', 'serve', 'mcp --operator'], Object.keys(commands), Object.keys(commands));
  it.each(tried)('[A190] ends %s: the call rolled back, the run paused, 128+n', async name => {
    const ends = chosen(Object.keys(commands), name).map(async ([signal, code]) => {
      const at = place(`${name.replaceAll(' ', '')}-${signal}`);
      const begun = await commands[name]?.(at);
      if (begun === undefined) throw new Error(name);
      await until(at.hasBegun);
      begun.child.kill(signal);
      expect([signal, ...(await begun.ended)]).toEqual([signal, code, null]);
      expect(at.files()).toEqual({ 'kept.txt': 'before' });
      const [run] = at.runs();
      expect(run).toMatchObject({ name: 'long', status: 'paused' });

      writeFileSync(path.join(at.cwd, 'work/go'), '');
      expect(signalbox(['resume', run.id], { cwd: at.cwd })).toMatchObject({ status: 0 });
      expect(at.files()).toEqual({ 'kept.txt': 'changed', 'new.txt': 'new', go: '' });
      // No retry was used: there are none.
      const retries = at.tasks(run.id).flatMap(({ event }) => (event.type === 'task.retry' ? [event.error.code] : []));
      expect(new Set(retries)).toEqual(new Set(['held-back']));
    });
    await Promise.all(ends);
  });
});

describe.skipIf(!sandbox.ok)('a process that is killed while a tool call is under way', () => {
  it('[A191] [X11] has its call rolled back by the next start, which tells the run, the call and the outcome, as does the doctor', async () => {
    const at = place('told');
    const killed = start(at.cwd, ['run', 'plan.tsx', '--json']);
    await until(at.hasBegun);
    killed.child.kill('SIGKILL');
    await killed.ended;
    const [run] = at.runs();
    writeFileSync(path.join(at.cwd, 'work/go'), '');
    const serving = start(at.cwd, ['serve', '--port', '0', '--json']);
    await until(() => serving.told().includes('"url"'));
    const told = new RegExp(
      `run_command (\\S+) of run ${run.id}, node agent: The call was cut off and (?:rolled back|what it changed was dropped)`,
    );
    expect(serving.told()).toMatch(told);
    const call = told.exec(serving.told())?.[1] ?? '';
    serving.child.kill('SIGTERM');
    await serving.ended;

    const [note] = lines(signalbox(['recoveries', '--json'], { cwd: at.cwd }).stdout);
    expect(note).toMatchObject({
      id: call,
      tool: 'run_command',
      run: run.id,
      node: 'agent',
      outcome: expect.stringMatching(/^(rolled-back|dropped)$/),
    });
    const doctor = () => JSON.parse(signalbox(['doctor', '--json'], { cwd: at.cwd }).stdout).checks;
    const found = expect.stringContaining(`run_command ${call} of run ${run.id}`);
    expect(doctor()).toContainEqual(expect.objectContaining({ name: 'recovery', status: 'warn', found }));
    expect(signalbox(['recoveries', '--dismiss', call], { cwd: at.cwd })).toMatchObject({ status: 0 });
    expect(signalbox(['recoveries'], { cwd: at.cwd }).stdout).toBe('No interrupted tool calls.\n');
    expect(doctor()).not.toContainEqual(expect.objectContaining({ name: 'recovery' }));
  });
});

describe('a signal', () => {
  it.each(PLAIN)('[A190] ends %s with 128+n, and leaves nothing behind', async name => {
    const ends = chosen(PLAIN, name).map(async ([signal, code]) => {
      const { cwd } = place(`${name}-${signal}`);
      const begun = start(cwd, name === 'demo' ? ['demo', '--no-open', '--json'] : ['mcp']);
      if (name === 'demo') await until(() => begun.told().includes('\n'));
      else await answered(begun);
      begun.child.kill(signal);
      expect([signal, ...(await begun.ended)]).toEqual([signal, code, null]);
      expect(readdirSync(cwd).filter(file => file.startsWith('signalbox-demo'))).toEqual([]);
    });
    await Promise.all(ends);
  });

  it('[A190] ends at once when a second one comes, and the run goes on from there', async () => {
    const { cwd, runs } = place('twice');
    writeFileSync(path.join(cwd, 'plan.tsx'), WAITING);
    const running = start(cwd, ['run', 'plan.tsx', '--json']);
    await until(() => running.told().includes('task.started'));
    running.child.kill('SIGTERM');
    // Its work does not hear that it is to end.
    await until(() => running.told().includes('"action":"pause"'));
    running.child.kill('SIGHUP');
    expect(await running.ended).toEqual([129, null]);
    writeFileSync(path.join(cwd, 'go'), '');
    expect(signalbox(['resume', runs()[0].id], { cwd }).status).toBe(0);
    expect(runs()).toMatchObject([{ status: 'completed' }]);
  });

  it('[A190] ends a program that follows a run of another process, which pauses that run', async () => {
    const { cwd, runs } = place('follower');
    writeFileSync(path.join(cwd, 'plan.tsx'), WAITING);
    const serving = start(cwd, ['serve', '--port', '0', '--json']);
    await until(() => serving.told().includes('\n'));
    const follower = start(cwd, ['run', 'plan.tsx', '--json']);
    await until(() => follower.told().includes('task.started'));
    follower.child.kill('SIGTERM' satisfies EndSignal);
    expect(await follower.ended).toEqual([143, null]);
    writeFileSync(path.join(cwd, 'go'), '');
    await until(() => runs()[0].status === 'paused');
    serving.child.kill('SIGTERM');
    expect(await serving.ended).toEqual([143, null]);
  });
});

/** Two tasks; the first goes on until a file is there. */
const WAITING = `
import { existsSync } from 'node:fs';
import { definePlan, Phase, Step, Task } from 'signalbox';
const wait = async () => {
  while (!existsSync('go')) await new Promise(resolve => setTimeout(resolve, 10));
};
export default definePlan({
  name: 'waiting',
  render: () => (
    <Phase name="all">
      <Step><Task id="one" run={wait} /></Step>
      <Step><Task id="two" run={() => 2} /></Step>
    </Phase>
  ),
});
`;

/** The agent's side answers a ping: it serves. */
async function answered({ child, told }: ReturnType<typeof start>): Promise<void> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
  await until(() => told().includes('"id":1'));
}
