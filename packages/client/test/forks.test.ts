import { thisMachine } from '@signalbox/app/host';
import { createClient } from '@signalbox/client';
import { startServer } from '@signalbox/server';
import { expect, it, onTestFinished } from 'vitest';
import { releasePlan } from '../../server/test/release-plan.ts';
import { scriptedHost } from '../../server/test/scripted-host.ts';

it('[C1] has a method for every route of forks and interventions', async () => {
  const host = scriptedHost();
  const server = await startServer({ host, token: 'token', port: 0, timers: thisMachine().timers });
  if (!server.ok) throw new Error(server.error.message);
  onTestFinished(() => server.value.close());
  const client = createClient({ url: server.value.url, token: 'token' });
  const run = await host.begin('release');
  await run.render(releasePlan, { build: 'running' });
  expect(await client.fork(run.id, { frame: 0, name: 'again' })).toMatchObject({
    ok: true,
    value: { record: { name: 'again' } },
  });
  expect(await client.fork(run.id, { call: 'a/1/1/0', after: true })).toMatchObject({ ok: true });
  expect(await client.rerun(run.id, 'a/b c', { paused: true })).toMatchObject({ ok: true });
  expect(await client.retry(run.id, 'build', { policy: { retries: 1 } })).toMatchObject({ ok: true });
  expect(await client.reset(run.id, 'loop')).toMatchObject({ ok: true });
  expect(await client.edit(run.id, { key: 'turn', value: 1, reason: 'why' })).toMatchObject({ ok: true });
  expect(await client.lineage(run.id)).toEqual({ ok: true, value: { forks: [] } });
  expect(await client.checkpoints(run.id)).toEqual({ ok: true, value: { checkpoints: [] } });
  expect(await client.undo(run.id, { call: 'a/1/1/0', dryRun: true })).toMatchObject({ ok: true });
  expect(await client.rollback(run.id, { call: 'a/1/1/0', dryRun: true })).toMatchObject({
    ok: true,
    value: { paths: ['a.txt'] },
  });
  expect(host.forked.map(({ request }) => request.at)).toEqual([
    { kind: 'frame', frame: 0 },
    { kind: 'call', call: 'a/1/1/0', after: true },
    { kind: 'node', node: 'a/b c' },
  ]);
});
