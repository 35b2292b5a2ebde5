import { thisMachine } from '@signalbox/app/host';
import { type Client, createClient, logIn } from '@signalbox/client';
import { timestamp } from '@signalbox/model';
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

  it('[C31] gives users roles and expiries, and rotates their tokens', async () => {
    const expiresAt = timestamp.parse('2999-01-01T00:00:00.000Z');
    const added = await client.addUser('ada', { role: 'approver', expiresAt });
    expect(added).toMatchObject({ ok: true, value: { name: 'ada', role: 'approver', expiresAt } });
    const rotated = await client.rotateUser('ada');
    if (!added.ok || !rotated.ok) throw new Error('ada has no token');
    expect(rotated.value.token).not.toBe(added.value.token);
    const health = (token: string) => createClient({ url: server.url, token }).health();
    expect(await health(added.value.token)).toMatchObject({ ok: false, error: { code: 'request/unauthorized' } });
    expect(await health(rotated.value.token)).toMatchObject({ ok: true });
    expect(await client.rotateUser('no such/user')).toMatchObject({ ok: false, error: { code: 'user/unknown' } });
  });

  it('[C30] exchanges the code of a link for a token, and asks for links', async () => {
    const link = await client.newLink();
    if (!link.ok) throw new Error(link.error.message);
    const code = new URL(link.value.url).hash.slice('#code='.length);
    const taken = await logIn(server.url, code);
    if (!taken.ok) throw new Error(taken.error.message);
    expect(await createClient({ url: server.url, token: taken.value.token }).health()).toMatchObject({ ok: true });
    expect(await logIn(server.url, code)).toMatchObject({ ok: false, error: { code: 'request/unauthorized' } });
  });

  it('[C17] says that nobody answered where no server listens, so that removing a user can be tried again', async () => {
    await server.close();
    expect(await client.removeUser('ada')).toMatchObject({
      ok: false,
      error: { code: 'request/unreachable', retry: { kind: 'retryable_after_ms' } },
    });
  });
});
