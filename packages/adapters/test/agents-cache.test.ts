import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { agentsCache, cachedAgent, fillCache, isLeftOut } from '../../../scripts/agents-cache.ts';
import { AGENT_ROWS, type AgentRow } from '../src/acp/index.ts';

const gemini = AGENT_ROWS.find(({ id }) => id === 'gemini') as AgentRow;

/** An npm that does what a script says, in the directory in which it is run. */
function npmOf(script: string): string {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'signalbox-npm-'));
  onTestFinished(() => fs.rmSync(directory, { recursive: true }));
  const file = `${directory}/npm`;
  fs.writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return file;
}

function emptyCache(): string {
  const cache = fs.mkdtempSync(path.join(os.tmpdir(), 'signalbox-cache-'));
  onTestFinished(() => fs.rmSync(cache, { recursive: true }));
  return cache;
}

const home = 'node_modules/@google/gemini-cli';
const INSTALLS = `echo "$@" >> "$(dirname "$0")/asked"
mkdir -p ${home}/bundle; echo '{"version":"0.61.0"}' > ${home}/package.json; : > ${home}/bundle/gemini.js`;

it('[B79] is outside the checkout, where a variable says or with the other caches', () => {
  expect(agentsCache({ SIGNALBOX_AGENTS_CACHE: '/some/where' })).toBe('/some/where');
  expect(agentsCache({ XDG_CACHE_HOME: '/caches' })).toBe('/caches/signalbox/agents');
  expect(agentsCache({})).toBe(`${os.homedir()}/.cache/signalbox/agents`);
});

it('[B79] installs an agent once, from its lock and without scripts', async () => {
  const cache = emptyCache();
  const npm = npmOf(INSTALLS);
  const agent = { directory: `${cache}/gemini-0.61.0`, version: '0.61.0', from: 'data directory' };
  const program = [process.execPath, `${cache}/gemini-0.61.0/${home}/bundle/gemini.js`, '--acp'];
  expect(await cachedAgent(gemini, cache)).toBeUndefined();
  expect(await fillCache(gemini, cache, npm)).toEqual({ kind: 'installed', agent: { ...agent, program } });
  expect(await fillCache(gemini, cache, npm)).toEqual({ kind: 'present', agent: { ...agent, program } });
  expect(await cachedAgent(gemini, cache)).toEqual({ ...agent, program });
  expect(fs.readdirSync(cache)).toEqual(['gemini-0.61.0']);
  expect(fs.readFileSync(`${path.dirname(npm)}/asked`, 'utf8')).toBe(
    'ci --ignore-scripts --prefer-offline --no-audit --no-fund\n',
  );
  const lock = fs.readFileSync(`${cache}/gemini-0.61.0/package-lock.json`, 'utf8');
  expect(JSON.parse(lock).packages[home].version).toBe('0.61.0');
});

it('[B154] is filled by two processes at once, and what a killed one left is removed', async () => {
  const cache = emptyCache();
  const dead = spawnSync(process.execPath, ['-e', '']).pid;
  for (const name of ['.making-AbCd', `.making-${dead}-x`, `.making-${process.ppid}-x`])
    fs.mkdirSync(`${cache}/${name}`);
  const both = await Promise.all([
    fillCache(gemini, cache, npmOf(INSTALLS)),
    fillCache(gemini, cache, npmOf(INSTALLS)),
  ]);
  expect(both.map(({ kind }) => kind)).toEqual(['installed', 'installed']);
  expect(fs.readdirSync(cache).sort()).toEqual([`.making-${process.ppid}-x`, 'gemini-0.61.0']);
});

it('[B154] leaves out tests of agents without layers, and of missing ones outside of CI', () => {
  const [ci, elsewhere] = [{ CI: 'true' }, {}];
  expect([isLeftOut(true, true, ci), isLeftOut(false, true, ci), isLeftOut(false, false, ci)]).toEqual([
    false,
    false,
    true,
  ]);
  expect([isLeftOut(true, true, elsewhere), isLeftOut(false, true, elsewhere)]).toEqual([false, true]);
});

it('[B79] replaces an agent of another lock, and one that was cut off', async () => {
  const cache = emptyCache();
  for (const mark of ['other', undefined]) {
    fs.mkdirSync(`${cache}/gemini-0.61.0`, { recursive: true });
    if (mark === undefined) fs.rmSync(`${cache}/gemini-0.61.0/installed-from`);
    else fs.writeFileSync(`${cache}/gemini-0.61.0/installed-from`, mark);
    fs.writeFileSync(`${cache}/gemini-0.61.0/stale`, '');
    expect(await cachedAgent(gemini, cache)).toBeUndefined();
    expect((await fillCache(gemini, cache, npmOf(INSTALLS))).kind).toBe('installed');
    expect(fs.existsSync(`${cache}/gemini-0.61.0/stale`)).toBe(false);
  }
});

it.each([
  [
    'npm fails',
    'echo "npm error code EINTEGRITY" >&2; echo "npm error A complete log" >&2; exit 1',
    'npm could not install it: code EINTEGRITY',
  ],
  ['npm says nothing', 'exit 7', 'npm could not install it: it exited with 7.'],
  ['there is no program', ':', `its packages have no program for ${process.platform}-${process.arch}.`],
])('[B79] leaves nothing behind and says why, if %s', async (_, script, reason) => {
  const cache = emptyCache();
  expect(await fillCache(gemini, cache, npmOf(script))).toEqual({ kind: 'failed', reason });
  expect(fs.readdirSync(cache)).toEqual([]);
});

it('[B79] says why, if there is no npm or no lock', async () => {
  const cache = emptyCache();
  const missing = await fillCache(gemini, cache, '/no/such/npm');
  expect(missing).toEqual({ kind: 'failed', reason: expect.stringContaining('ENOENT') });
  const unpinned = await fillCache({ ...gemini, id: 'some' }, cache);
  expect(unpinned).toEqual({ kind: 'failed', reason: 'no lock pins its packages.' });
});
