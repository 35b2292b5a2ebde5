import { createClient, logIn } from '@signalbox/client';
import { startServer } from '@signalbox/server';
import { expect, it, onTestFinished } from 'vitest';
import { CODE_MS, TAB_MS } from '../../src/access/console-login.ts';
import { TOKEN } from '../http-asker.ts';
import { liveClient } from '../live-client.ts';
import { manualTimers } from '../manual-timers.ts';
import { noSettings } from '../memory-users.ts';
import { scriptedHost } from '../scripted-host.ts';

let now = Date.parse('2026-11-02T10:00:00.000Z');

async function stage(token = TOKEN) {
  const manual = manualTimers();
  const started = await startServer({
    host: scriptedHost(),
    token,
    settings: noSettings,
    port: 0,
    timers: manual.timers,
    clock: { now: () => now },
  });
  if (!started.ok) throw new Error(started.error.message);
  onTestFinished(() => started.value.close());
  return { ...started.value, manual };
}

const codeOf = (link: { readonly url: string }) => new URL(link.url).hash.slice('#code='.length);
const unauthorized = { ok: false, error: { code: 'request/unauthorized' } };

it('[V187] a link opens the console once, with a token that is not the server’s', async () => {
  const { url, newLink } = await stage();
  const link = newLink();
  expect(link.url.startsWith(`${url}/#code=`)).toBe(true);
  expect(link.url).not.toContain(TOKEN);
  const taken = await Promise.all([logIn(url, codeOf(link)), logIn(url, codeOf(link))]);
  const [good, ...others] = taken.filter(({ ok }) => ok);
  expect([good !== undefined, others]).toEqual([true, []]);
  if (good?.ok !== true) throw new Error('nobody got in');
  expect(good.value.token).not.toContain(TOKEN);
  const tab = createClient({ url, token: good.value.token });
  expect(await tab.settings()).toMatchObject({ ok: true, value: { user: { name: 'operator', role: 'owner' } } });
  expect(await logIn(url, codeOf(link))).toMatchObject(unauthorized);
  expect(await logIn(url, '')).toMatchObject(unauthorized);
  const asked = await createClient({ url, token: TOKEN }).newLink();
  if (!asked.ok) throw new Error(asked.error.message);
  expect(await logIn(url, codeOf(asked.value))).toMatchObject({ ok: true });
});

it('[V187] a link is valid for ten minutes', async () => {
  const { url, newLink } = await stage();
  const [early, late] = [newLink(), newLink()];
  now += CODE_MS - 1;
  expect(await logIn(url, codeOf(early))).toMatchObject({ ok: true });
  now += 1;
  expect(await logIn(url, codeOf(late))).toMatchObject(unauthorized);
});

it('[V187] the token of a tab survives a restart, belongs to one data directory, and lasts seven days', async () => {
  const first = await stage();
  const taken = await logIn(first.url, codeOf(first.newLink()));
  if (!taken.ok) throw new Error(taken.error.message);
  const { token } = taken.value;
  const [again, other] = [await stage(), await stage('the-token-of-another-directory')];
  const health = ({ url }: { readonly url: string }, given = token) => createClient({ url, token: given }).health();
  expect(await health(again)).toMatchObject({ ok: true });
  expect(await health(other)).toMatchObject(unauthorized);
  const [kind, until, ...rest] = token.split('.');
  const stretched = [kind, String(Number(until) + 1), ...rest].join('.');
  for (const forged of [
    stretched,
    token.slice(0, -1),
    `${token}x`,
    token.replace(/.$/, c => (c === '0' ? '1' : '0')),
  ]) {
    expect(await health(again, forged)).toMatchObject(unauthorized);
  }
  const client = await liveClient(again.url, { token });
  now += TAB_MS;
  again.manual.advance(1_000);
  expect(await client.closed).toBe(4401);
  expect(await health(again)).toMatchObject({
    error: { message: expect.stringContaining('expired'), suggestion: expect.stringContaining('signalbox link') },
  });
});
