import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Json, RunId } from '@signalbox/model';
import { afterEach, describe, expect, it } from 'vitest';
import { thisMachine } from '../src/machine.ts';
import { verifyRunReplay } from '../src/replay/verify-replay.ts';
import { openTestHost, planText, type TestHost } from './support/open-host.ts';
import { until } from './support/until.ts';
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

describe('a signal', () => {
  const listening = planText(
    `<Human id="gate" prompt="Wait" /><SubPlan id="below" plan={inner} />`,
    'z.object({ version: z.number().optional() })',
    `const inner = definePlan({ name: 'inner', signals: { hush: { schema: z.string(), handle: () => {} } },
       render: () => <Human id="inside" prompt="Wait" /> });`,
  ).replace(
    'render: ctx => (<>',
    `signals: {
       deployed: { schema: z.object({ version: z.number() }), handle: ({ version }, ctx) => ctx.state.set('version', version) },
       throwing: { schema: z.any().refine(() => { throw new Error('a bug'); }), handle: () => {} },
     }, render: ctx => (<>`,
  );
  const send = (test: TestHost, run: RunId, name: string, payload: Json) =>
    test.host.act(run, { kind: 'signal', name, payload }, 'ada');

  it('[A165] that the plan does not declare, or whose payload does not fit, is refused and leaves no trace', async () => {
    const test = await open(temporaryFolder());
    const run = await test.start('plan', listening);
    await test.end(run);
    const { nextSeq } = (await test.store.run(run)) ?? {};
    expect(await send(test, run, 'deploid', null)).toMatchObject({
      error: {
        code: 'run/signal-unknown',
        message: expect.stringContaining("no signal 'deploid'"),
        suggestion: 'Its signals are: deployed, throwing.',
        details: { known: ['deployed', 'throwing'] },
      },
    });
    expect(await send(test, run, 'deployed', { version: 'three' })).toMatchObject({
      error: { code: 'run/signal-invalid', details: { place: 'payload.version' } },
    });
    expect(await send(test, run, 'throwing', 1)).toMatchObject({
      error: { code: 'run/signal-invalid', message: expect.stringContaining('a bug') },
    });
    expect(await test.store.run(run)).toMatchObject({ nextSeq });

    expect(await send(test, run, 'deployed', { version: 3 })).toMatchObject({ ok: true });
    await test.host.resume(run);
    await test.end(run);
    expect(await test.state(run)).toEqual({ version: 3 });
  });

  it('[A165] is judged by the plan that drives the run, also below, and by the newest version', async () => {
    const folder = temporaryFolder();
    const test = await open(folder);
    const long = listening.replace(
      '<Human id="inside" prompt="Wait" />',
      '<Task id="inside" run={() => new Promise(() => {})} />',
    );
    const run = await test.start('plan', long);
    const child = await until(async () => {
      const [found] = await test.store.children(run);
      return found !== undefined && (await statusOf(test, found.id, 'inside')) === 'running' ? found : undefined;
    });
    expect(await send(test, child.id, 'deployed', { version: 1 })).toMatchObject({
      error: { code: 'run/signal-unknown', details: { known: ['hush'] } },
    });
    expect(await send(test, child.id, 'hush', 'now')).toMatchObject({ ok: true });
    expect(await send(test, run, 'nobody', null)).toMatchObject({ error: { code: 'run/signal-unknown' } });
    await test.host.act(run, { kind: 'terminate', reason: 'enough' }, 'ada');
    await test.end(run);

    writeFileSync(path.join(folder, 'plan.tsx'), planText('<Human id="gate" prompt="Wait" />'));
    expect(await test.host.resume(run, { useCurrent: true })).toMatchObject({ ok: true });
    await test.end(run);
    expect(await send(test, run, 'deployed', { version: 1 })).toMatchObject({
      error: {
        code: 'run/signal-unknown',
        details: { known: [] },
        suggestion: expect.stringContaining('--use-current'),
      },
    });
  });
});

describe('a run that was exported while it worked', () => {
  it('[A167] shows nothing that runs where it is imported, goes on there, and is verified', async () => {
    const folder = temporaryFolder();
    const test = await open(folder);
    const body = `<Phase name="a"><Task id="long" run={() => (existsSync(new URL('flag', import.meta.url)) ? 1 : new Promise(() => {}))} /></Phase>
      <Phase name="b"><Task id="last" run={() => 2} /></Phase>`;
    const run = await test.start('plan', planText(body, 'z.object({})', "import { existsSync } from 'node:fs';"));
    await until(async () => ((await statusOf(test, run, 'long')) === 'running' ? true : undefined));
    const file = path.join(folder, 'run.bundle');
    expect(await test.host.bundles.export(run, file)).toMatchObject({ ok: true });

    const elsewhere = temporaryFolder();
    const other = await open(elsewhere);
    const imported = await other.host.bundles.import({ file, anyFile: true }, 'ada');
    if (!imported.ok) throw new Error(imported.error.message);
    const { run: copy } = imported.value;
    expect(await statusOf(other, copy, 'long')).toBe('idle');
    expect((await other.store.tasks(copy)).map(({ status }) => status)).toEqual(['pending']);
    writeFileSync(path.join(folder, 'flag'), '');
    expect(await other.host.resume(copy, { trust: true, anyFile: true, by: 'ada' })).toMatchObject({ ok: true });
    expect(await other.end(copy)).toEqual({ status: 'completed', output: {} });
    expect(await verifyRunReplay(path.join(elsewhere, 'data'), copy, { machine: thisMachine() })).toMatchObject({
      value: { ok: true },
    });
    await test.host.act(run, { kind: 'terminate', reason: 'enough' }, 'ada');
  });
});
