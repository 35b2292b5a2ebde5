import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openUsers } from '@signalbox/app';
import { thisMachine } from '@signalbox/app/host';
import { createClient, logIn } from '@signalbox/client';
import { timestamp } from '@signalbox/model';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TOKEN } from '../http-asker.ts';
import { liveClient } from '../live-client.ts';
import { manualTimers } from '../manual-timers.ts';
import { scriptedHost } from '../scripted-host.ts';
import { startBare } from './access-stage.ts';

const MINUTE_MS = 60_000;

async function stage() {
  const folder = mkdtempSync(path.join(tmpdir(), 'tabs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(path.join(folder, 'users'), { mode: 0o700 });
  const manual = manualTimers();
  const time = { now: Date.parse('2026-11-02T10:00:00.000Z') };
  const clock = { now: () => time.now };
  const users = openUsers(folder, { ...thisMachine(), clock });
  const open = async () => {
    const server = await startBare({ host: scriptedHost(), token: TOKEN, users, clock, timers: manual.timers });
    onTestFinished(() => server.close());
    return server;
  };
  const server = await open();
  const added = users.add('tess', {
    role: 'owner',
    expiresAt: timestamp.parse(new Date(time.now + 90 * MINUTE_MS).toISOString()),
  });
  if (!added.ok) throw new Error(added.error.message);
  return { folder, manual, time, users, open, server, token: added.value.token };
}
type Stage = Awaited<ReturnType<typeof stage>>;

const clientOf = ({ server }: Stage, token: string) => createClient({ url: server.url, token });

async function codeOf(on: Stage, token: string): Promise<string> {
  const link = await clientOf(on, token).newLink();
  if (!link.ok) throw new Error(link.error.message);
  return new URL(link.value.url).hash.slice('#code='.length);
}

async function tabOf(on: Stage, token: string): Promise<string> {
  const taken = await logIn(on.server.url, await codeOf(on, token));
  if (!taken.ok) throw new Error(taken.error.message);
  return taken.value.token;
}

/** Every way in which the token of a user ends. */
const ends: Readonly<Record<string, (on: Stage) => unknown>> = {
  'is removed': on => clientOf(on, TOKEN).removeUser('tess'),
  'is rotated': on => clientOf(on, TOKEN).rotateUser('tess'),
  'is removed and added again': on => {
    on.users.remove('tess');
    on.users.add('tess', { role: 'owner' });
    on.manual.advance(1_000);
  },
  expires: on => {
    on.time.now += 90 * MINUTE_MS;
    on.manual.advance(1_000);
  },
  'gets another role': on => {
    const file = path.join(on.folder, 'users', 'tess.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"owner"', '"viewer"'));
    on.manual.advance(1_000);
  },
};

describe.each(Object.entries(ends))('a user who %s', (_, end) => {
  it('[V240] loses its links, tabs and sockets, however they were made, even after a restart', async () => {
    const on = await stage();
    const tab = await tabOf(on, on.token);
    const tabOfTab = await tabOf(on, tab);
    const codes = [await codeOf(on, on.token), await codeOf(on, tab), await codeOf(on, tabOfTab)];
    const sockets = await Promise.all([tab, tabOfTab].map(token => liveClient(on.server.url, { token })));
    for (const token of [tab, tabOfTab]) expect(await clientOf(on, token).users()).toMatchObject({ ok: true });
    await end(on);
    const unauthorized = { ok: false, error: { code: 'request/unauthorized' } };
    for (const socket of sockets) expect(await socket.closed).toBe(4401);
    for (const code of codes) expect(await logIn(on.server.url, code)).toMatchObject(unauthorized);
    const again = { ...on, server: await on.open() };
    for (const at of [on, again]) {
      for (const token of [tab, tabOfTab]) {
        expect(await clientOf(at, token).users()).toMatchObject(unauthorized);
        expect(await clientOf(at, token).addUser('eve', { role: 'owner' })).toMatchObject(unauthorized);
      }
    }
  });
});

it('[V240] a tab has the name and the expiry of its user; the owner’s tab stays the owner’s', async () => {
  const on = await stage();
  const tab = await tabOf(on, on.token);
  const own = await tabOf(on, TOKEN);
  const userOf = async (token: string) => {
    const settings = await clientOf(on, token).settings();
    return settings.ok ? settings.value.user : settings.error;
  };
  expect([await userOf(tab), await userOf(own)]).toMatchObject([
    { name: 'tess', role: 'owner' },
    { name: 'operator', role: 'owner' },
  ]);
  const taken = await logIn(on.server.url, await codeOf(on, on.token));
  expect(taken).toMatchObject({ ok: true, value: { expiresAt: '2026-11-02T11:30:00.000Z' } });
  await clientOf(on, TOKEN).removeUser('tess');
  expect(await clientOf(on, own).users()).toMatchObject({ ok: true, value: { users: [] } });
});

it('[V240] a tab cannot be turned into another user’s', async () => {
  const on = await stage();
  on.users.add('eve', { role: 'owner' });
  const tab = await tabOf(on, on.token);
  const own = await tabOf(on, TOKEN);
  const [tess, eve] = ['tess', 'eve'].map(name => Buffer.from(name).toString('base64url'));
  const signature = /\.[0-9a-f]{64}$/;
  for (const forged of [
    tab.replace(`.${tess}.`, `.${eve}.`),
    tab.replace(`.${tess}.`, '.'),
    own.replace(signature, sign => `.${tess}${sign}`),
  ]) {
    expect(await clientOf(on, forged).health()).toMatchObject({ ok: false, error: { code: 'request/unauthorized' } });
  }
});
