import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RunId } from '@signalbox/model';
import { ownerId } from '@signalbox/runs';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { newRun, startRun } from '../../runs/test/builders.ts';
import { snapshotOf } from '../src/contract-view/run-view.ts';
import { openRunHost } from '../src/host/open-run-host.ts';
import { type OwnedStore, openOwnedStore } from '../src/host/owned-store.ts';
import { takeUp } from '../src/host/take-up.ts';
import { thisMachine } from '../src/machine.ts';
import { noAgents, openTestHost, planText, type TestHost, testHostOf } from './support/open-host.ts';
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

const approve = { resolutionType: 'approve', rationale: 'fine', actionKind: 'review' } as const;

describe('a run', () => {
  it('[A25] is started, driven in a thread and ended', async () => {
    const { start, end, state } = await open(temporaryFolder());
    const run = await start(
      'plan',
      planText(
        '<Task id="a" run={() => 41} onFinished={n => ctx.state.set("n", n + 1)} />',
        'z.object({ n: z.number().default(0) })',
      ),
    );
    expect(await end(run)).toEqual({ status: 'completed', output: { n: 42 } });
    expect(await state(run)).toEqual({ n: 42 });
  });

  it('[A916] of an owner that is gone is shown as interrupted, until it is resumed', async () => {
    const { host, store } = await open(temporaryFolder());
    const { run } = await startRun(store, newRun({ owner: ownerId.parse(thisMachine().ids.mint<RunId>()) }));
    expect(await snapshotOf(host, run)).toMatchObject({ status: 'paused', record: { interrupted: true } });
    expect((await store.run(run))?.status).toBe('running');
    const shown = { items: [{ id: run, status: 'paused' }] };
    expect(await host.reader.runs({ status: ['paused'] })).toMatchObject(shown);
    // Its plan was never stored, so it cannot be resumed.
    expect([await takeUp(host), await host.reader.runs()]).toMatchObject([[], shown]);
  });

  it('[A25] with an idempotency key is started once', async () => {
    const { host, start, end, store } = await open(temporaryFolder());
    const plan = planText('<Task id="a" run={() => 1} />');
    const first = await start('plan', plan, { idempotencyKey: 'k' });
    await end(first);
    expect(await start('plan', plan, { idempotencyKey: 'k' })).toBe(first);
    expect((await store.runs()).items).toHaveLength(1);
    expect(host.driven()).toEqual([]);
  });

  it('[A25] whose input, file or plan is wrong is not started', async () => {
    const folder = temporaryFolder();
    const { host, store } = await open(folder);
    writeFileSync(path.join(folder, 'strict.tsx'), planText('').replace('z.any()', 'z.object({ n: z.number() })'));
    writeFileSync(path.join(folder, 'broken.tsx'), 'export default <');
    const tries = [
      { file: path.join(folder, 'strict.tsx'), input: { n: 'x' } },
      { file: path.join(folder, 'broken.tsx'), input: {} },
      { file: path.join(folder, 'missing.tsx'), input: {} },
    ];
    const codes: string[] = [];
    for (const request of tries) {
      const started = await host.start(request);
      codes.push(started.ok ? 'started' : started.error.code);
    }
    expect(codes).toEqual(['command/usage', 'plan/load-failed', 'plan/load-failed']);
    expect((await store.runs()).items).toEqual([]);
  });
});

describe('a query of a plan', () => {
  it('[A32] sees what is committed, and runs again when that changed', async () => {
    const { start, end, state } = await open(temporaryFolder());
    const run = await start(
      'plan',
      planText(
        `<Task id="a" run={() => 1} />
         <If condition={ctx.db.query("select id from tasks where status = 'done'", { invalidateOn: ['tasks'] }).length > 0}>
           <Task id="b" run={() => 2} onFinished={n => ctx.state.set('n', n)} />
         </If>`,
        'z.object({ n: z.number().default(0) })',
      ),
    );
    expect(await end(run)).toMatchObject({ status: 'completed' });
    expect(await state(run)).toEqual({ n: 2 });
  });

  it('[A32] that would write, or asks for what is not there, fails the run with the reason', async () => {
    const { start, end } = await open(temporaryFolder());
    const asking = (sql: string) =>
      planText(
        `{ctx.db.query(${JSON.stringify(sql)}, { invalidateOn: ['tasks'] }).length > 9 ? <Task id="a" run={() => 1} /> : null}`,
      );
    for (const sql of ['delete from tasks', 'select * from event_rows', "attach '/etc/passwd' as x"]) {
      expect(await end(await start('plan', asking(sql)))).toMatchObject({
        status: 'failed',
        error: { message: expect.stringContaining('the query failed') },
      });
    }
  });
});

describe('a person', () => {
  const plan = planText(
    '<Human id="gate" prompt="Ship it?" onFinished={said => ctx.state.set("said", said)} />',
    'z.object({ said: z.any() })',
  );

  it('[A26] is waited for without a process, and the run goes on in another with the answer', async () => {
    const folder = temporaryFolder();
    const first = await open(folder);
    const run = await first.start('plan', plan);
    expect(await first.end(run)).toEqual({ status: 'waiting' });
    await first.close();
    opened.splice(0);

    const second = await open(folder);
    const [asked] = await second.store.decisions({ run, status: ['open'] });
    expect(await second.host.answer(asked?.decision.id as never, { resolution: approve }, 'ada')).toMatchObject({
      ok: true,
    });
    expect(await second.host.resume(run)).toEqual({ ok: true, value: run });
    expect(await second.end(run)).toMatchObject({ status: 'completed' });
    expect(await second.state(run)).toEqual({ said: { approved: true, rationale: 'fine' } });
  });

  it('[A26] moves a run on at once that is still driven beside the question', async () => {
    const folder = temporaryFolder();
    const { host, store, start, end, state } = await open(folder);
    const gate = path.join(folder, 'gate');
    const both = planText(
      `<Human id="gate" prompt="Ship it?" onFinished={() => ctx.state.set("said", true)} />
       <Task id="busy" run={async () => { while (!existsSync(${JSON.stringify(gate)})) await new Promise(r => setTimeout(r, 5)); }} />`,
      'z.object({ said: z.any() })',
      "import { existsSync } from 'node:fs';",
    );
    const run = await start('plan', both);
    const [asked] = await until(async () => {
      const open = await store.decisions({ run, status: ['open'] });
      return open.length > 0 ? open : undefined;
    });
    await host.answer(asked?.decision.id as never, { resolution: approve }, 'ada');
    await until(async () => ((await state(run)).said === true ? true : undefined));
    writeFileSync(gate, '');
    expect(await end(run)).toMatchObject({ status: 'completed' });
  });

  it('[A26] whose answer comes while the run goes to rest moves it on all the same', async () => {
    const folder = temporaryFolder();
    const machine = thisMachine();
    const dataDirectory = path.join(folder, 'data');
    const owned = openOwnedStore(dataDirectory, machine);
    if (!owned.ok) throw new Error(owned.error.message);
    const [resting, answering] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const store: OwnedStore['store'] = {
      ...owned.value.store,
      async commit(writes, guard) {
        if (writes.run?.kind === 'change' && writes.run.change.status === 'waiting') {
          resting.resolve();
          await answering.promise;
        }
        return owned.value.store.commit(writes, guard);
      },
    };
    const host = await openRunHost({
      ...{ owned: { ...owned.value, store }, dataDirectory, machine, agents: noAgents },
      ...{ resumeOnAnswer: true, threads: { threads: 1 } },
    });
    const { start, end } = testHostOf(folder, host, store, () => host.close());
    onTestFinished(async () => {
      await host.close();
      owned.value.close();
    });
    const run = await start('plan', plan);
    await resting.promise;
    const [asked] = await store.decisions({ run, status: ['open'] });
    const answered = host.answer(asked?.decision.id as never, { resolution: approve }, 'ada');
    // Its thread is told before the rest is committed there.
    await until(async () => (await store.decisions({ run, status: ['answered'] }))[0]);
    answering.resolve();
    expect(await answered).toMatchObject({ ok: true });
    expect(await end(run)).toMatchObject({ status: 'completed' });
  });

  it('[A26] is not asked about a node that is canceled', async () => {
    const { host, store, start, end } = await open(temporaryFolder());
    const run = await start('plan', plan);
    await end(run);
    expect(await host.act(run, { kind: 'stop', reason: 'enough' }, 'ada')).toMatchObject({ ok: true });
    expect(await store.run(run)).toMatchObject({ status: 'stopped', stopReason: 'enough' });
    await until(async () => ((await store.decisions({ run, status: ['open'] })).length === 0 ? true : undefined));
  });
});

describe('the plan of a run', () => {
  it('[A27] is the one it was started with, also when its files are others or gone', async () => {
    const folder = temporaryFolder();
    const first = await open(folder);
    writeFileSync(path.join(folder, 'part.ts'), "export const word = 'kept';");
    const text = planText(
      `<Human id="gate" prompt="Go on?" /><If condition={ctx.state.get('on')}><Task id="b" run={() => word} /></If>`,
      'z.object({ on: z.boolean().default(false), word: z.string().optional() })',
      "import { word } from './part.ts';",
    ).replace(
      'prompt="Go on?"',
      'prompt="Go on?" onFinished={() => { ctx.state.set("on", true); ctx.state.set("word", word); }}',
    );
    const run = await first.start('plan', text);
    await first.end(run);
    await first.close();
    opened.splice(0);
    writeFileSync(path.join(folder, 'part.ts'), "export const word = 'changed';");
    rmSync(path.join(folder, 'plan.tsx'));

    const second = await open(folder);
    const [asked] = await second.store.decisions({ run, status: ['open'] });
    await second.host.answer(asked?.decision.id as never, { resolution: approve }, 'ada');
    await second.host.resume(run);
    expect(await second.end(run)).toMatchObject({ status: 'completed' });
    expect(await second.state(run)).toMatchObject({ word: 'kept' });
    const events = await second.store.events(run, 0, 200);
    expect(events.map(({ event }) => event).find(({ type }) => type === 'run.resumed')).toMatchObject({
      changed: ['file part.ts', 'file plan.tsx'],
    });
  });

  it('[A774] that are gone with their folder are not said to have changed', async () => {
    const { host, store, end } = await open(temporaryFolder());
    const folder = temporaryFolder();
    const file = path.join(folder, 'plan.tsx');
    writeFileSync(file, planText('<Human id="gate" prompt="Wait" />'));
    const started = await host.start({ file, anyFile: true, input: {}, directory: temporaryFolder() });
    if (!started.ok) throw new Error(started.error.message);
    await end(started.value);
    rmSync(folder, { recursive: true });
    expect(await host.resume(started.value)).toMatchObject({ ok: true });
    await end(started.value);
    const events = (await store.events(started.value, 0, 200)).map(({ event }) => event);
    expect(events.find(({ type }) => type === 'run.resumed')).toMatchObject({ changed: [] });
  });
});

describe('an operator', () => {
  it('[A28] signals a run, and its handler runs once', async () => {
    const { host, start, end, state } = await open(temporaryFolder());
    const text = planText(
      '<Human id="gate" prompt="Wait" /><If condition={ctx.state.get("deployed") === "now"}><Task id="b" run={() => 1} /></If>',
      'z.object({ deployed: z.string().optional() })',
    ).replace(
      'render:',
      "signals: { deploy: { handle: (when, ctx) => ctx.state.set('deployed', String(when)) } }, render:",
    );
    const run = await start('plan', text);
    await end(run);
    expect(await host.act(run, { kind: 'signal', name: 'deploy', payload: 'now' }, 'ada')).toMatchObject({ ok: true });
    await host.resume(run);
    expect(await end(run)).toEqual({ status: 'waiting' });
    expect(await state(run)).toEqual({ deployed: 'now' });
  });

  it('[A28] is told when a run or node is not there, or there is nothing to do', async () => {
    const { host, start, end } = await open(temporaryFolder());
    const run = await start('plan', planText('<Task id="a" run={() => 1} /><Human id="gate" prompt="Wait" />'));
    await end(run);
    const code = async (id: string, action: Parameters<TestHost['host']['act']>[1]) => {
      const acted = await host.act(id as RunId, action, 'ada');
      return acted.ok ? 'ok' : acted.error.code;
    };
    expect(await code('018f0000-0000-7000-8000-000000000000', { kind: 'pause' })).toBe('run/unknown');
    expect(await code(run, { kind: 'retry', node: 'nobody' })).toBe('run/node-unknown');
    expect(await code(run, { kind: 'cancel', node: 'a' })).toBe('run/no-effect');
    expect(await code(run, { kind: 'pause' })).toBe('ok');
  });

  it('[A28] retries a node that failed', async () => {
    const folder = temporaryFolder();
    const { host, start, end } = await open(folder);
    const flag = path.join(folder, 'flag');
    const text = planText(
      `<Task id="a" retries={0} run={() => { if (!existsSync(${JSON.stringify(flag)})) throw new Error('not yet'); return 'good'; }} />`,
      undefined,
      "import { existsSync } from 'node:fs';",
    );
    const run = await start('plan', text);
    expect(await end(run)).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('not yet') } });
    writeFileSync(flag, '');
    expect(await host.act(run, { kind: 'retry', node: 'a' }, 'ada')).toMatchObject({ ok: true });
    expect(await end(run)).toMatchObject({ status: 'completed' });
  });
});

describe('a plan that misbehaves', () => {
  const good = planText(
    '<While id="loop" condition={ctx.state.get("n") < 30} maxIterations={50}><Task id="a" run={() => new Promise(r => setTimeout(r, 10))} onFinished={() => ctx.state.update("n", n => n + 1)} /></While>',
    'z.object({ n: z.number().default(0) })',
  );

  /** A thread with one run is silent for a minute before it is given up, until the test says that its time is over. */
  function patientThreads() {
    const machine = thisMachine();
    const beatMs = 250;
    let isOver = false;
    let overMs = 0;
    return {
      options: {
        machine,
        threads: {
          threads: 1,
          beatMs,
          sharedSilenceMs: 4 * beatMs,
          aloneSilenceMs: 240 * beatMs,
          async threadTime() {
            if (isOver) overMs += 100 * beatMs;
            return overMs;
          },
        },
      },
      timeIsOver() {
        isOver = true;
      },
    };
  }

  it.each([
    ['spins in its render', planText('{(() => { for (;;); })()}')],
    ['spins in a task', planText('<Task id="a" run={() => { for (;;); }} />')],
    ['ends its process', planText('<Task id="a" run={() => process.exit(3)} />')],
    [
      'throws where nobody catches it',
      planText('<Task id="a" run={() => new Promise(() => setTimeout(() => { throw new Error("stray"); }, 5))} />'),
    ],
  ])('[A29] and %s costs only itself', async (_, bad) => {
    const folder = temporaryFolder();
    const { options, timeIsOver } = patientThreads();
    const { host, start, end } = await open(folder, options);
    const runs = await Promise.all([start('good', good), start('good', good)]);
    writeFileSync(path.join(folder, 'bad.tsx'), bad);
    const starting = host.start({ file: path.join(folder, 'bad.tsx'), input: {} });
    for (const run of runs) expect(await end(run)).toEqual({ status: 'completed', output: { n: 30 } });
    timeIsOver();
    const started = await starting;
    if (!started.ok) return expect(started.error.code).toBe('run/thread-lost');
    expect(await end(started.value)).toMatchObject({ status: 'failed', error: { code: 'thread-lost' } });
  });

  it('[A29] and spins when it is loaded is not started', async () => {
    const folder = temporaryFolder();
    const { options, timeIsOver } = patientThreads();
    const { host } = await open(folder, options);
    const begun = path.join(folder, 'begun');
    const spinning = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(begun)}, ''); for (;;);`;
    writeFileSync(path.join(folder, 'bad.tsx'), spinning);
    const started = host.start({ file: path.join(folder, 'bad.tsx'), input: {} });
    await until(() => existsSync(begun) || undefined);
    timeIsOver();
    expect(await started).toMatchObject({ ok: false, error: { code: 'run/thread-lost' } });
  });
});
