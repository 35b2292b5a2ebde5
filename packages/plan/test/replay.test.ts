import type { Json, RunId } from '@signalbox/model';
import type { Frame, RunReader } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { PlanRunOptions } from '../src/frames/engine-options.ts';
import type { TaskExecutor } from '../src/frames/task-executor.ts';
import { Effect, End, Fragment, forkPlan, Human, Phase, runPlan, Task } from '../src/index.ts';
import { jsxDEV } from '../src/jsx/jsx-dev-runtime.ts';
import { type AnyPlan, definePlan } from '../src/plan-definition.ts';
import { replayRun } from '../src/replay/replay-run.ts';
import { el } from './elements.ts';
import { harness } from './harness.ts';

async function recorded(plan: AnyPlan, options: Partial<PlanRunOptions> = {}) {
  const world = harness();
  const end = await world.end(world.start(plan, { keepVolatile: true, ...options }));
  const replay = (by: AnyPlan = plan, reader: RunReader = world.runs) =>
    replayRun({ plan: by, run: world.run, reader });
  return { ...world, end, replay };
}

/** A reader that says something else than what is committed. */
function altered(reader: RunReader, change: Partial<RunReader>): RunReader {
  return { ...reader, ...change };
}

const at = (line: number) => ({ fileName: '/plans/greet.tsx', lineNumber: line, columnNumber: 3 });

function greeting(words: (text: string) => string, title = 'greet') {
  return definePlan({
    name: 'greet',
    state: z.object({ greeting: z.string().optional() }),
    render: ctx =>
      jsxDEV(
        Phase,
        {
          name: title,
          children: jsxDEV(
            Task,
            { id: 'hello', run: () => 'Hello', onFinished: (text: string) => ctx.state.set('greeting', words(text)) },
            undefined,
            false,
            at(7),
          ),
        },
        undefined,
        false,
        at(6),
      ),
  });
}

describe('a replay', () => {
  it('[P161] of an active run covers what the run had when the replay started', async () => {
    const run = await recorded(greeting(text => text));
    const record = await run.runs.run(run.run);
    const events = await run.runs.events(run.run, 0, 1_000);
    const first = events.findIndex(({ event }) => event.type === 'frame.committed');
    const before = altered(run.runs, {
      run: async () => record && { ...record, status: 'running', frames: 1, nextSeq: first + 1 },
    });
    expect(await run.replay(undefined, before)).toEqual({
      run: run.run,
      frames: 1,
      verified: 1,
      unverified: [],
      children: [],
    });
    expect(record?.frames).toBeGreaterThan(1);
  });

  it('[P162] continues when the callback of a frame is done', async () => {
    const { runs, run } = await recorded(greeting(text => text));
    const told: string[] = [];
    const onFrame = async (frame: number) => {
      told.push(`${frame} begins`);
      await new Promise<void>(resolve => setImmediate(resolve));
      told.push(`${frame} ends`);
    };
    const { frames } = await replayRun({ plan: greeting(text => text), run, reader: runs, onFrame });
    expect(told).toEqual(Array.from({ length: frames }, (_, frame) => [`${frame} begins`, `${frame} ends`]).flat());
  });

  it('[P111] does no work, runs no effect and asks nobody', async () => {
    const did: string[] = [];
    const plan = definePlan({
      name: 'busy',
      state: z.object({ said: z.string().optional(), n: z.number().default(0), late: z.number().default(0) }),
      render: ctx =>
        el(
          Fragment,
          {},
          el(Effect, {
            id: 'effect',
            deps: [ctx.state.get('n')],
            run: () => {
              did.push('effect');
              ctx.state.set('said', `effect ${did.length}`);
              return () => did.push('cleanup');
            },
          }),
          el(Task, {
            id: 'work',
            run: () => {
              did.push('work');
              ctx.state.set('late', did.length);
              return did.length;
            },
            onFinished: (n: number) => ctx.state.set('n', n),
          }),
          el(Human, { id: 'ask', prompt: ctx.state.get('said') ?? '?' }),
        ),
    });
    const run = await recorded(plan, {
      executor: {
        async execute() {
          did.push('ask');
          return { kind: 'done', output: true };
        },
      },
    });
    expect(run.end.status).toBe('completed');
    const before = [...did];
    const { frames } = (await run.runs.run(run.run)) ?? {};
    expect(await run.replay()).toEqual({ run: run.run, frames, verified: frames, unverified: [], children: [] });
    expect(did).toEqual(before);
  });

  it('[P112] names the first frame that differs, both values, what wrote it, and its line', async () => {
    const run = await recorded(greeting(text => text));
    const { difference } = await run.replay(greeting(text => `${text}!`));
    expect(difference).toEqual({
      frame: 1,
      kind: 'frame',
      what: expect.any(String),
      recorded: expect.stringMatching(/^sha256:/),
      replayed: expect.stringMatching(/^sha256:/),
      rows: [
        {
          space: 'state',
          key: 'greeting',
          recorded: 'Hello',
          replayed: 'Hello!',
          writtenBy: 'onFinished of hello',
          source: { file: '/plans/greet.tsx', line: 7, column: 3 },
        },
      ],
      source: { file: '/plans/greet.tsx', line: 7, column: 3 },
    });
  });

  it('[P112] shows what a render changed, and where it is written', async () => {
    const run = await recorded(greeting(text => text));
    const { difference, verified } = await run.replay(greeting(text => text, 'say hello'));
    expect(verified).toBe(0);
    expect(difference).toMatchObject({ frame: 0, kind: 'frame', source: { file: '/plans/greet.tsx', line: 6 } });
    const [row] = difference?.rows ?? [];
    expect(row).toMatchObject({
      space: 'node',
      recorded: { data: { name: 'greet' } },
      replayed: { data: { name: 'say hello' } },
    });
  });

  it('[P112] says what a render threw', async () => {
    const run = await recorded(greeting(text => text));
    const broken = definePlan({
      name: 'greet',
      state: z.object({ greeting: z.string().optional() }),
      render: () => {
        throw new Error('no such luck');
      },
    });
    expect((await run.replay(broken)).difference).toMatchObject({
      frame: 0,
      kind: 'render',
      what: expect.stringContaining('no such luck'),
    });
  });

  it('[P113] tells a changed record apart from a plan that renders differently', async () => {
    const run = await recorded(greeting(text => text));
    const forged = (frame: Frame): Frame => ({ ...frame, digest: `sha256:${'0'.repeat(64)}` as Frame['digest'] });
    const frames = altered(run.runs, {
      frames: async (id, from, limit) => (await run.runs.frames(id, from, limit)).map(forged),
    });
    expect((await run.replay(undefined, frames)).difference).toMatchObject({ frame: 0, kind: 'record' });

    const rows = altered(run.runs, {
      async at(id, space, frame) {
        const values = await run.runs.at(id, space, frame);
        return space === 'state' ? new Map<string, Json>([...values].map(([key]) => [key, 'Goodbye'])) : values;
      },
      task: async (id, task) => {
        const row = await run.runs.task(id, task);
        return row && { ...row, result: 'Goodbye' };
      },
    });
    expect((await run.replay(undefined, rows)).difference).toMatchObject({ frame: 1, kind: 'record' });
  });

  const clock = { rows: 0 };
  const watching = definePlan({
    name: 'watching',
    state: z.object({ n: z.number().default(0) }),
    render: ctx =>
      el(
        Fragment,
        {},
        el(Effect, { id: 'measure', deps: [ctx.state.get('n')], run: () => ctx.vol.set('seen', clock.rows++) }),
        el(Task, {
          id: `t${ctx.state.get('n')}`,
          run: () => 1,
          onFinished: () => ctx.state.update('n', n => Math.min(2, n + 1)),
        }),
        el(Phase, { name: `saw ${ctx.vol.get('seen') ?? 'nothing'}` }),
        el(Phase, { name: JSON.stringify(ctx.db.query('select 1', { invalidateOn: ['tasks'] })) }),
      ),
  });
  const query = () => [{ count: clock.rows++ }];

  it('[P115] gives renders the recorded values: volatile state and query answers', async () => {
    const run = await recorded(watching, { query });
    const { frames = 0 } = (await run.runs.run(run.run)) ?? {};
    expect(frames).toBeGreaterThan(3);
    expect(await run.replay()).toMatchObject({ verified: frames, unverified: [] });
  });

  it('[P114] does not count a frame as verified that read something unrecorded, and ends if it cannot continue', async () => {
    const run = await recorded(watching, { query, keepVolatile: false });
    const report = await run.replay();
    expect(report).toMatchObject({ verified: 0, unverified: [0] });
    expect(report.difference).toBeUndefined();
  });

  it('[P116] follows an edited run, and its fork from the first frame', async () => {
    const counting = definePlan({
      name: 'counting',
      state: z.object({ n: z.number().default(0) }),
      render: ctx =>
        el(
          Fragment,
          {},
          el(Task, { id: `t${ctx.state.get('n')}`, run: () => 1, onFinished: () => ctx.state.update('n', n => n + 1) }),
          el(Human, { id: 'ask', prompt: `${ctx.state.get('n')}` }),
          ctx.state.get('n') < 3 ? null : el(End, {}),
        ),
    });
    let answers = 0;
    const executor: TaskExecutor = {
      execute: async () => (answers > 0 ? { kind: 'done', output: 1 } : { kind: 'blocked', reason: 'human' }),
    };
    const world = harness();
    const first = world.start(counting, { executor, keepVolatile: true });
    await world.calm();
    await first.edit({ key: 'n', value: 5, reason: 'a person knows better', by: 'ada' });
    await world.end(first);
    const { frames = 0 } = (await world.runs.run(world.run)) ?? {};
    expect(await replayRun({ plan: counting, run: world.run, reader: world.runs })).toMatchObject({ verified: frames });

    const fork = world.ports.ids.mint<RunId>();
    const forked = await forkPlan(world.ports, { run: fork, parent: world.run, frame: 1, by: 'ada' });
    expect(forked).toMatchObject({ ok: true });
    answers = 1;
    await world.end(
      runPlan({ ...(world.ports as never as PlanRunOptions), plan: counting, run: fork, executor, keepVolatile: true }),
    );
    const { frames: made = 0 } = (await world.runs.run(fork)) ?? {};
    expect(made).toBeGreaterThan(1);
    expect(await replayRun({ plan: counting, run: fork, reader: world.runs })).toMatchObject({
      frames: made,
      verified: made,
    });
  });
});
