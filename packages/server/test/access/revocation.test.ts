import { connect, type Socket } from 'node:net';
import type { Users } from '@signalbox/app';
import { createClient } from '@signalbox/client';
import { timestamp, type UserRole } from '@signalbox/model';
import type { RunningServer, startServer } from '@signalbox/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TOKEN } from '../http-asker.ts';
import { type LiveClient, liveClient } from '../live-client.ts';
import { manualTimers } from '../manual-timers.ts';
import { memoryUsers, noSettings } from '../memory-users.ts';
import { releasePlan } from '../release-plan.ts';
import { type ScriptedHost, scriptedHost } from '../scripted-host.ts';
import { startBare } from './access-stage.ts';

const ADA = 'token-of-ada-before';

interface Stage {
  readonly host: ScriptedHost;
  readonly server: RunningServer;
  readonly users: Users;
  readonly owner: ReturnType<typeof createClient>;
}

async function stage({
  role = 'viewer',
  expiresAt,
  ...options
}: {
  readonly role?: UserRole;
  readonly expiresAt?: string;
} & Partial<Parameters<typeof startServer>[0]> = {}): Promise<Stage> {
  const host = scriptedHost();
  const expiry = expiresAt === undefined ? {} : { expiresAt: timestamp.parse(expiresAt) };
  const users = memoryUsers({ [ADA]: { name: 'ada', role, ...expiry } }, options.clock);
  const server = await startBare({ host, token: TOKEN, users, ...options });
  onTestFinished(() => server.close());
  return { host, server, users, owner: createClient({ url: server.url, token: TOKEN }) };
}

/** The connection below a socket. */
const tcpOf = ({ socket }: LiveClient) => (socket as unknown as { readonly _socket: Socket })._socket;

/** A connection of which every byte is counted. */
interface RawStream {
  readonly socket: Socket;
  readonly text: () => string;
  /** Resolves when what was received fits. */
  until(pattern: RegExp): Promise<void>;
  readonly closed: Promise<void>;
}

function rawRequest(port: number, method: string, path: string, headers: Record<string, string>, body = ''): RawStream {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  const waiting = new Set<() => void>();
  socket.setEncoding('utf8').on('data', data => {
    text += data;
    for (const look of [...waiting]) look();
  });
  socket.on('error', () => undefined);
  const lines = Object.entries({ host: `127.0.0.1:${port}`, authorization: `Bearer ${ADA}`, ...headers });
  socket.write(
    [
      `${method} ${path} HTTP/1.1`,
      ...lines.map(([name, value]) => `${name}: ${value}`),
      ...(body === '' ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
      '',
      body,
    ].join('\r\n'),
  );
  onTestFinished(() => void socket.destroy());
  return {
    socket,
    text: () => text,
    until: pattern =>
      new Promise(resolve => {
        const look = () => {
          if (!pattern.test(text)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    closed: new Promise(resolve => socket.once('close', () => resolve())),
  };
}

const mcpHeaders = {
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
  'mcp-protocol-version': '2025-11-25',
};
const rpc = (method: string, params: object, id?: number) => JSON.stringify({ jsonrpc: '2.0', id, method, params });

/** Begins a session of 2025-11-25 and answers its id. */
async function beginSession(url: string, place: string): Promise<string> {
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${url}${place}`, {
      method: 'POST',
      headers: { ...mcpHeaders, authorization: `Bearer ${ADA}`, ...headers },
      body,
    });
  const clientInfo = { name: 'test', version: '1' };
  const begun = await post(rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }, 1));
  await begun.text();
  const session = begun.headers.get('mcp-session-id') ?? '';
  await (await post(rpc('notifications/initialized', {}), { 'mcp-session-id': session })).text();
  return session;
}

/** Something happens that everybody who watches hears of, and somebody has heard of it. */
async function happen({ host, server }: Stage): Promise<void> {
  const watcher = await liveClient(server.url, { token: TOKEN });
  watcher.say({ kind: 'subscribe', run: 'all' });
  await watcher.first('runs');
  const run = await host.begin('afterwards');
  await run.render(releasePlan, { build: 'running' });
  await watcher.first('run', ({ run: changed }) => changed === run.id);
  watcher.close();
  await watcher.closed;
}

const ends = {
  removing: async ({ owner }: Stage) => expect(await owner.removeUser('ada')).toMatchObject({ ok: true }),
  rotating: async ({ owner }: Stage) => expect(await owner.rotateUser('ada')).toMatchObject({ ok: true }),
};
const every = Object.entries(ends);

describe.each(every)('%s a user', (_, end) => {
  it('[V184] ends a socket before it is answered, and no byte follows', async () => {
    const on = await stage();
    const run = await on.host.begin('before');
    const client = await liveClient(on.server.url, { token: ADA });
    client.say({ kind: 'subscribe', run: 'all' });
    client.say({ kind: 'subscribe', run: run.id });
    await client.first('state');
    const tcp = tcpOf(client);
    await end(on);
    expect(await client.closed).toBe(4401);
    const [messages, bytes] = [client.received.length, tcp.bytesRead];
    await happen(on);
    expect([client.received.length, tcp.bytesRead]).toEqual([messages, bytes]);
    const again = await liveClient(on.server.url);
    again.say({ kind: 'hello', token: ADA });
    expect([await again.closed, again.received]).toEqual([4401, []]);
  });

  it('[V184] drops pending data of a socket that does not read', async () => {
    const on = await stage();
    const run = await on.host.begin('before');
    const client = await liveClient(on.server.url, { token: ADA });
    client.say({ kind: 'subscribe', run: run.id, view: 'stored' });
    await client.first('state');
    client.socket.pause();
    const reader = await liveClient(on.server.url, { token: TOKEN });
    reader.say({ kind: 'subscribe', run: run.id, view: 'stored' });
    await reader.first('state');
    const told = () => reader.received.filter(({ kind }) => kind === 'event').length;
    const before = told();
    const load = (payload: string) => on.host.act(run.id, { kind: 'signal', name: 'load', payload }, 'test');
    for (let turn = 0; turn < 40; turn += 1) await load('x'.repeat(500_000));
    // By now as much waits for the one that does not read as may.
    await reader.until(() => told() >= before + 40);
    reader.close();
    await end(on);
    await load('AFTERWARDS');
    const reset = new Promise<boolean>(resolve => tcpOf(client).once('close', resolve));
    client.socket.resume();
    // It was reset, so that the system dropped what waited too: there was no end and no farewell behind it.
    expect([await client.closed, await reset]).toEqual([1006, true]);
    expect(JSON.stringify(client.received)).not.toContain('AFTERWARDS');
  });

  it.each([
    ['/mcp', 'operator'],
    ['/mcp/agent', 'agent'],
  ] as const)('[V184] ends an MCP session and its stream at %s before it is answered', async (place, role) => {
    const on = await stage({ role });
    const { url, port } = on.server;
    const session = await beginSession(url, place);
    const stream = rawRequest(port, 'GET', place, { ...mcpHeaders, 'mcp-session-id': session });
    await stream.until(/text\/event-stream/);
    if (place === '/mcp') {
      await happen(on);
      await stream.until(/execution\.status|frame\.created/);
    }
    await end(on);
    const told = stream.text();
    await stream.closed;
    await happen(on);
    expect([stream.text(), stream.socket.bytesRead]).toEqual([told, Buffer.byteLength(told)]);
    const ask = (token: string) =>
      fetch(`${url}${place}`, {
        method: 'POST',
        headers: { ...mcpHeaders, authorization: `Bearer ${token}`, 'mcp-session-id': session },
        body: rpc('tools/list', {}, 2),
      });
    expect((await ask(ADA)).status).toBe(401);
    // The session is gone, and was never anybody else's.
    on.users.add('grace', { role });
    expect((await ask('token-of-grace')).status).toBe(404);
  });

  it('[V184] ends an independent request that listens', async () => {
    const on = await stage({ role: 'operator' });
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const body = rpc(
      'subscriptions/listen',
      { _meta: meta, notifications: { resourceSubscriptions: ['signalbox://executions'] } },
      1,
    );
    const headers = { ...mcpHeaders, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' };
    const stream = rawRequest(on.server.port, 'POST', '/mcp', headers, body);
    await stream.until(/text\/event-stream/);
    await happen(on);
    await stream.until(/resources\/updated/);
    await end(on);
    const told = stream.text();
    await stream.closed;
    await happen(on);
    expect(stream.text()).toBe(told);
  });

  it('[V184] ends a request that is being answered', async () => {
    const answered = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const on = await stage({
      settings: {
        read: async () => {
          reached.resolve();
          await answered.promise;
          return noSettings.read();
        },
      },
    });
    const asking = rawRequest(on.server.port, 'GET', '/api/settings', {});
    await reached.promise;
    await end(on);
    answered.resolve();
    await asking.closed;
    expect(asking.text()).toBe('');
  });
});

describe('a user', () => {
  it('[V184] with the role of an owner can remove itself and gets an answer', async () => {
    const on = await stage({ role: 'owner' });
    const client = await liveClient(on.server.url, { token: ADA });
    const ada = createClient({ url: on.server.url, token: ADA });
    expect(await ada.removeUser('ada')).toMatchObject({ ok: true, value: { name: 'ada' } });
    expect(await client.closed).toBe(4401);
    expect(await ada.health()).toMatchObject({ ok: false, error: { code: 'request/unauthorized' } });
  });

  it('[V184] stays open when another user is removed', async () => {
    const on = await stage();
    const client = await liveClient(on.server.url, { token: ADA });
    on.users.add('grace');
    expect(await on.owner.removeUser('grace')).toMatchObject({ ok: true });
    client.say({ kind: 'subscribe', run: 'all' });
    await client.first('runs');
    client.close();
  });

  it('[V185] that expires is ended at that moment', async () => {
    let now = Date.parse('2026-11-02T10:00:00.000Z');
    const manual = manualTimers();
    const on = await stage({
      expiresAt: '2026-11-02T10:00:00.400Z',
      clock: { now: () => now },
      timers: manual.timers,
      role: 'operator',
    });
    const client = await liveClient(on.server.url, { token: ADA });
    const session = await beginSession(on.server.url, '/mcp');
    const stream = rawRequest(on.server.port, 'GET', '/mcp', { ...mcpHeaders, 'mcp-session-id': session });
    await stream.until(/text\/event-stream/);
    now += 400;
    manual.advance(400);
    expect(await client.closed).toBe(4401);
    await stream.closed;
    const ada = createClient({ url: on.server.url, token: ADA });
    expect(await ada.health()).toMatchObject({ error: { message: expect.stringContaining('expired at 2026-11-02') } });
  });

  it('[V272] that expired gets nothing more, however late the server notices', async () => {
    let now = Date.parse('2026-11-02T10:00:00.000Z');
    const manual = manualTimers();
    const on = await stage({
      expiresAt: '2026-11-02T10:00:00.400Z',
      clock: { now: () => now },
      timers: manual.timers,
    });
    const run = await on.host.begin('watched');
    const watching = async (token: string) => {
      const client = await liveClient(on.server.url, { token });
      client.say({ kind: 'subscribe', run: run.id });
      await client.first('state');
      return client;
    };
    const [ada, owner] = [await watching(ADA), await watching(TOKEN)];
    const heard = [...ada.received];
    now += 400;
    await run.render(releasePlan, { build: 'running' });
    await owner.first('event');
    manual.advance(400);
    expect(await ada.closed).toBe(4401);
    expect(ada.received).toEqual(heard);
    owner.close();
  });

  it('[V185] that another process removed is ended within a second, whatever others open meanwhile', async () => {
    const manual = manualTimers();
    const on = await stage({ timers: manual.timers });
    const added = on.users.add('grace', { expiresAt: timestamp.parse('2999-01-01T00:00:00.000Z') });
    const grace = createClient({ url: on.server.url, token: added.ok ? added.value.token : '' });
    const client = await liveClient(on.server.url, { token: ADA });
    on.users.remove('ada');
    for (let passed = 0; passed < 1_000; passed += 250) {
      expect(await grace.health()).toMatchObject({ ok: true });
      manual.advance(250);
    }
    expect(await client.closed).toBe(4401);
  });

  it('[V185] that another process removed is ended within a second', async () => {
    const manual = manualTimers();
    const on = await stage({ timers: manual.timers });
    const before = manual.waiting;
    const client = await liveClient(on.server.url, { token: ADA });
    on.users.remove('ada');
    manual.advance(1_000);
    expect(await client.closed).toBe(4401);
    await expect.poll(() => manual.waiting).toBe(before);
  });
});
