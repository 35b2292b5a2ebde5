import { expect, it, onTestFinished } from 'vitest';
import { openTestHost, planText } from './support/open-host.ts';
import { temporaryFolder } from './temporary-folder.ts';

it('[A1200] a run that waits for a person is paused, stays paused when it is answered, and takes the answer when it is resumed', async () => {
  const folder = temporaryFolder();
  const { host, store, start, end, close } = await openTestHost(folder, {
    threads: { threads: 1 },
    resumeOnAnswer: true,
  });
  onTestFinished(close);
  const run = await start('asks', planText('<Human id="ask" prompt="Go on?" />'));
  expect(await end(run)).toMatchObject({ status: 'waiting' });
  expect(await host.act(run, { kind: 'pause' }, 'ada')).toMatchObject({ ok: true });
  expect(await store.run(run)).toMatchObject({ status: 'paused' });
  const [asked] = await store.decisions({ run, status: ['open'] });
  if (asked === undefined) throw new Error('nothing is asked');
  const approve = { resolutionType: 'approve', rationale: 'a test', actionKind: 'update' } as const;
  expect(await host.answer(asked.decision.id, { resolution: approve }, 'ada')).toMatchObject({ ok: true });
  expect(await end(run)).toMatchObject({ status: 'paused' });
  expect(await host.resume(run)).toMatchObject({ ok: true });
  expect(await end(run)).toMatchObject({ status: 'completed' });
});
