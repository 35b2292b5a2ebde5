import { connect } from 'node:net';
import { createAccess, createHttpApp, createRunMetrics, startServer } from '@signalbox/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../src/openapi/operations.ts';
import { auth, code, TOKEN, UNKNOWN } from './http-asker.ts';
import { liveClient } from './live-client.ts';
import { manualTimers } from './manual-timers.ts';
import { scriptedGuided } from './mcp/scripted-guided.ts';
import { memoryUsers, noAgents, noFleet, noSettings } from './memory-users.ts';
import { noSessions } from './no-sessions.ts';
import { scriptedHost } from './scripted-host.ts';

const host = scriptedHost();
const app = createHttpApp({
  host,
  sessions: noSessions,
  workflows: scriptedGuided({}),
  users: memoryUsers(),
  settings: noSettings,
  agents: noAgents,
  fleet: noFleet,
  metrics: createRunMetrics(host),
  agentMcp: async () => new Response('reached'),
  operatorMcp: async () => new Response('reached'),
  access: createAccess(TOKEN, () => 4280),
});
const everyRoute = [
  ...operations.map(({ method, path }) => [method.toUpperCase(), path.replace(/:\w+/g, UNKNOWN)] as const),
  ...(['GET', 'POST', 'DELETE'] as const).flatMap(method => [
    [method, '/mcp'] as const,
    [method, '/mcp/agent'] as const,
  ]),
  ['GET', '/metrics'] as const,
];
const ask = async (method: string, path: string, headers: Record<string, string>) =>
  app.request(path, { method, headers });

/** The exchange of a one-time link, and what editors read. */
const OPEN = ['/api/login', '/api/workflow.schema.json'];

describe.each(everyRoute)('%s %s', (method, path) => {
  it('[V95] needs the token, a host name of this machine and no foreign origin', async () => {
    const { authorization: _, ...open } = auth;
    const wrong = { ...open, authorization: 'Bearer wrong' };
    if (!OPEN.includes(path)) {
      expect(await code(await ask(method, path, open))).toEqual([401, 'request/unauthorized']);
      expect(await code(await ask(method, path, wrong))).toEqual([401, 'request/unauthorized']);
      expect(await code(await ask(method, `${path}?token=${TOKEN}`, open))).toEqual([401, 'request/unauthorized']);
    }
    const rebound = { ...auth, host: 'evil.example:4280' };
    expect(await code(await ask(method, path, rebound))).toEqual([403, 'request/forbidden']);
    const foreign = { ...auth, origin: 'https://evil.example' };
    expect(await code(await ask(method, path, foreign))).toEqual([403, 'request/forbidden']);
  });
});

describe('a server under attack', () => {
  let url: string;
  let port: number;
  let end: () => Promise<void>;
  beforeAll(async () => {
    const started = await startServer({ host, token: TOKEN, port: 0, timers: manualTimers().timers });
    if (!started.ok) throw new Error(started.error.message);
    ({ url, port } = started.value);
    end = started.value.close;
  });
  afterAll(() => end());
  const isThere = async () => {
    const answer = await fetch(`${url}/api/health`, { headers: { authorization: `Bearer ${TOKEN}` } });
    return answer.status === 200;
  };

  it('[V96] answers others while connections send nothing or half a request', async () => {
    const silent = Array.from({ length: 100 }, (_, index) => {
      const socket = connect(port, '127.0.0.1');
      if (index % 2 === 0) socket.write('GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ');
      return socket.on('error', () => undefined);
    });
    expect(await isThere()).toBe(true);
    for (const socket of silent) socket.destroy();
  });

  it('[V96] reads no more of a body than its limit, and says so', async () => {
    let sent = 0;
    const piece = new Uint8Array(64 * 1024).fill(0x20);
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += piece.length;
        if (sent > 100 * 1024 * 1024) controller.close();
        else controller.enqueue(piece);
      },
    });
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/api/runs`, {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    } as RequestInit).catch(() => undefined);
    if (answer !== undefined) expect(answer.status).toBe(413);
    expect(sent).toBeLessThan(50 * 1024 * 1024);
    expect(await isThere()).toBe(true);
  });

  it('[V96] cuts off clients that flood the socket without the token, and serves those that have it', async () => {
    const stranger = await liveClient(url);
    for (let message = 0; message < 1_000; message += 1) stranger.say({ kind: 'subscribe', run: 'all' });
    expect(await stranger.closed).toBe(4401);
    expect(stranger.received).toEqual([]);
    const loud = await liveClient(url, { token: TOKEN });
    for (let message = 0; message < 5_000; message += 1) loud.say({ kind: 'shout' });
    const calm = await liveClient(url, { token: TOKEN });
    calm.say({ kind: 'subscribe', run: 'all' });
    await calm.first('runs');
    calm.close();
    loud.close();
    expect(await isThere()).toBe(true);
  });
});
