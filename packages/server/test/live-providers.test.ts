import { thisMachine } from '@signalbox/app/host';
import { startServer } from '@signalbox/server';
import { expect, it, onTestFinished } from 'vitest';
import { TOKEN } from './http-asker.ts';
import { liveClient } from './live-client.ts';
import { scriptedHost } from './scripted-host.ts';

const acme = { provider: 'acme', model: 'small' };
const busy = { kind: 'refused', retryAfterMs: 60_000, error: { code: 'rate_limit', message: 'busy' } } as const;

it('[V105] watchers of all runs get the health of providers, at first and when it changes', async () => {
  const host = scriptedHost();
  const started = await startServer({ host, token: TOKEN, port: 0, timers: thisMachine().timers });
  if (!started.ok) throw new Error(started.error.message);
  const client = await liveClient(started.value.url, { token: TOKEN });
  onTestFinished(async () => {
    client.close();
    await started.value.close();
  });
  client.say({ kind: 'subscribe', run: 'all' });
  expect(await client.first('providers')).toEqual({ kind: 'providers', providers: [] });

  const call = async () => host.rateLimits.enter(acme, new AbortController().signal);
  (await call())?.({ kind: 'answered' });
  const well = await client.first('providers', ({ providers }) => providers[0]?.health === 'ok');
  expect(well.providers).toEqual([{ name: 'acme', health: 'ok' }]);
  const before = client.received.length;
  (await call())?.({ kind: 'answered' });
  (await call())?.(busy);
  const limited = await client.first('providers', ({ providers }) => providers[0]?.health === 'limited');
  expect(limited.providers).toEqual([{ name: 'acme', health: 'limited', waitsUntil: expect.any(String) }]);
  // A call that changed nothing was not told.
  expect(client.received.slice(before)).toEqual([limited]);
});
