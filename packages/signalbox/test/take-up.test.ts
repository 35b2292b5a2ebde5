import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type HomeOptions, openHome, takeUp, thisMachine } from '@signalbox/app/host';
import { expect, it, onTestFinished } from 'vitest';

const plan = `
import { Agent, definePlan } from 'signalbox';
export default definePlan({ name: 'busy', render: () => <Agent id="agent" model="any:model" prompt="Do it." /> });
`;
const busy = { class: 'retryable', code: 'rate_limit', message: 'busy', retryAfterMs: 3_600_000 } as const;
const agents: NonNullable<HomeOptions['agents']> = { run: async () => ({ kind: 'failed', error: busy }) };

it('takes up what the process before paused when it ended, and not what a person paused', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'take-up-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'plan.tsx');
  writeFileSync(file, plan);
  const open = async () => {
    const home = await openHome({
      dataDirectory: path.join(folder, 'data'),
      machine: thisMachine(),
      env: {},
      agents,
      threads: { threads: 1 },
    });
    if (!home.ok) throw new Error(home.error.message);
    return home.value;
  };
  const first = await open();
  const start = async () => {
    const started = await first.host.start({ file, anyFile: true, input: {} });
    if (!started.ok) throw new Error(started.error.message);
    const isBusy = async () => (await first.host.reader.tasks(started.value, { status: ['pending'] })).length > 0;
    while (!(await isBusy())) await new Promise(resolve => setTimeout(resolve, 10));
    return started.value;
  };
  const [left, paused] = [await start(), await start()];
  await first.host.act(paused, { kind: 'pause' }, 'ada');
  await first.close();

  const second = await open();
  onTestFinished(() => second.close());
  expect((await second.host.reader.runs()).items.map(({ status }) => status)).toEqual(['paused', 'paused']);
  expect(await takeUp(second.host)).toEqual([left]);
});
