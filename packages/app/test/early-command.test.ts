import { expect, it, onTestFinished } from 'vitest';
import { openTestHost, planText } from './support/open-host.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Goes on for longer than any test waits, unless somebody halts it. */
const turns = planText(
  `<While id="loop" condition={() => ctx.state.get('n') < 1_000_000} maxIterations={1_000_000}>
     <Task id="turn" run={() => new Promise(resolve => setTimeout(resolve, 1))} onFinished={() => ctx.state.update('n', n => n + 1)} />
   </While>`,
  'z.object({ n: z.number().default(0) })',
  // It takes its time to load.
  'await new Promise(resolve => setTimeout(resolve, 300));',
);

it('[A131] a command that comes while a run is being taken up is obeyed, not kept until the run has ended', async () => {
  const folder = temporaryFolder();
  const first = await openTestHost(folder, { threads: { threads: 1 } });
  const run = await first.start('turns', turns);
  await first.host.act(run, { kind: 'pause' }, 'ada');
  expect(await first.end(run)).toMatchObject({ status: 'paused' });
  await first.close();

  // Nothing of the plan is loaded yet.
  const second = await openTestHost(folder, { threads: { threads: 1 } });
  onTestFinished(() => second.close());
  expect(await second.host.resume(run)).toMatchObject({ ok: true });
  const edit = { kind: 'edit', key: 'n', op: 'increment', value: 500, reason: 'a test' } as const;
  const acts = [second.host.act(run, edit, 'ada'), second.host.act(run, { kind: 'pause' }, 'ada')];
  expect(await Promise.all(acts)).toMatchObject([{ ok: true }, { ok: true }]);
  expect(await second.end(run)).toMatchObject({ status: 'paused' });
  const { n } = await second.state(run);
  expect(n).toBeGreaterThanOrEqual(500);
  expect(n).toBeLessThan(1_000_000);
});
