import * as fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { withEndpoint } from './agent-endpoint.ts';
import { agentProject, installedIn } from './agent-packages.ts';
import { AGENT_ROWS, type AgentRow } from './register.ts';

const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string().optional(), integrity: z.string().optional(), resolved: z.string().optional() }),
  ),
});

function temporary(): string {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'signalbox-agents-'));
  onTestFinished(() => fs.rmSync(directory, { recursive: true }));
  return directory;
}

describe.each(AGENT_ROWS)('the row of $id', row => {
  it('[B76] has a lock with exact versions, integrity and no address', async () => {
    const project = await agentProject(row);
    const { name = '', version = '' } = row.package ?? {};
    expect(JSON.parse(project?.files['package.json'] ?? '')).toEqual({
      private: true,
      dependencies: { [name]: version },
    });
    const text = project?.files['package-lock.json'] ?? '';
    const { '': _, ...packages } = lockFile.parse(JSON.parse(text)).packages;
    expect(packages[`node_modules/${name}`]?.version).toBe(version);
    const loose = Object.entries(packages).filter(
      ([, one]) =>
        !/^sha512-/.test(one.integrity ?? '') || one.resolved !== undefined || !/^\d/.test(one.version ?? ''),
    );
    expect(loose).toEqual([]);
    expect(text).not.toMatch(/https?:/);
  });

  it('[B76] says how it is made to ask, if it is tried', () => {
    const fields = { ...row.settings, ...row.homeFiles };
    if (row.isTried && row.asking.kind === 'settings') expect(JSON.stringify(fields)).toMatch(/ask/i);
    expect(row.unasked).not.toContain('edit');
    if (row.isTried) expect(row.offering).toMatch(/^[A-Z].*\.$/);
    expect(row.quirks.filter(quirk => !/^[A-Z].*\.$/.test(quirk))).toEqual([]);
  });
});

const row: AgentRow = {
  id: 'some',
  title: 'Some',
  vendor: 'any',
  package: { name: '@some/agent', version: '1.2.3' },
  start: { kind: 'script', file: 'dist/index.js', args: ['--acp'] },
  variables: [],
  settings: { KEPT: 'kept', URL: 'none' },
  homeFiles: { 'kept.json': '{home}' },
  endpoint: {
    wire: 'openai-chat',
    settings: { URL: '{url}/v1' },
    homeFiles: { 'key.json': '{key}' },
    args: ['--url={url}'],
  },
  asking: { kind: 'settings' },
  unasked: [],
  reports: { usage: false, cost: false },
  files: 'own',
  quirks: [],
  isTried: false,
};

describe('an agent', () => {
  it('[B76] without a package or without a lock has no project', async () => {
    const { package: _, ...bare } = row;
    expect([await agentProject(bare), await agentProject(row)]).toEqual([undefined, undefined]);
  });

  it('[B77] is installed if its version and its program are there', () => {
    const directory = temporary();
    const home = `${directory}/node_modules/@some/agent`;
    expect(installedIn(row, directory)).toBeUndefined();
    fs.mkdirSync(`${home}/dist`, { recursive: true });
    fs.writeFileSync(`${home}/package.json`, '{"version":"1.2.3"}');
    expect(installedIn(row, directory)).toBeUndefined();
    fs.writeFileSync(`${home}/dist/index.js`, '');
    const found = { directory, version: '1.2.3', from: 'data directory' };
    expect(installedIn(row, directory)).toEqual({
      ...found,
      program: [process.execPath, `${home}/dist/index.js`, '--acp'],
    });
    const bin = { ...row, start: { kind: 'bin', file: '../other/agent', args: [] } } as const;
    expect(installedIn(bin, directory)).toBeUndefined();
    fs.mkdirSync(`${directory}/node_modules/other`);
    fs.writeFileSync(`${directory}/node_modules/other/agent`, '');
    expect(installedIn(bin, directory)).toEqual({ ...found, program: [`${directory}/node_modules/other/agent`] });
    fs.writeFileSync(`${home}/package.json`, '{}');
    expect(installedIn(row, directory)).toBeUndefined();
  });

  it('[B78] takes a model endpoint over its own settings', () => {
    expect(withEndpoint(row, { url: 'http://127.0.0.1:1', key: 'secret' })).toEqual({
      ...row,
      start: { ...row.start, args: ['--acp', '--url=http://127.0.0.1:1'] },
      settings: { KEPT: 'kept', URL: 'http://127.0.0.1:1/v1' },
      homeFiles: { 'kept.json': '{home}', 'key.json': 'secret' },
    });
    const { endpoint: _, ...bare } = row;
    expect(withEndpoint(bare, { url: '', key: '' })).toBeUndefined();
  });
});
