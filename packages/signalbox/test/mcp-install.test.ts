import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { programEntry } from '../../../scripts/staleness.ts';

const main = programEntry();

function place() {
  const cwd = mkdtempSync(path.join(tmpdir(), 'install-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const env = { ...process.env, HOME: cwd, SIGNALBOX_DATA_DIR: path.join(cwd, 'data') };
  const say = (...args: readonly string[]) =>
    spawnSync(process.execPath, [main, 'mcp', 'install', ...args], { cwd, env, encoding: 'utf8' });
  return { cwd, say, file: path.join(cwd, '.mcp.json') };
}

it('[X86] names a program that was seen to start, and is removed again', () => {
  const { say, file } = place();
  expect(say('claude', '--dry-run').stdout).toContain(file);
  expect(existsSync(file)).toBe(false);
  expect(say('claude')).toMatchObject({ status: 0, stdout: expect.stringContaining(file) });
  const { mcpServers } = JSON.parse(readFileSync(file, 'utf8'));
  expect(mcpServers.signalbox).toMatchObject({ type: 'stdio', args: [main, 'mcp'] });
  expect(say('claude', '--remove').status).toBe(0);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ mcpServers: {} });
});

it('[X86] writes nothing if the program does not start, the client is not known or its file has comments', () => {
  const { say, file } = place();
  expect(say('claude', '--command', 'false')).toMatchObject({ status: 1, stderr: expect.stringContaining('false') });
  expect(say('emacs').status).toBe(2);
  expect(say('zed', '--url', 'http://127.0.0.1:1/mcp/agent').status).toBe(2);
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, '{ // mine\n}\n');
  expect(say('claude', '--no-check')).toMatchObject({ status: 2, stderr: expect.stringContaining('was not changed') });
  expect(readFileSync(file, 'utf8')).toBe('{ // mine\n}\n');
});
