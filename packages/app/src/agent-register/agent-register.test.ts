import * as fs from 'node:fs';
import path from 'node:path';
import type { AgentRow } from '@signalbox/adapters/agents';
import type { Assignment } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { openAgentRegister } from './agent-register.ts';
import { placesOf } from './installed-agents.ts';

const row = (id: string, more: Partial<AgentRow> = {}): AgentRow => ({
  ...{ id, title: id, vendor: 'any', variables: [], settings: {}, homeFiles: {}, asking: { kind: 'settings' } },
  ...{ unasked: [], reports: { usage: false, cost: false }, files: 'own', quirks: [], isTried: true },
  package: { name: `@vendor/${id}-acp`, version: '1.2.3' },
  start: { kind: 'script', file: 'dist/index.js', args: ['--acp'] },
  ...more,
});
const rows = [
  row('claude', { vendor: 'claude' }),
  row('gemini', { vendor: 'gemini', start: { kind: 'bin', file: 'gemini', args: ['--acp'] } }),
  row('opencode', { start: { kind: 'bin', file: '../linux/bin/opencode', args: ['acp'] }, onPath: 'opencode' }),
];

function given() {
  const dataDirectory = fs.realpathSync(temporaryFolder());
  const bin = path.join(dataDirectory, 'somewhere/bin');
  fs.mkdirSync(bin, { recursive: true });
  const put = (file: string, content: string) => {
    fs.mkdirSync(path.dirname(path.join(dataDirectory, file)), { recursive: true });
    fs.writeFileSync(path.join(dataDirectory, file), content, { mode: 0o755 });
  };
  const register = openAgentRegister({ dataDirectory, env: { PATH: `relative:${bin}` }, rows });
  return { dataDirectory, register, put, bin };
}

describe('which agent does the work', () => {
  it('[A713] is the one that comes along where nothing is installed, or where the plan says so', () => {
    const { register, put } = given();
    for (const vendor of ['claude', 'codex', 'gemini', 'openai', 'any'] as const)
      expect(register.choose({ vendor })).toEqual({ kind: 'builtin' });
    put('agents/claude/node_modules/@vendor/claude-acp/package.json', '{"version":"1.2.3"}');
    put('agents/claude/node_modules/@vendor/claude-acp/dist/index.js', '');
    expect(register.choose({ vendor: 'claude', plugin: 'builtin' })).toEqual({ kind: 'builtin' });
  });

  it("[A713] is the vendor's own, installed in the data directory", () => {
    const { register, put, dataDirectory } = given();
    put('agents/claude/node_modules/@vendor/claude-acp/package.json', '{"version":"1.2.3"}');
    expect(register.choose({ vendor: 'claude' })).toEqual({ kind: 'builtin' });
    put('agents/claude/node_modules/@vendor/claude-acp/dist/index.js', '');
    put('agents/gemini/node_modules/@vendor/gemini-acp/package.json', '{"version":"2.0.0"}');
    put('agents/gemini/node_modules/.bin/gemini', '');
    const directory = `${dataDirectory}/agents/claude`;
    const node = process.execPath;
    const script = `${directory}/node_modules/@vendor/claude-acp/dist/index.js`;
    expect(register.choose({ vendor: 'claude' })).toEqual({
      kind: 'installed',
      row: rows[0],
      installed: { directory, program: [node, script, '--acp'], version: '1.2.3', from: 'data directory' },
    });
    expect(register.choose({ vendor: 'any', plugin: 'gemini' })).toMatchObject({
      installed: { program: [`${dataDirectory}/agents/gemini/node_modules/.bin/gemini`, '--acp'], version: '2.0.0' },
    });
    expect(register.choose({ vendor: 'codex' })).toEqual({ kind: 'builtin' });
    const own = [{ name: 'search', description: 'Search', input: {}, risk: 'low', effects: 'none' }] as const;
    for (const given of [{ tools: { own } }, { mcp: [] }] as readonly Partial<Assignment>[])
      expect(register.choose({ vendor: 'claude', ...given })).toEqual({ kind: 'builtin' });
  });

  it('[A713] is a program on the PATH only by its name', () => {
    const { register, put, bin } = given();
    put('somewhere/package.json', '{"version":"3.1.0"}');
    put('somewhere/bin/gemini', '#!/bin/sh\n');
    put('somewhere/bin/claude-acp', '#!/bin/sh\n');
    expect(register.choose({ vendor: 'gemini' })).toEqual({ kind: 'builtin' });
    expect(register.choose({ vendor: 'gemini', plugin: 'gemini' })).toMatchObject({
      installed: { program: [`${bin}/gemini`, '--acp'], version: '3.1.0', from: 'PATH' },
    });
    expect(register.choose({ vendor: 'claude', plugin: 'claude' })).toMatchObject({
      installed: { program: [`${bin}/claude-acp`, '--acp'] },
    });
    put('somewhere/bin/opencode', '#!/bin/sh\n');
    expect(register.choose({ vendor: 'any', plugin: 'opencode' })).toMatchObject({
      installed: { program: [`${bin}/opencode`, 'acp'], from: 'PATH' },
    });
  });

  it('[A713] is a command of the configuration, which goes before a row of the same name', () => {
    const { register, put, bin } = given();
    put('somewhere/bin/mine', '#!/bin/sh\n');
    put('config.json', '{"agents":{"own":{"command":["mine","--acp"],"mode":"ask"},"opencode":{"command":["mine"]}}}');
    expect(register.choose({ vendor: 'any', plugin: 'own' })).toMatchObject({
      row: { id: 'own', title: 'own', asking: { kind: 'mode', mode: 'ask' }, isTried: false },
      installed: { program: [`${bin}/mine`, '--acp'], from: 'command' },
    });
    expect(register.choose({ vendor: 'any', plugin: 'opencode' })).toMatchObject({ row: { start: { file: 'mine' } } });
  });

  it('[A713] is missing with what to do', () => {
    const { register, put } = given();
    const why = (plugin: string) => register.choose({ vendor: 'any', plugin });
    expect(why('opencode')).toEqual({
      kind: 'missing',
      message: 'The agent opencode is not installed. Install it with: signalbox agents add opencode',
    });
    expect(why('nobody')).toMatchObject({
      message: expect.stringContaining('Known agents: builtin, claude, gemini, opencode.'),
    });
    put('config.json', '{"agents":{"builtin":{"command":["x"]}}}');
    expect(why('opencode')).toMatchObject({ message: expect.stringContaining('config.json cannot be used: agents') });
    // A vendor's node does not need the configuration.
    expect(register.choose({ vendor: 'claude' })).toEqual({ kind: 'builtin' });
  });
});

it('[A714] an agent reads its installation, and no directory around one that is closed', () => {
  const { put, bin, dataDirectory } = given();
  put('somewhere/package.json', '{"version":"3.1.0"}');
  put('somewhere/bin/tool', '#!/bin/sh\n');
  const found = { program: [`${bin}/tool`, '--acp'], version: '3.1.0', from: 'PATH' } as const;
  const node = fs.realpathSync(process.execPath);
  expect(placesOf(found, [])).toEqual([node, `${dataDirectory}/somewhere`]);
  expect(placesOf(found, [`${dataDirectory}/somewhere/secret`])).toEqual([node, `${bin}/tool`]);
  expect(placesOf({ ...found, directory: '/agents/tool' }, [])).toContain('/agents/tool');
  fs.symlinkSync(`${bin}/tool`, `${bin}/linked`);
  const linked = { ...found, program: [`${bin}/linked`] };
  expect(placesOf(linked, [])).toEqual([node, `${dataDirectory}/somewhere`, `${bin}/linked`]);
});
