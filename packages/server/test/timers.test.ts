import { snapshotOf, summariesOf } from '@signalbox/app/all-runs';
import { runSnapshot } from '@signalbox/model';
import { expect, it, onTestFinished } from 'vitest';
import { openTestHost, planText } from '../../app/test/support/open-host.ts';
import { until } from '../../app/test/support/until.ts';
import { temporaryFolder } from '../../app/test/temporary-folder.ts';

const DUE = '2126-01-01T09:00:00.000Z';
const nap = planText(`<Timer id="nap" until="${DUE}" />`, 'z.object({})', `import { Timer } from 'signalbox';`);

it('[V280] a run that only waits for a time names it, in lists and by itself; its timer is a node of the contract', async () => {
  const test = await openTestHost(temporaryFolder());
  onTestFinished(() => test.close());
  const run = await test.start('nap', nap);
  const seen = await until(async () => {
    const found = await snapshotOf(test.host, run);
    return found?.until === undefined ? undefined : runSnapshot.parse(found);
  });
  expect(seen).toMatchObject({
    status: 'running',
    record: { status: 'running' },
    until: DUE,
    openDecisions: 0,
    tree: expect.arrayContaining([
      expect.objectContaining({ kind: 'timer', status: 'blocked', detail: `until ${DUE}`, reason: `timer:${DUE}` }),
    ]),
  });
  expect(Object.values(seen.nodes)).toEqual([
    expect.objectContaining({
      label: 'nap',
      roleTemplate: 'timer',
      provider: 'custom',
      status: 'blocked',
      summary: `blocked: timer:${DUE}`,
    }),
  ]);
  const record = await test.store.run(run);
  expect(await summariesOf(test.host, record === undefined ? [] : [record])).toMatchObject([{ id: run, until: DUE }]);
  await test.host.act(run, { kind: 'stop', reason: 'enough' }, 'ada');
  await test.end(run);
  expect((await snapshotOf(test.host, run))?.until).toBeUndefined();
});
