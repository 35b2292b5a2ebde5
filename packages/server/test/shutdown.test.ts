import { once } from 'node:events';
import { connect } from 'node:net';
import { GRACE_MS, startServer } from '@signalbox/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TOKEN } from './http-asker.ts';
import { liveClient } from './live-client.ts';
import { manualTimers } from './manual-timers.ts';
import { scriptedHost } from './scripted-host.ts';

const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

async function stage() {
  const scripted = scriptedHost();
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const host: typeof scripted = {
    ...scripted,
    async start(request) {
      isAsked();
      await gate;
      return scripted.start(request);
    },
  };
  const { timers, advance } = manualTimers();
  const started = await startServer({ host, token: TOKEN, port: 0, timers });
  if (!started.ok) throw new Error(started.error.message);
  onTestFinished(() => open());
  return { host, server: started.value, asked, open, advance };
}

describe('a closing server', () => {
  it('[V137] answers pending requests, and accepts nothing new', async () => {
    const { host, server, asked, open } = await stage();
    const body = JSON.stringify({ file: '/plans/release.tsx' });
    const answer = fetch(`${server.url}/api/runs`, { method: 'POST', headers, body });
    await asked;
    const closed = server.close();
    await expect(fetch(`${server.url}/api/health`, { headers })).rejects.toThrow();
    open();
    const got = await answer;
    expect(got.status).toBe(201);
    expect(await host.store.runs({})).toMatchObject({ items: [{ id: ((await got.json()) as { id: string }).id }] });
    await closed;
  });

  it('[V137] [V25] tells its watchers', async () => {
    const { server } = await stage();
    const client = await liveClient(server.url, { token: TOKEN });
    await server.close();
    expect(await client.closed).toBe(1001);
  });

  it('[V137] cuts off clients that are not done after a while', async () => {
    const { server, asked, advance } = await stage();
    const half = connect(server.port, '127.0.0.1');
    await once(half, 'connect');
    half.write('POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n');
    const halfEnded = new Promise(resolve => half.on('error', () => undefined).on('close', resolve));
    const slow = fetch(`${server.url}/api/runs`, { method: 'POST', headers, body: '{"file": "/plans/release.tsx"}' });
    const slowEnded = expect(slow).rejects.toThrow();
    const deaf = await liveClient(server.url, { token: TOKEN });
    deaf.socket.pause();
    await asked;
    const closed = server.close();
    advance(GRACE_MS);
    await closed;
    deaf.socket.resume();
    await Promise.all([halfEnded, slowEnded, deaf.closed]);
  });
});
