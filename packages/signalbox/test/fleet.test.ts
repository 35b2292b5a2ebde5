import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { detectSandbox } from '@signalbox/state';
import { echoAgentProgram, echoPrompt } from '@signalbox/testkit';
import { afterEach, expect, it } from 'vitest';
import { until } from '../../app/test/support/until.ts';
import { entry, ownEnvironment, signalbox, temporaryFolder } from './program.ts';

const sandbox = await detectSandbox();
const folder = temporaryFolder();
const data = path.join(folder, 'data');
mkdirSync(path.join(folder, 'below'));
mkdirSync(data, { mode: 0o700 });
const echo = { command: [process.execPath, echoAgentProgram], title: 'Echo' };
writeFileSync(path.join(data, 'config.json'), JSON.stringify({ agents: { echo } }));
const run = (...args: readonly string[]) => signalbox([...args, '--data-dir', data], { cwd: folder });
const json = (...args: readonly string[]) =>
  run(...args, '--json')
    .stdout.split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line));

const children = new Set<ChildProcess>();
const killAll = () => {
  for (const { pid, exitCode } of children) if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGKILL');
  children.clear();
};
afterEach(killAll);

/** Resolves when it listens. */
async function serve(...flags: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [entry, 'serve', '--port', '0', '--data-dir', data, ...flags], {
    cwd: folder,
    env: ownEnvironment(folder),
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  children.add(child);
  await new Promise<void>(resolve => child.stdout.setEncoding('utf8').once('data', () => resolve()));
}

it('[X98, X120, X121, X122, X123, X124, X215] directs agents while a server plays a scenario, and after it was killed', async () => {
  expect(run('fleet', 'kill', 'backend')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('No server runs agents'),
  });
  expect(run('serve', '--scenario', 'nobody')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('Choose one of: maya'),
  });
  await serve('--scenario', 'david', '--speed', '10');

  const decision = await until(() => json('decisions').find(({ from }) => from === 'agent')?.decision);
  expect(run('decisions').stdout).toContain(`signalbox approve ${decision.id}`);
  expect(json('approve', decision.id.slice(0, 18))).toMatchObject([
    { from: 'agent', decision: { id: decision.id, status: 'answered' } },
  ]);
  expect(json('fleet', 'ls').map(({ name }) => name)).toEqual(['backend', 'frontend', 'tests']);
  expect(run('mode').stdout).toBe('The control mode is orchestrator.\n');
  expect(run('mode', 'adaptive').stdout).toBe('The control mode is adaptive.\n');
  expect(run('mode', 'nothing').status).toBe(2);

  expect(run('brake', 'look first', '--workstream', 'backend').status).toBe(0);
  await until(() => (run('brake').stdout.includes('pending') ? undefined : true));
  expect(run('brake').stdout).toMatch(/engaged {2}pause workstream backend: look first\n.*(paused|already stopped)/);
  expect(run('fleet', 'resume', 'backend')).toMatchObject({
    status: 4,
    stderr: expect.stringContaining('A brake holds it'),
  });
  expect(run('brake', '--release').stdout).toContain('released by operator');

  killAll();
  const left = json('fleet', 'ls');
  expect(left).toHaveLength(3);
  expect(left.filter(({ standing }) => standing === 'working' || standing === 'waiting_for_you')).toEqual([]);
  expect(run('fleet', 'ls').stdout).toContain('No server runs it');
  expect(run('fleet', 'show', 'backend').stdout).toContain('Mode: adaptive');
  const [trust] = json('trust', 'backend');
  expect(json('trust', 'backend', '--recompute')).toMatchObject([
    { ok: true, score: trust.score, computed: trust.score },
  ]);
  expect(json('trust', 'backend', '--simulate', 'permissive')).toMatchObject([
    { profile: 'permissive', actual: trust.score },
  ]);
  expect(run('trust', 'backend', '--simulate', 'nice').status).toBe(2);
  expect(run('fleet', 'show', 'nobody')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('There is no agent nobody'),
  });

  await serve('--scenario', 'david', '--speed', '10');
  const question = await until(() =>
    json('decisions').find(one => one.from === 'agent' && one.decision.subject.title?.includes('crashed')),
  );
  expect(run('approve', question.decision.id, '--option', 'restart').status).toBe(0);
  const agent = question.decision.agentName;
  await until(() => (json('fleet', 'show', agent)[0].lives > 1 ? true : undefined));
  expect(run('fleet', 'kill', agent, '--reason', 'enough').status).toBe(0);
  await until(() => (json('fleet', 'show', agent)[0].standing === 'dead' ? true : undefined));

  const description = echoPrompt([{ do: 'say', text: 'Hello.' }]);
  const place = ['--workstream', 'docs', '--directory', 'below', '--model', 'small'];
  const [spawned] = json(
    'fleet',
    'spawn',
    'own',
    '--plugin',
    'echo',
    '--role',
    'Writer',
    ...place,
    '--description',
    description,
  );
  expect(spawned).toMatchObject({
    ...{ name: 'own', pluginName: 'echo', role: 'Writer', workstream: 'docs' },
    brief: { modelPreference: 'small', workspaceRequirements: { mounts: [{ hostPath: 'below' }] } },
  });
  // Where agents cannot be confined, it is refused.
  const ended = await until(() => json('fleet', 'show', 'own').find(({ standing }) => /done|failed/.test(standing)));
  expect(ended.standing).toBe(sandbox.ok ? 'done' : 'failed');
});
