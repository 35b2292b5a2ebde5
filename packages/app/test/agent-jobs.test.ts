import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import path from 'node:path';
import { AGENT_ROWS } from '@signalbox/adapters/agents';
import { detectSandbox } from '@signalbox/state';
import { echoAgentProgram } from '@signalbox/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { doctorAgents } from '../src/agent-doctor/agent-doctor.ts';
import { openAgentJobs } from '../src/agent-register/agent-jobs.ts';
import { openAgentRegister } from '../src/agent-register/agent-register.ts';
import { addAgent } from '../src/agent-register/agents-desk.ts';
import { thisMachine } from '../src/machine.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

const sandbox = await detectSandbox();
const PINNED = AGENT_ROWS.find(({ id }) => id === 'gemini')?.package?.version;

/** What npm leaves of the agent gemini. */
const INSTALLS = `mkdir -p node_modules/@google/gemini-cli/bundle
echo '{"version":"${PINNED}"}' > node_modules/@google/gemini-cli/package.json
echo x > node_modules/@google/gemini-cli/bundle/gemini.js`;

/** Jobs on a data directory of their own, with an npm that does what the test wants. */
function given(script: string, agents: object = {}, more: { readonly clean?: (text: string) => string } = {}) {
  const folder = temporaryFolder();
  const [dataDirectory, bin, go] = ['data', 'bin', 'go'].map(name => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  fs.mkdirSync(dataDirectory, { mode: 0o700 });
  fs.mkdirSync(bin);
  fs.writeFileSync(path.join(dataDirectory, 'config.json'), JSON.stringify({ agents }));
  fs.writeFileSync(path.join(bin, 'npm'), `#!/bin/sh\n${script.replaceAll('$GO', go)}\n`, { mode: 0o755 });
  const env = { PATH: `${bin}:/usr/bin:/bin` };
  const options = { dataDirectory, env, register: openAgentRegister({ dataDirectory, env }), machine: thisMachine() };
  const open = () => {
    const jobs = openAgentJobs({ ...options, ...more });
    onTestFinished(() => jobs.close());
    return jobs;
  };
  const jobs = open();
  const agent = (id: string, of = jobs) => {
    const listed = of.list();
    return listed.ok ? listed.value.find(one => one.id === id) : undefined;
  };
  const idle = (id: string) => until(async () => (agent(id)?.job === undefined ? agent(id) : undefined));
  const places = () => fs.readdirSync(path.join(dataDirectory, 'agents')).sort();
  return { folder, dataDirectory, options, jobs, open, agent, idle, places, go: () => fs.writeFileSync(go, '') };
}

const WAITS = 'while [ ! -e $GO ]; do sleep 0.05; done';

describe('an installation', () => {
  it('[A810] is whole when two are made at once, and removes what a dead process left', async () => {
    const { options, dataDirectory, places, agent } = given(INSTALLS);
    const agents = path.join(dataDirectory, 'agents');
    const dead = spawnSync(process.execPath, ['-e', '']).pid;
    for (const name of [`.gemini-${dead}-abc`, `.gemini-${process.ppid}-abc`])
      fs.mkdirSync(path.join(agents, name, 'node_modules'), { recursive: true });
    const both = await Promise.all([addAgent(options, 'gemini'), addAgent(options, 'gemini')]);
    expect(both).toMatchObject([{ ok: true }, { ok: true }]);
    expect(places()).toEqual([`.gemini-${process.ppid}-abc`, 'gemini']);
    expect(agent('gemini')).toMatchObject({ installed: { version: PINNED, from: 'data directory' } });
  });

  it('[A813] is one job, whoever asks for it, and nothing else happens to its agent meanwhile', async () => {
    const { jobs, agent, idle, go } = given(`${WAITS}\n${INSTALLS}`);
    expect(jobs.add('gemini', 'ada')).toMatchObject({ ok: true, value: { job: { kind: 'add', by: 'ada' } } });
    expect(jobs.add('gemini', 'bob')).toMatchObject({ ok: true, value: { job: { kind: 'add', by: 'ada' } } });
    expect(jobs.remove('gemini')).toMatchObject({ ok: false, error: { code: 'agent/busy' } });
    const progress = await until(async () => agent('gemini')?.job?.progress);
    expect(progress.done).toBe(0);
    expect(progress.of).toBeGreaterThan(0);
    go();
    expect(await idle('gemini')).toMatchObject({ installed: { version: PINNED, from: 'data directory' } });
    expect(jobs.remove('gemini')).toMatchObject({ ok: true });
    expect(agent('gemini')).not.toHaveProperty('installed');
    expect(jobs.remove('gemini')).toMatchObject({ ok: false, error: { code: 'agent/not-installed' } });
    expect(jobs.check('gemini', 'ada')).toMatchObject({ ok: false, error: { code: 'agent/not-installed' } });
    expect(jobs.add('nobody', 'ada')).toMatchObject({ ok: false, error: { code: 'agent/unknown' } });
  });

  it('[A814] that is canceled ends npm and what it started, and leaves nothing', async () => {
    const { jobs, agent, places, folder } = given(`sleep 1000 &\necho $! > ../../../child\nmkdir node_modules\nwait`);
    const child = path.join(folder, 'child');
    expect(jobs.add('gemini', 'ada')).toMatchObject({ ok: true });
    const pid = await until(async () =>
      fs.existsSync(child) ? Number(fs.readFileSync(child, 'utf8')) || undefined : undefined,
    );
    const canceled = await jobs.cancel('gemini');
    expect(canceled.ok && canceled.value).not.toHaveProperty('job');
    await until(async () => !isRunning(pid) || undefined);
    expect(places()).toEqual([]);
    expect(agent('gemini')).not.toHaveProperty('problem');
  });

  it('[A814] that fails says why until the next job, without secrets', async () => {
    const clean = (text: string) => text.replaceAll('hunter2', '[redacted]');
    const { jobs, agent, idle, go, places } = given(
      `[ -e $GO ] && { ${INSTALLS}\nexit 0; }\necho "npm error 401 of https://me:hunter2@registry" >&2; exit 1`,
      {},
      { clean },
    );
    jobs.add('gemini', 'ada');
    expect(await idle('gemini')).toMatchObject({
      problem: {
        kind: 'add',
        code: 'agent/not-installed',
        message: expect.stringContaining('npm failed: 401 of https://me:[redacted]@registry'),
      },
    });
    expect(places()).toEqual([]);
    go();
    jobs.add('gemini', 'ada');
    expect(agent('gemini')).not.toHaveProperty('problem');
    expect(await idle('gemini')).not.toHaveProperty('problem');
    expect(agent('gemini')).toHaveProperty('installed');
  });

  it('[A814] ends when its jobs are closed, and when its time is up', async () => {
    const { jobs, options, places } = given(WAITS);
    jobs.add('gemini', 'ada');
    await jobs.close();
    expect(places()).toEqual([]);
    const late = openAgentJobs({ ...options, addLimitMs: 50 });
    late.add('gemini', 'ada');
    const problem = await until(async () => {
      const listed = late.list();
      return listed.ok ? listed.value.find(({ id }) => id === 'gemini')?.problem : undefined;
    });
    expect(problem.message).toContain('npm took longer than');
  });
});

const echo = { command: [process.execPath, echoAgentProgram], title: 'Echo' };

describe.skipIf(!sandbox.ok)('a check', () => {
  it('[A812] is kept for the version that was checked, over restarts', async () => {
    const { jobs, open, agent, idle, dataDirectory } = given('exit 1', { echo });
    expect(jobs.check('echo', 'ada')).toMatchObject({ ok: true, value: { job: { kind: 'check' } } });
    expect(await idle('echo')).toMatchObject({
      check: { status: 'ok', found: expect.stringContaining('completed a turn') },
    });
    expect(agent('echo', open())).toMatchObject({ check: { status: 'ok' } });
    const file = path.join(dataDirectory, 'agents/checks.json');
    const kept = JSON.parse(fs.readFileSync(file, 'utf8'));
    fs.writeFileSync(file, JSON.stringify({ echo: { ...kept.echo, version: '0.0.0' } }));
    expect(agent('echo', open())).not.toHaveProperty('check');
    fs.writeFileSync(file, 'not JSON');
    expect(agent('echo', open())).not.toHaveProperty('check');
  });

  it('[B151] warns of an agent that does not ask for the tools of its turn, or takes none', async () => {
    const deaf = { ...echo, settings: { ECHO_AGENT: '{"noMcp":true}' } };
    const { options } = given('exit 1', { echo, deaf });
    const rows = options.register.rows();
    const offer = { url: 'http://127.0.0.1:1', token: 'none', withdraw: async () => {} };
    const turns = { offer: async () => ({ ...offer, wasListed: () => false }) };
    const own = (rows.ok ? rows.value : []).filter(({ id }) => id === 'echo' || id === 'deaf');
    const checks = await doctorAgents(own, { ...options, turns });
    expect(checks.map(({ status, found }) => [status, found])).toEqual([
      ['warn', expect.stringContaining('did not ask for the tools of its turn: its model cannot ask you')],
      ['warn', expect.stringContaining('does not connect to MCP servers over HTTP')],
    ]);
  });

  it('[A811] ends when its time is up, when it is canceled, and says what is wrong', async () => {
    const silent = { ...echo, settings: { ECHO_AGENT: '{"silent":true}' } };
    const { jobs, options, agent, idle } = given('exit 1', { silent, broken: { command: ['sh', '-c', 'exit 3'] } });
    const row = (id: string) => {
      const rows = options.register.rows();
      return (rows.ok ? rows.value : []).filter(each => each.id === id);
    };
    const [late] = await doctorAgents(row('silent'), { ...options, limitMs: 2_000 });
    expect(late).toMatchObject({ status: 'fail', found: expect.stringContaining('it took longer than 2 seconds') });
    jobs.check('silent', 'ada');
    expect(agent('silent')).toMatchObject({ job: { kind: 'check' } });
    const canceled = await jobs.cancel('silent');
    expect(canceled.ok && canceled.value).not.toHaveProperty('check');
    expect(canceled.ok && canceled.value).not.toHaveProperty('job');
    jobs.check('broken', 'ada');
    expect(await idle('broken')).toMatchObject({
      check: { status: 'fail', found: expect.stringContaining('it exited with 3'), advice: expect.any(String) },
    });
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie is not running: nobody may have waited for it yet.
    return !/^\d+ \(.*\) Z/.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
