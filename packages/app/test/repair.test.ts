import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RunId } from '@signalbox/model';
import { afterEach, describe, expect, it } from 'vitest';
import { openTestHost, planText, type TestHost } from './support/open-host.ts';
import { temporaryFolder } from './temporary-folder.ts';

const opened: TestHost[] = [];
async function open(...args: Parameters<typeof openTestHost>): Promise<TestHost> {
  const host = await openTestHost(...args);
  opened.push(host);
  return host;
}
afterEach(async () => {
  for (const host of opened.splice(0)) await host.close();
});

/** Two phases; with the bug the render throws once the first one is done. */
const release = (hasBug: boolean) =>
  planText(
    `${hasBug ? "{ctx.state.get('built') === 1 ? (() => { throw new Error('a bug'); })() : null}" : ''}
     <Phase name="build"><Task id="build" run={() => 1} onFinished={n => ctx.state.set('built', n)} /></Phase>
     <Phase name="ship"><Task id="ship" run={() => 2} onFinished={n => ctx.state.set('shipped', n)} /></Phase>`,
    'z.object({ built: z.number().optional(), shipped: z.number().optional() })',
  );

async function statusOf({ store }: TestHost, run: RunId, node: string): Promise<string | undefined> {
  const { frames = 0 } = (await store.run(run)) ?? {};
  const row = await store.valueAt(run, 'status', node, frames);
  return (row as { readonly status?: string } | undefined)?.status;
}

describe('a run whose plan failed', () => {
  it('[A161] answers retry and cancel with the state of the node, and what the plan threw', async () => {
    const test = await open(temporaryFolder());
    const run = await test.start('plan', release(true));
    expect(await test.end(run)).toMatchObject({ status: 'failed' });
    const { version } = (await test.store.run(run)) ?? {};

    expect(await test.host.act(run, { kind: 'cancel', node: 'build' }, 'ada')).toMatchObject({
      error: { code: 'run/no-effect', message: expect.stringContaining('it has succeeded') },
    });
    expect(await test.host.act(run, { kind: 'cancel', node: 'ship' }, 'ada')).toMatchObject({
      error: { code: 'run/no-effect', message: expect.stringContaining('its work has not begun') },
    });
    expect(await test.host.act(run, { kind: 'retry', node: 'ship' }, 'ada')).toMatchObject({
      error: { code: 'run/no-effect', suggestion: expect.stringContaining(`signalbox resume ${run}`) },
    });
    expect(await test.store.run(run)).toMatchObject({ version });

    expect(await test.host.act(run, { kind: 'retry', node: 'build' }, 'ada')).toMatchObject({
      error: {
        code: 'run/no-effect',
        message: expect.stringContaining('a bug'),
        suggestion: expect.stringContaining(`signalbox resume ${run} --use-current`),
        details: { cause: 'plan/render-failed' },
      },
    });
    expect(await test.end(run)).toMatchObject({ status: 'failed' });
  });
});

describe('a run whose thread is lost', () => {
  it('[A160] fails with its work let go of, and goes on when it is taken up', async () => {
    const folder = temporaryFolder();
    const test = await open(folder);
    const run = await test.start(
      'plan',
      planText(
        `<Phase name="a"><Task id="exits" run={() => { if (!existsSync(new URL('flag', import.meta.url))) process.exit(3); return 1; }} /></Phase>
         <Phase name="b"><Task id="last" run={() => 2} /></Phase>`,
        'z.object({})',
        "import { existsSync } from 'node:fs';",
      ),
    );
    expect(await test.end(run)).toMatchObject({ status: 'failed', error: { code: 'thread-lost' } });
    expect(await statusOf(test, run, 'exits')).toBe('idle');
    expect((await test.store.tasks(run)).map(({ status }) => status)).toEqual(['pending']);
    writeFileSync(path.join(folder, 'flag'), '');
    expect(await test.host.resume(run)).toMatchObject({ ok: true });
    expect(await test.end(run)).toEqual({ status: 'completed', output: {} });
  });
});
