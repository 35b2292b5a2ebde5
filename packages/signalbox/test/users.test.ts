import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { liveClient } from '../../server/test/live-client.ts';
import { entry, ownEnvironment, signalbox, temporaryFolder } from './program.ts';

const folder = temporaryFolder();
const data = path.join(folder, 'data');
const run = (...args: readonly string[]) => signalbox([...args, '--data-dir', data], { cwd: folder });
const json = (...args: readonly string[]) => JSON.parse(run(...args, '--json').stdout);

interface Served {
  readonly url: string;
  readonly page: string;
  /** Everything that it printed. */
  told(): string;
  end(): Promise<void>;
}

const children = new Set<ChildProcess>();
afterEach(() => {
  for (const { pid, exitCode } of children) if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGKILL');
  children.clear();
});

async function serve(...flags: readonly string[]): Promise<Served> {
  const child = spawn(process.execPath, [entry, 'serve', '--port', '0', '--data-dir', data, ...flags], {
    cwd: folder,
    env: ownEnvironment(folder),
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  children.add(child);
  let told = '';
  child.stdout.setEncoding('utf8');
  await new Promise<void>(resolve => {
    child.stdout.on('data', text => {
      told += text;
      if (told.includes('#')) resolve();
    });
  });
  const closed = new Promise<void>(resolve => child.once('close', () => resolve()));
  const [page = ''] = /http\S+#[^"\s]+/.exec(told) ?? [];
  return {
    url: new URL(page).origin,
    page,
    told: () => told,
    async end() {
      child.kill('SIGTERM');
      await closed;
    },
  };
}

/** While the program runs this process waits: a connection that is kept would be gone by then. */
const ONCE = { connection: 'close' };

const status = async (url: string, token: string, place = '/api/health') => {
  const answer = await fetch(`${url}${place}`, { headers: { ...ONCE, authorization: `Bearer ${token}` } });
  await answer.arrayBuffer();
  return answer.status;
};

describe('signalbox users', () => {
  it('[X16] [A220] [A221] [A222] [A223] adds with a role and an expiry, lists, rotates and removes without a server', () => {
    expect(run('users').stdout).toBe('No users yet.\n');
    const ada = json('users', 'add', 'ada', '--role', 'operator', '--expires', '30d');
    expect(ada).toMatchObject({ name: 'ada', role: 'operator', token: expect.stringMatching(/^sbx_[\w-]{43}$/) });
    expect(Math.round((Date.parse(ada.expiresAt) - Date.parse(ada.addedAt)) / 86_400_000)).toBe(30);
    expect(run('users', 'add', 'bot', '--role', 'agent').stdout).toContain('Token of bot, role agent.');
    expect(run('users').stdout.trimEnd().split('\n')).toEqual([
      `ada  operator  expires ${ada.expiresAt.slice(0, 16)}Z  never used`,
      'bot  agent     never expires              never used',
    ]);
    const rotated = json('users', 'rotate', 'ada', '--expires', '12h');
    expect([rotated.role, rotated.token === ada.token]).toEqual(['operator', false]);
    expect(run('users', 'ls', '--json').stdout).not.toContain(rotated.token);
    expect(json('users', 'remove', 'ada')).toMatchObject({ name: 'ada' });
    expect(run('users', 'remove', 'bot')).toMatchObject({ status: 0, stdout: 'Removed bot.\n' });
  });

  it.each([
    [2, 'command/usage', ['add', 'ada', '--role', 'root']],
    [2, 'command/usage', ['add', 'ada', '--expires', 'soon']],
    [1, 'user/taken', ['add', 'cli']],
    [1, 'user/unknown', ['rotate', 'nobody']],
  ])('ends with %i and %s for %j', (expected, code, args) => {
    const ended = run('users', ...args, '--json');
    expect([ended.status, JSON.parse(ended.stdout).code]).toEqual([expected, code]);
  });

  it('[V138] [V184] [V187] [X5] a server says its token once, then links; removing and rotating end what is open there', async () => {
    const first = await serve();
    const token = new URL(first.page).hash.slice('#token='.length);
    expect(readFileSync(path.join(data, 'token'), 'utf8')).toBe(token);
    await first.end();

    const server = await serve();
    const { url } = server;
    expect(server.told()).not.toContain(token);
    expect(server.told()).toContain('works once');
    const code = new URL(server.page).hash.slice('#code='.length);
    const logIn = (given: string) =>
      fetch(`${url}/api/login`, {
        method: 'POST',
        headers: { ...ONCE, 'content-type': 'application/json' },
        body: JSON.stringify({ code: given }),
      });
    const tab = (await (await logIn(code)).json()) as { readonly token: string };
    expect(await status(url, tab.token, '/api/users')).toBe(200);
    expect((await logIn(code)).status).toBe(401);
    const another = run('link');
    expect(another).toMatchObject({ status: 0, stdout: expect.stringContaining(`${url}/#code=`) });
    expect((await logIn(new URL(another.stdout.trim()).hash.slice('#code='.length))).status).toBe(200);

    const ada = json('users', 'add', 'ada', '--role', 'viewer');
    const socket = await liveClient(url, { token: ada.token });
    expect(json('users')).toMatchObject({ name: 'ada', lastUsedAt: expect.any(String) });
    const rotated = json('users', 'rotate', 'ada');
    expect(await socket.closed).toBe(4401);
    expect([await status(url, ada.token), await status(url, rotated.token)]).toEqual([401, 200]);
    const again = await liveClient(url, { token: rotated.token });
    expect(run('users', 'remove', 'ada').status).toBe(0);
    expect(await again.closed).toBe(4401);
    expect(await status(url, rotated.token)).toBe(401);

    await server.end();
    expect(run('link')).toMatchObject({ status: 2, stderr: expect.stringContaining('signalbox serve') });
    const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter(file => file.isFile());
    const secrets = [token, ada.token, rotated.token, tab.token, code];
    const holding = files.filter(file =>
      secrets.some(secret => readFileSync(path.join(file.parentPath, file.name)).includes(secret)),
    );
    expect(holding.map(({ name }) => name)).toEqual(['token']);
  });

  it('[G60] the token of an agent does not tell whether a directory exists', async () => {
    const server = await serve();
    const { token } = json('users', 'add', 'bot', '--role', 'agent');
    const start = async (workspacePath: string) => {
      const answer = await fetch(`${server.url}/mcp/agent`, {
        method: 'POST',
        headers: {
          ...ONCE,
          authorization: `Bearer ${token}`,
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          'mcp-protocol-version': '2025-11-25',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'start_workflow', arguments: { workflowId: 'wr.research', workspacePath } },
        }),
      });
      return answer.text();
    };
    const nothing = await start('/nothing/here');
    expect(nothing).toContain('workspacePath');
    for (const place of ['/etc', '/', path.dirname(folder), data]) expect(await start(place)).toBe(nothing);
    const project = path.join(folder, 'project');
    mkdirSync(project);
    expect(await start(project)).toBe(nothing);
    writeFileSync(path.join(data, 'config.json'), JSON.stringify({ plans: { roots: [project] } }), { mode: 0o600 });
    expect(await start(project)).toContain('stateToken');
    rmSync(path.join(data, 'config.json'));
    await server.end();
    run('users', 'remove', 'bot');
  });
});
