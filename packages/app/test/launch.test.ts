import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { thisMachine } from '../src/machine.ts';
import { openPlanThreads } from '../src/threads/plan-threads.ts';
import { launchAhead } from '../src/threads/plan-worker-start.ts';
import { planText } from './support/open-host.ts';
import { temporaryFolder } from './temporary-folder.ts';

it('[A523] a thread that was started first loads the first plan, and no other is started for it', async () => {
  const file = path.join(temporaryFolder(), 'plan.tsx');
  writeFileSync(file, planText('<Task id="a" run={() => 1} />'));
  const launch = launchAhead(undefined);
  const threads = openPlanThreads(() => ({ calls: {} as never, lost: async () => {} }), {
    timers: thisMachine().timers,
    threads: 1,
    warm: true,
    launch,
  });
  onTestFinished(() => threads.close());
  expect(launch.takeWorker?.()).toBeUndefined();
  expect(await threads.load({ kind: 'file', file }, {})).toMatchObject({ ok: true });
});

it('[A523] a thread that nobody needs does not keep the process from its end', () => {
  const module = new URL('../src/threads/plan-worker-start.ts', import.meta.url).href;
  const program = `import { launchAhead } from ${JSON.stringify(module)}; launchAhead(undefined); console.log('over');`;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, 'over\n']);
});
