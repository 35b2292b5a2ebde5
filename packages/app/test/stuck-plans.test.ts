import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import type { RunId } from '@signalbox/model';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sized } from '../../../test/sized.ts';
import { threadTime } from '../src/threads/plan-thread.ts';
import { openTestHost, planText } from './support/open-host.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Nothing ends a thread by itself, however long it is silent: only what is asked of a run does. */
const patient = { beatMs: 50, sharedSilenceMs: Number.MAX_SAFE_INTEGER, aloneSilenceMs: Number.MAX_SAFE_INTEGER };

async function openPatient(threads: object = patient) {
  const folder = temporaryFolder();
  const host = await openTestHost(folder, { threads: { threads: 1, ...threads } });
  onTestFinished(() => host.close());
  const begun = path.join(folder, 'begun');
  const mark = `writeFileSync(${JSON.stringify(begun)}, '');`;
  return {
    ...host,
    folder,
    mark,
    /** Until the plan does what it is stuck in. */
    stuck: () => until(() => existsSync(begun) || undefined),
    /** The statuses of the nodes in the last frame. */
    async statuses(run: RunId) {
      const frames = (await host.store.run(run))?.frames ?? 0;
      const rows = [...(await host.store.at(run, 'status', frames))];
      return Object.fromEntries(rows.map(([node, row]) => [node, (row as { status: string }).status]));
    },
  };
}

const EXTRA = "import { existsSync, writeFileSync } from 'node:fs';";
const plan = (body: string) => planText(body, undefined, EXTRA);
const stuckPlans: readonly (readonly [string, (mark: string) => string])[] = [
  // A render writes no files: the plan's file does, just before.
  ['spins in its render', mark => planText('{(() => { for (;;); })()}', undefined, `${EXTRA}\n${mark}`)],
  ['spins in a task', mark => plan(`<Task id="a" run={() => { ${mark} for (;;); }} />`)],
  ['spins in a handler', mark => plan(`<Task id="a" run={() => 1} onFinished={() => { ${mark} for (;;); }} />`)],
  ['never settles', mark => plan(`<Task id="a" run={() => { ${mark} return new Promise(() => {}); }} />`)],
];

/** In an ordinary run, one that takes its thread and one that leaves it free; the others differ in where they spin. */
const tried = sized(
  stuckPlans.filter((_, at) => at === 0 || at === 3),
  stuckPlans,
  stuckPlans,
);

describe.each(tried)('a plan that %s', (_, textOf) => {
  it.each(['terminate', 'stop'] as const)('[A178] is started all the same, and a %s ends it', async kind => {
    const { host, start, end, mark, stuck, store } = await openPatient();
    const run = await start('stuck', textOf(mark));
    expect(await store.run(run)).toMatchObject({ status: 'running' });
    await stuck();
    expect(await host.act(run, { kind, reason: 'it is stuck' }, 'ada')).toMatchObject({ ok: true });
    expect(await end(run)).toEqual({ status: 'stopped', stopReason: 'it is stuck' });
    expect((await store.tasks(run)).filter(({ status }) => status === 'running' || status === 'canceling')).toEqual([]);
    const acted = (await store.events(run, 0, 1000)).map(({ event }) => event);
    expect(acted.findLast(event => event.type === 'operator.acted')).toMatchObject({ by: 'ada' });
  });

  it('[A179] does not hold up runs of other plans, which have threads of their own', async () => {
    const { host, start, end, mark, stuck } = await openPatient();
    const bad = await start('stuck', textOf(mark));
    await stuck();
    const run = await start('good', plan('<Task id="a" run={() => 1} />'));
    expect(await end(run)).toMatchObject({ status: 'completed' });
    await host.act(bad, { kind: 'terminate', reason: 'the test is over' }, 'ada');
  });
});

/** Spins or waits for a file, as its input says. */
const either = (folder: string, mark: string) =>
  plan(`
  <Task id="first" run={() => 1} />
  <Task id="second" run={async () => {
    if (ctx.input.spin) { ${mark} for (;;); }
    while (!existsSync(${JSON.stringify(path.join(folder, 'go'))})) await new Promise(resolve => setTimeout(resolve, 5));
    return 2;
  }} />`);

describe('runs of one plan', () => {
  it('[A179] go on from what they committed when the thread they share is ended for one of them', async () => {
    const { host, start, end, folder, mark, stuck, store } = await openPatient();
    const good = await start('either', either(folder, mark), { input: { spin: false } });
    await until(async () => ((await store.tasks(good, { status: ['running'] })).length > 0 ? true : undefined));
    const bad = await start('either', either(folder, mark), { input: { spin: true } });
    await stuck();
    expect(await host.act(bad, { kind: 'terminate', reason: 'it spins' }, 'ada')).toMatchObject({ ok: true });
    expect(await end(bad)).toEqual({ status: 'stopped', stopReason: 'it spins' });
    writeFileSync(path.join(folder, 'go'), '');
    expect(await end(good)).toMatchObject({ status: 'completed' });
    const tasks = await store.tasks(good);
    expect(tasks.map(({ node, status, retryCount }) => [node, status, retryCount])).toEqual([
      ['first', 'done', 0],
      ['second', 'done', 0],
    ]);
  });

  it('[A179] go on elsewhere by themselves when one of them spins', async () => {
    const { host, start, end, folder, mark, stuck } = await openPatient({ ...patient, sharedSilenceMs: 200 });
    const good = await start('either', either(folder, mark), { input: { spin: false } });
    const bad = await start('either', either(folder, mark), { input: { spin: true } });
    await stuck();
    writeFileSync(path.join(folder, 'go'), '');
    expect(await end(good)).toMatchObject({ status: 'completed' });
    expect(await host.act(bad, { kind: 'terminate', reason: 'enough' }, 'ada')).toMatchObject({ ok: true });
    expect(await end(bad)).toMatchObject({ status: 'stopped' });
  });
});

describe('a thread that does not answer', () => {
  /** Takes the thread for itself until there is a file, without an end of its own. */
  const holding = (folder: string, mark: string) =>
    plan(`<Task id="a" run={() => {
      if (ctx.input.hold) { ${mark} while (!existsSync(${JSON.stringify(path.join(folder, 'go'))})); }
      return new Promise(resolve => setTimeout(resolve, 1));
    }} />`);

  it('[A500] because the machine gives it no time is not given up', async () => {
    const beatMs = 50;
    let asked = 0;
    const threadTime = async () => {
      asked += 1;
      return 0;
    };
    const impatient = { beatMs, sharedSilenceMs: 4 * beatMs, aloneSilenceMs: 4 * beatMs, threadTime };
    const { start, end, folder, mark, stuck, store } = await openPatient(impatient);
    const run = await start('holding', holding(folder, mark), { input: { hold: true } });
    await stuck();
    const before = asked;
    await until(() => asked > before + 20 || undefined);
    writeFileSync(path.join(folder, 'go'), '');
    expect(await end(run)).toMatchObject({ status: 'completed' });
    expect((await store.tasks(run)).map(({ retryCount }) => retryCount)).toEqual([0]);
    expect((await store.events(run, 0, 1000)).filter(({ event }) => event.type === 'run.resumed')).toEqual([]);
  });

  it('[A500] because a call blocks it is given up in the end', async () => {
    const threadTime = async () => 0;
    const { start, end } = await openPatient({ beatMs: 10, aloneSilenceMs: 20, threadTime });
    const blocks = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)';
    const wasm = blocks.replace(
      'new SharedArrayBuffer(4)',
      'new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer',
    );
    const run = await start('blocks', plan(`<Task id="a" run={() => { ${wasm}; }} />`));
    expect(await end(run)).toMatchObject({ status: 'failed', error: { code: 'thread-lost' } });
  });
});

describe('the time of a thread', () => {
  it.each([
    ['computes', 'for (;;);'],
    ['has nothing to do', 'setInterval(() => {}, 1000)'],
  ])('[A500] goes on while it %s', async (_, code) => {
    const worker = new Worker(code, { eval: true });
    onTestFinished(async () => void (await worker.terminate()));
    const begun = await until(() => threadTime(worker));
    await until(async () => ((await threadTime(worker)) ?? 0) > begun + 100 || undefined);
  });
});

describe('a run whose thread does not answer', () => {
  it('[A180] is paused as it was committed, and goes on from there', async () => {
    const { host, start, end, folder, mark, stuck, store } = await openPatient();
    const go = JSON.stringify(path.join(folder, 'go'));
    const text = plan(`<Task id="a" run={() => { ${mark} while (!existsSync(${go})); return 1; }} />`);
    const run = await start('stuck', text);
    await stuck();
    expect(await host.act(run, { kind: 'pause' }, 'ada')).toMatchObject({ ok: true });
    expect(await store.run(run)).toMatchObject({ status: 'paused' });
    writeFileSync(path.join(folder, 'go'), '');
    await host.resume(run);
    expect(await end(run)).toMatchObject({ status: 'completed' });
  });

  it('[A180] obeys other commands in another thread', async () => {
    const { host, start, end, mark, stuck, statuses } = await openPatient();
    const text = plan(`
      <Parallel>
        <Task id="spin" run={() => { ${mark} for (;;); }} />
        <Task id="good" run={() => 1} />
      </Parallel>`);
    const run = await start('stuck', text);
    await stuck();
    expect(await host.act(run, { kind: 'cancel', node: 'spin' }, 'ada')).toMatchObject({ ok: true });
    expect(await end(run)).toMatchObject({ status: 'failed' });
    expect(await statuses(run)).toMatchObject({ spin: 'canceled', good: 'succeeded' });
  });

  it('[A180] is let go when its process is to end', async () => {
    const folder = temporaryFolder();
    const { start, close, store, host } = await openTestHost(folder, { threads: { threads: 1, ...patient } });
    const begun = path.join(folder, 'begun');
    const mark = `writeFileSync(${JSON.stringify(begun)}, '');`;
    const run = await start('stuck', plan(`<Task id="a" run={() => { ${mark} for (;;); }} />`));
    await until(() => existsSync(begun) || undefined);
    await host.rest(() => 'signalbox');
    expect(await store.run(run)).toMatchObject({ status: 'paused' });
    await close();
  });

  it('[A178] is stopped with the sub-plan that is stuck, or without it', async () => {
    const { host, start, end, mark, stuck, store } = await openPatient();
    const sub = `${EXTRA}
const inner = definePlan({ name: 'inner', render: () => <Task id="a" run={() => { ${mark} for (;;); }} /> });`;
    const run = await start('outer', planText('<SubPlan id="sub" plan={inner} />', undefined, sub));
    await stuck();
    const [child] = await store.children(run);
    if (child === undefined) throw new Error('there is no child');
    expect(await host.act(child.id, { kind: 'stop', reason: 'it spins' }, 'ada')).toMatchObject({ ok: true });
    expect(await end(run)).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('it spins') } });
    expect(await store.run(child.id)).toMatchObject({ status: 'stopped', stopReason: 'it spins' });
  });
});
