import { connect, Socket } from 'node:net';
import { thisMachine } from '@signalbox/app/host';
import { startServer } from '@signalbox/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createStrangers, STRANGER_CONNECTIONS_MAX } from '../../src/access/strangers.ts';
import { STRANGERS_MAX } from '../../src/live/upgrade.ts';
import { ADAS_TOKEN, TOKEN } from '../http-asker.ts';
import { type LiveClient, liveClient } from '../live-client.ts';
import { manualTimers } from '../manual-timers.ts';
import { memoryUsers } from '../memory-users.ts';
import { scriptedHost } from '../scripted-host.ts';

async function stage(timers = thisMachine().timers): Promise<string> {
  const users = memoryUsers({ [ADAS_TOKEN]: { name: 'ada', role: 'viewer' } });
  const started = await startServer({ host: scriptedHost(), token: TOKEN, users, port: 0, timers });
  if (!started.ok) throw new Error(started.error.message);
  onTestFinished(() => started.value.close());
  return started.value.url;
}

/** How many connections are still open. */
async function openOf(clients: readonly LiveClient[]): Promise<number> {
  return clients.filter(({ socket }) => socket.readyState === socket.OPEN).length;
}

async function many(count: number, open: () => Promise<LiveClient>): Promise<readonly LiveClient[]> {
  const clients: LiveClient[] = [];
  for (let index = 0; index < count; index += 1) clients.push(await open());
  return clients;
}

describe('connections that have not sent a token', () => {
  it('[V186] keep nobody out, however many there are', async () => {
    const url = await stage();
    const before = await liveClient(url, { token: TOKEN });
    const silent = await many(100, () => liveClient(url));
    await expect.poll(() => openOf(silent)).toBe(STRANGERS_MAX);
    const ada = await liveClient(url, { token: ADAS_TOKEN });
    for (const client of [before, ada]) {
      client.say({ kind: 'subscribe', run: 'all' });
      await client.first('runs');
    }
    expect(silent.flatMap(({ received }) => received)).toEqual([]);
    for (const client of [...silent, before, ada]) client.socket.terminate();
  });

  it('[V186] [V22] have five seconds', async () => {
    const manual = manualTimers();
    const url = await stage(manual.timers);
    const silent = await many(STRANGERS_MAX, () => liveClient(url));
    manual.advance(5_000);
    expect(new Set(await Promise.all(silent.map(({ closed }) => closed)))).toEqual(new Set([4401]));
  });
});

describe('connections without a request', () => {
  it('[V260] are bounded, and keep nobody out', async () => {
    const url = await stage();
    const { port } = new URL(url);
    const status = async () =>
      (await fetch(`${url}/api/health`, { headers: { authorization: `Bearer ${TOKEN}` } })).status;
    expect(await status()).toBe(200);
    const silent = Array.from({ length: STRANGER_CONNECTIONS_MAX + 50 }, () => connect(Number(port), '127.0.0.1'));
    onTestFinished(() => {
      for (const socket of silent) socket.destroy();
    });
    for (const socket of silent) socket.on('error', () => {}).resume();
    await Promise.all(silent.slice(0, 50).map(socket => new Promise(resolve => socket.once('close', resolve))));
    expect(await status()).toBe(200);
    expect(silent.filter(({ closed }) => !closed).length).toBeLessThanOrEqual(STRANGER_CONNECTIONS_MAX);
  });
});

describe('a connection whose upgrade is refused', () => {
  const upgrade = (path: string, host: string) =>
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`;

  it.each([
    ['another path', '/api/nothing', undefined],
    ['another host', '/api/ws', 'elsewhere.example'],
  ])('[V271] is closed by the server, though the client keeps its side open: %s', async (_, path, host) => {
    const url = new URL(await stage());
    const socket = connect({ port: Number(url.port), host: '127.0.0.1', allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    const ended = new Promise(resolve => socket.once('end', resolve));
    socket.resume().write(upgrade(path, host ?? url.host));
    await ended;
    // Writing to a connection that is closed at the other end fails; one that is half open accepts it.
    const told = new Promise<string | undefined>(resolve =>
      socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code)),
    );
    const writing = setInterval(() => socket.write('more'), 10);
    onTestFinished(() => clearInterval(writing));
    expect(await told).toMatch(/EPIPE|ECONNRESET/);
  });
});

describe('a connection that sent a token', () => {
  it('[V260] is not replaced', () => {
    const strangers = createStrangers();
    const [known, silent] = [new Socket(), new Socket()];
    for (const socket of [known, silent]) strangers.arrive(socket);
    strangers.leave(known);
    for (let n = 0; n < STRANGER_CONNECTIONS_MAX; n++) strangers.arrive(new Socket());
    expect([known.destroyed, silent.destroyed]).toEqual([false, true]);
  });
});

describe('connections of one token', () => {
  it('[V186] are at most 64, and leave room for others', async () => {
    const url = await stage();
    const adas = await many(64, () => liveClient(url, { token: ADAS_TOKEN }));
    const more = await liveClient(url);
    more.say({ kind: 'hello', token: ADAS_TOKEN });
    expect([await more.closed, more.received]).toEqual([1013, []]);
    const owner = await liveClient(url, { token: TOKEN });
    owner.say({ kind: 'subscribe', run: 'all' });
    await owner.first('runs');
    expect(await openOf(adas)).toBe(64);
    const [first] = adas;
    first?.close();
    await first?.closed;
    await expect
      .poll(async () => {
        const again = await liveClient(url);
        again.say({ kind: 'hello', token: ADAS_TOKEN });
        return Promise.race([again.first('welcome').then(() => 'in'), again.closed]);
      })
      .toBe('in');
    for (const client of [...adas, owner]) client.socket.terminate();
  });
});
