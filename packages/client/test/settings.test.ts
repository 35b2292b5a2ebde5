import { thisMachine } from '@signalbox/app/runs';
import { type Client, createClient } from '@signalbox/client';
import { type RunningServer, startServer } from '@signalbox/server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memoryUsers, noSettings } from '../../server/test/memory-users.ts';
import { type ScriptedHost, scriptedHost } from '../../server/test/scripted-host.ts';

const TOKEN = 'a-token-of-this-test';
let host: ScriptedHost;
let server: RunningServer;
let client: Client;

beforeEach(async () => {
  host = scriptedHost();
  const { timers } = thisMachine();
  const started = await startServer({
    host,
    token: TOKEN,
    users: memoryUsers(),
    settings: noSettings,
    port: 0,
    timers,
  });
  if (!started.ok) throw new Error(started.error.message);
  server = started.value;
  client = createClient({ url: server.url, token: TOKEN });
});
afterEach(() => server.close());

describe('a client', () => {
  it('[C16] asks how providers do and what the server is set to', async () => {
    const acme = { provider: 'acme', model: 'small' };
    (await host.rateLimits.enter(acme, new AbortController().signal))?.({ kind: 'answered' });
    const providers = [
      expect.objectContaining({ name: 'acme', health: 'ok', models: [expect.objectContaining({ calls: 1 })] }),
    ];
    expect(await client.providers()).toEqual({ ok: true, value: { since: expect.any(String), providers } });
    expect(await client.settings()).toMatchObject({ ok: true, value: { user: { name: 'operator', isDefault: true } } });
  });

  it('[C17] adds, lists and removes users', async () => {
    expect(await client.addUser('ada')).toMatchObject({ ok: true, value: { name: 'ada', token: 'token-of-ada' } });
    expect(await client.addUser('grace')).toMatchObject({ ok: true });
    expect(await client.users({ limit: 1 })).toMatchObject({
      ok: true,
      value: { users: [{ name: 'ada' }], next: 'ada' },
    });
    expect(await client.removeUser('ada')).toMatchObject({ ok: true, value: { name: 'ada' } });
    expect(await client.removeUser('no such/user')).toMatchObject({ ok: false, error: { code: 'user/unknown' } });
    expect(await client.users()).toMatchObject({ ok: true, value: { users: [{ name: 'grace' }] } });
  });

  it('[C17] says that it is not known whether a user was removed where nobody answered', async () => {
    await server.close();
    expect(await client.removeUser('ada')).toMatchObject({
      ok: false,
      error: {
        code: 'request/unreachable',
        retry: { kind: 'not_retryable' },
        message: expect.stringContaining('not known'),
      },
    });
  });
});
