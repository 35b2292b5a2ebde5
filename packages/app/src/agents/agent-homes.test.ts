import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { err, failure, type RunId } from '@signalbox/model';
import type { AgentSession, Assignment } from '@signalbox/runs';
import { findProcess, type LayerEntry, LayerRefused } from '@signalbox/state';
import { describe, expect, it } from 'vitest';
import { memoryRun } from '../../test/support/run-builders.ts';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { thisMachine } from '../machine.ts';
import { acpAgents } from './acp-agents.ts';
import { openAgentHomes } from './agent-homes.ts';
import { startAgent } from './agent-launcher.ts';
import { openAgentTools } from './agent-tools.ts';

const isLinux = process.platform === 'linux';
const launch = (root: string, configHome: string, command: readonly string[]) => ({
  ...{ root, configHome, refused: [], variables: { PATH: '/usr/bin:/bin' } },
  row: undefined as never,
  installed: { program: command, version: '1', from: 'command' as const },
});

const one = { run: 'run-1', task: 'task-1' } as unknown as Assignment;
const two = { run: 'run-1', task: 'task-2' } as unknown as Assignment;

describe('homes of agents', () => {
  it('[A790] the home of an agent stays while its task waits and nothing that it changed was dropped', async () => {
    const data = temporaryFolder();
    const folder = path.join(data, 'agent-homes');
    const login = path.join(folder, 'task-1', 'login');
    const homes = openAgentHomes(data);
    const first = homes.open(one, true);
    expect(first.isUntouched).toBe(false);
    fs.writeFileSync(login, 'mine');
    first.keep();
    await homes.sweep(async () => false);
    const next = openAgentHomes(data);
    await next.recover(async () => false, new Map());
    const again = next.open(one, true);
    expect([again.path, again.isUntouched, fs.readFileSync(login, 'utf8')]).toEqual([first.path, true, 'mine']);
    // The note counted for that attempt.
    await openAgentHomes(data).recover(async () => false, new Map());
    expect(fs.readdirSync(folder)).toEqual([]);
    const other = next.open(one, true);
    fs.writeFileSync(login, 'mine');
    other.keep();
    expect([next.open(one, false).isUntouched, fs.existsSync(login)]).toEqual([true, false]);
  });

  it('[B157] remembers the session that the agent worked in, as long as the home is the same', async () => {
    const data = temporaryFolder();
    const homes = openAgentHomes(data);
    const first = homes.open(one, true);
    expect(first.session).toBeUndefined();
    first.took('1');
    const next = openAgentHomes(data);
    await next.recover(async () => false, new Map([['task-1', true]]));
    const again = next.open(one, true);
    expect(again.session).toBe('1');
    again.keep();
    expect(next.open(one, true).session).toBe('1');
    // Another home: a session with the same id is another one.
    const last = openAgentHomes(data);
    await last.recover(async () => false, new Map([['task-1', true]]));
    const other = last.open(one, false);
    expect([other.session, other.isUntouched]).toEqual([undefined, true]);
    other.keep();
    expect(last.open(one, true).session).toBeUndefined();
  });

  it('[A790] after a death of our process it stays if nothing was written on the layer of its turn', async () => {
    for (const [isUntouched, left] of [
      [true, ['task-1', 'task-1.note.json']],
      [false, []],
    ] as const) {
      const data = temporaryFolder();
      openAgentHomes(data).open(one, true);
      const next = openAgentHomes(data);
      await next.recover(async () => false, new Map([['task-1', isUntouched]]));
      expect(fs.readdirSync(path.join(data, 'agent-homes'))).toEqual(left);
      expect(next.open(one, true).isUntouched).toBe(isUntouched);
    }
  });

  it('[A790] the home of a task that is over goes, and one in use stays', async () => {
    const data = temporaryFolder();
    const homes = openAgentHomes(data);
    homes.open(one, true).keep();
    homes.open(two, true);
    await homes.sweep(async (run, task) => `${run} ${task}` === 'run-1 task-1');
    expect(fs.readdirSync(path.join(data, 'agent-homes'))).toEqual(['task-2', 'task-2.note.json']);
  });

  it('[A711] what a process before left is gone at the next start', async () => {
    const data = temporaryFolder();
    const home = openAgentHomes(data).open(one, true);
    fs.writeFileSync(path.join(home.path, 'login'), 'secret');
    expect([fs.statSync(home.path).mode & 0o777, fs.statSync(path.dirname(home.path)).mode & 0o777]).toEqual([
      0o700, 0o700,
    ]);
    await openAgentHomes(data).recover(async () => false, new Map());
    expect(fs.readdirSync(path.join(data, 'agent-homes'))).toEqual([]);
  });

  it('[A930] a home is removed with everything in it, also what its agent closed', async () => {
    const data = temporaryFolder();
    const left = (homes: ReturnType<typeof openAgentHomes>) => {
      const home = homes.open(one, true);
      fs.mkdirSync(path.join(home.path, 'closed/inner'), { recursive: true });
      for (const name of ['closed/inner', 'closed']) fs.chmodSync(path.join(home.path, name), 0);
      return home;
    };
    left(openAgentHomes(data)).remove();
    expect(fs.readdirSync(path.join(data, 'agent-homes'))).toEqual([]);
    left(openAgentHomes(data));
    expect(fs.readdirSync(openAgentHomes(data).open(one, true).path)).toEqual([]);
  });

  it.skipIf(!isLinux)('[A714] a group that an owner left is ended, and one with the same number is not', async () => {
    const data = temporaryFolder();
    const start = () => spawn('sh', ['-c', 'sleep 600 & wait'], { detached: true, stdio: 'ignore' });
    const [left, other] = [start(), start()];
    const homes = openAgentHomes(data);
    const known = findProcess(left.pid ?? 0);
    if (known === undefined) throw new Error('it runs');
    homes.noteGroup(homes.open(one, true).path, known);
    homes.noteGroup(homes.open(two, true).path, { pid: other.pid ?? 0, startedAt: '1' });
    const ended = once(left, 'exit');
    openAgentHomes(data);
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(other.exitCode ?? other.signalCode).toBeNull();
    process.kill(-(other.pid ?? 0), 'SIGKILL');
  });
});

describe('an agent without a sandbox', () => {
  it('[A714] is refused with what to install and how to allow it', async () => {
    const data = temporaryFolder();
    fs.writeFileSync(path.join(data, 'config.json'), '{"agents":{"own":{"command":["sh"]}}}');
    const machine = thisMachine();
    const { store, run } = await memoryRun(machine);
    const missing = failure('tool/sandbox-missing', { message: 'there is no bwrap', suggestion: 'Install it.' });
    const tools = { ...openAgentTools(data, machine), sandbox: async () => err(missing) };
    const agents = acpAgents({
      ...{ machine, tools, store: store as never, env: {}, dataDirectory: data, parkMs: 0 },
      budget: { limited: async () => ({ tokens: false, cost: false }) },
      ...{ homes: openAgentHomes(data), secrets: { mac: text => text } },
    });
    const assignment = { run: run as RunId, node: 'n', vendor: 'any', plugin: 'own' } as unknown as Assignment;
    expect(await agents.run(assignment, {} as AgentSession)).toMatchObject({
      kind: 'failed',
      error: {
        ...{ class: 'terminal', code: 'sandbox-missing' },
        message: expect.stringMatching(/^own was not started: there is no bwrap\. Install it\. .*allowUnconfined/),
      },
    });
  });

  it('[A714] where that is allowed runs in a group that is noted, and never believes itself on a layer', async () => {
    const data = temporaryFolder();
    const homes = openAgentHomes(data);
    const home = homes.open(one, true);
    const command = ['sh', '-c', 'echo "$HOME" "$PATH"; echo bad >&2; cat; exit 3'];
    const started = startAgent(launch(data, home.path, command), undefined, { homes, closed: [] });
    if (!started.ok) throw new Error(started.error.message);
    const { stdin, stdout, ended, stderrTail, view } = started.value;
    if (isLinux) expect(fs.readdirSync(path.dirname(home.path))).toContain(`${path.basename(home.path)}.group.json`);
    stdin.end('heard\n');
    expect(await text(stdout)).toBe(' /usr/bin:/bin\nheard\n');
    expect([await ended, stderrTail(), view()]).toEqual([{ reason: 'exited with 3' }, 'bad\n', data]);
    home.remove();
    expect(fs.readdirSync(path.dirname(home.path))).toEqual([]);
    const layer = {} as LayerEntry;
    const onLayer = { ...launch(data, home.path, command), layer };
    expect(() => startAgent(onLayer, undefined, { homes, closed: [] })).toThrow(LayerRefused);
  });
});
