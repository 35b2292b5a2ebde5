import * as fs from 'node:fs';
import path from 'node:path';
import { echoAgentProgram } from '@signalbox/testkit';
import { expect, it } from 'vitest';
import { signalbox, temporaryFolder } from './program.ts';

const folder = temporaryFolder();

function given(config: object = {}) {
  const data = fs.mkdtempSync(path.join(folder, 'data-'));
  fs.writeFileSync(path.join(data, 'config.json'), JSON.stringify(config));
  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    signalbox(['agents', ...args, '--data-dir', data], { cwd: folder, env });
  const json = (args: readonly string[], env?: Record<string, string>) =>
    run([...args, '--json'], env)
      .stdout.trim()
      .split('\n')
      .map(line => JSON.parse(line) as Record<string, unknown>);
  return { data, run, json };
}

/** An npm that does what the test wants instead of asking a registry. */
function npm(script: string): Record<string, string> {
  const bin = fs.mkdtempSync(path.join(folder, 'bin-'));
  fs.writeFileSync(path.join(bin, 'npm'), `#!/bin/sh\necho "$*" > ${bin}/called\n${script}\n`, { mode: 0o755 });
  return { PATH: `${bin}:${process.env.PATH}`, BIN: bin };
}

const INSTALLS = `grep -q '"@google/gemini-cli"' package.json && [ -s package-lock.json ] || exit 7
mkdir -p node_modules/.bin node_modules/@google/gemini-cli/bundle
v=$(sed -n 's/.*gemini-cli": "\\(.*\\)".*/\\1/p' package.json)
echo "{\\"version\\":\\"$v\\"}" > node_modules/@google/gemini-cli/package.json
for f in node_modules/.bin/gemini node_modules/@google/gemini-cli/bundle/gemini.js; do echo x > $f; chmod 755 $f; done`;

it('[X30] lists every agent that is known, with where it was found', () => {
  const { json, run } = given({ agents: { mine: { command: [process.execPath, echoAgentProgram], title: 'Mine' } } });
  const agents = json(['ls']);
  expect(agents.map(({ id }) => id)).toEqual([
    ...['claude', 'codex', 'gemini', 'opencode', 'goose', 'copilot', 'qwen', 'mine'],
  ]);
  expect(agents.find(({ id }) => id === 'mine')).toMatchObject({
    title: 'Mine',
    isTried: false,
    installed: { from: 'command', program: [process.execPath, echoAgentProgram] },
  });
  expect(run([]).stdout).toMatch(/^claude +Claude Code +not installed; signalbox agents add claude installs [\d.]+\n/);
  expect(run([]).stdout).toMatch(/\nmine +Mine +.* from the command {2}\(untried\)\n/);
});

it('[X30] adds an agent below the data directory, whole or not at all, and removes it', () => {
  const { data, run, json } = given();
  const env = npm(INSTALLS);
  const added = run(['add', 'gemini'], env);
  expect(added).toMatchObject({ status: 0 });
  expect(fs.readFileSync(path.join(env.BIN ?? '', 'called'), 'utf8')).toBe(
    'ci --ignore-scripts --prefer-offline --no-audit --no-fund\n',
  );
  const gemini = () => json(['ls']).find(({ id }) => id === 'gemini') as { installed?: object };
  expect(gemini()).toMatchObject({ installed: { from: 'data directory' } });
  expect(fs.readdirSync(path.join(data, 'agents'))).toEqual(['gemini']);

  const failed = run(['add', 'gemini'], npm('mkdir node_modules; echo "npm error no such registry" >&2; exit 1'));
  expect(failed).toMatchObject({ status: 1, stderr: expect.stringContaining('npm failed: no such registry') });
  expect(fs.readdirSync(path.join(data, 'agents'))).toEqual(['gemini']);
  expect(gemini().installed).toBeDefined();

  expect(run(['remove', 'gemini'])).toMatchObject({ status: 0, stdout: 'Removed gemini.\n' });
  expect(gemini().installed).toBeUndefined();
  expect(run(['remove', 'gemini'])).toMatchObject({ status: 1, stderr: expect.stringContaining('is not installed') });
  expect(run(['add', 'nobody'])).toMatchObject({ status: 1, stderr: expect.stringContaining('There is no agent') });
});

it.skipIf(process.platform !== 'linux')('[X30] starts an agent, and says in one sentence what is missing', () => {
  const echo = { command: [process.execPath, echoAgentProgram] };
  const { run, json } = given({
    agents: { echo, keyed: { ...echo, variables: ['KEYED_API_KEY'] }, broken: { command: ['sh', '-c', 'exit 3'] } },
  });
  expect(run(['doctor', 'echo'])).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/✓ echo {2}echo .* \(command\) completed a turn; no test of Signalbox runs it\n/),
  });
  const [{ checks } = { checks: [] }] = json(['doctor']) as [
    { checks: { name: string; status: string; found: string }[] },
  ];
  expect(checks.map(({ name, status }) => [name, status])).toEqual([
    ['echo', 'ok'],
    ['keyed', 'warn'],
    ['broken', 'fail'],
  ]);
  expect(checks[2]?.found).toMatch(/did not complete a turn: broken ended before its turn did: it exited with 3\./);
  expect(run(['doctor', 'claude'], { PATH: '/usr/bin:/bin' })).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('Claude Code is not installed'),
  });
});
