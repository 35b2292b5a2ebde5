import type { RunId } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { el } from '../../test/elements.ts';
import { type Harness, harness } from '../../test/harness.ts';
import { Fragment } from '../jsx/element.ts';
import { Human, Phase, SubPlan, Task, While } from '../nodes/components.ts';
import { type AnyPlan, definePlan } from '../plan-definition.ts';
import { replayRun } from '../replay/replay-run.ts';
import { endUndriven } from './end-undriven.ts';

/** Work that its run must not wait for, and what was done in the order it was done. */
interface Witness {
  readonly done: string[];
  readonly tasks: Readonly<Record<string, object>>;
}

const witness = (tasks: Witness['tasks'] = {}): Witness => ({ done: [], tasks });

const work = ({ done, tasks }: Witness, id: string, more: object = {}) =>
  el(Task, {
    id,
    key: id,
    run: () => {
      done.push(id);
      return id;
    },
    ...more,
    ...tasks[id],
  });

/** Three phases; the render throws, while it has the bug, as soon as the first one is done. */
const releasePlan = (seen: Witness, hasBug: boolean, beside: object | undefined = undefined) =>
  definePlan({
    name: 'release',
    state: z.object({ built: z.string().optional(), shipped: z.boolean().default(false) }),
    signals: { built: { schema: z.string(), handle: (name, ctx) => ctx.state.set('built', name) } },
    render: ctx => {
      if (hasBug && ctx.state.get('built') !== undefined) throw new Error('a bug in the plan');
      return el(
        Fragment,
        {},
        beside,
        el(
          Phase,
          { name: 'build' },
          work(seen, 'build', { onFinished: (name: string) => ctx.state.set('built', name) }),
        ),
        el(Phase, { name: 'ship' }, work(seen, 'ship', { onFinished: () => ctx.state.set('shipped', true) })),
      );
    },
  });

async function statuses({ runs, run }: Harness, of: RunId = run): Promise<Record<string, string>> {
  const { frames = 0 } = (await runs.run(of)) ?? {};
  const nodes = await runs.at(of, 'node', frames);
  const rows = await runs.at(of, 'status', frames);
  return Object.fromEntries(
    [...nodes].map(([id, node]) => {
      const { kind, data } = node as { readonly kind: string; readonly data: { readonly name?: string } };
      const { status } = (rows.get(id) ?? { status: 'idle' }) as { readonly status: string };
      return [kind === 'plan' ? 'plan' : data.name === undefined ? id : `${kind} ${data.name}`, status];
    }),
  );
}

describe('a render that throws', () => {
  it('[P180] leaves the run failed with everything before it settled', async () => {
    const world = harness();
    const seen = witness();
    expect(await world.end(world.start(releasePlan(seen, true)))).toMatchObject({
      status: 'failed',
      error: { code: 'plan/render-failed', message: expect.stringContaining('a bug in the plan') },
    });
    expect(await statuses(world)).toEqual({
      plan: 'failed',
      'phase build': 'succeeded',
      build: 'succeeded',
      'phase ship': 'idle',
      ship: 'idle',
    });
    expect(await world.state()).toEqual({ built: 'build', shipped: false });
    expect((await world.runs.tasks(world.run)).map(({ node, status }) => [node, status])).toEqual([['build', 'done']]);
  });

  it('[P180] turns no loop', async () => {
    const world = harness();
    const seen = witness();
    const looping = (hasBug: boolean) =>
      definePlan({
        name: 'loop',
        state: z.object({ n: z.number().default(0) }),
        render: ctx =>
          el(While, {
            id: 'loop',
            condition: () => ctx.state.get('n') < 2,
            maxIterations: 5,
            children: ({ iteration }: { readonly iteration: number }) => {
              if (hasBug && iteration === 1) throw new Error('a bug in the body');
              return work(seen, 'body', { onFinished: () => ctx.state.update('n', n => n + 1) });
            },
          }),
      });
    expect(await world.end(world.start(looping(true)))).toMatchObject({ status: 'failed' });
    const { frames = 0 } = (await world.runs.run(world.run)) ?? {};
    expect(await world.runs.valueAt(world.run, 'status', 'loop', frames)).toMatchObject({
      loop: { total: 0, base: 0, left: false },
    });
    expect(await world.end(world.resume(looping(false)))).toEqual({ status: 'completed', output: { n: 2 } });
    expect(seen.done).toEqual(['body', 'body']);
  });

  it('[P180] releases running work: it starts again without counting a retry; effects outside are for a person', async () => {
    const world = harness();
    const seen = witness();
    let aborted = 0;
    const long = (effects: string) => ({
      effects,
      run: ({ signal }: { readonly signal: AbortSignal }) =>
        new Promise((_, reject) => {
          seen.done.push(effects);
          signal.addEventListener('abort', () => {
            aborted += 1;
            reject(new Error('told to end'));
          });
        }),
    });
    const beside = el(
      Fragment,
      {},
      el(Task, { id: 'safe', ...long('none') }),
      el(Task, { id: 'outside', ...long('external') }),
    );
    expect(await world.end(world.start(releasePlan(seen, true, beside)))).toMatchObject({ status: 'failed' });
    const tasks = await world.runs.tasks(world.run);
    expect(aborted).toBe(2);
    expect(tasks.map(({ node, status, retryCount }) => [node, status, retryCount]).sort()).toEqual([
      ['build', 'done', 0],
      ['outside', 'orphaned', 0],
      ['safe', 'pending', 0],
    ]);
    expect(await statuses(world)).toMatchObject({ safe: 'idle', outside: 'blocked' });

    const resumed = world.resume(releasePlan(seen, false, beside));
    await world.calm();
    expect(seen.done).toEqual(['none', 'external', 'build', 'none', 'ship']);
    expect(await statuses(world)).toMatchObject({ safe: 'running', outside: 'blocked', ship: 'succeeded' });
    void resumed.terminate('enough');
    expect(await world.end(resumed)).toEqual({ status: 'stopped', reason: 'enough' });
  });

  it('[P182] is reported in the events each time, and the run continues when the plan is corrected', async () => {
    const world = harness();
    const seen = witness();
    await world.end(world.start(releasePlan(seen, true)));
    expect(await world.end(world.resume(releasePlan(seen, true)))).toMatchObject({ status: 'failed' });
    const told = (await world.runs.events(world.run, 0, 1000)).flatMap(({ event }) =>
      event.type === 'run.status' ? [`${event.from} → ${event.to}`] : [],
    );
    expect(told).toEqual(['running → failed', 'failed → running', 'running → failed']);

    expect(await world.end(world.resume(releasePlan(seen, false)))).toEqual({
      status: 'completed',
      output: { built: 'build', shipped: true },
    });
    expect(seen.done).toEqual(['build', 'ship']);
    expect(await world.runs.run(world.run)).not.toHaveProperty('error');
    expect(new Set(Object.values(await statuses(world)))).toEqual(new Set(['succeeded']));
  });

  it('[P182] before the first frame, or in a process that found interrupted work, is repaired the same way', async () => {
    const world = harness();
    const seen = witness({ build: { run: () => new Promise(() => seen.done.push('build')) } });
    const cut = world.start(releasePlan(seen, false));
    await world.calm();
    void cut;
    // Another process takes the run up, finds the work cut off, and cannot render.
    const throwing = {
      ...releasePlan(seen, false),
      render: () => {
        throw new Error('at once');
      },
    };
    expect(await world.end(world.resume(throwing, { claim: true }))).toMatchObject({ status: 'failed' });
    expect(await statuses(world)).toMatchObject({ build: 'idle' });
    const mended = witness();
    expect(await world.end(world.resume(releasePlan(mended, false)))).toMatchObject({ status: 'completed' });
    expect(mended.done).toEqual(['build', 'ship']);
  });

  it('[P182] in a sub-plan, however deep, fails its ancestors; all continue when it is corrected', async () => {
    const world = harness();
    const seen = witness();
    const wrap = (name: string, inner: AnyPlan) =>
      definePlan({ name, render: () => el(SubPlan, { id: 'sub', plan: inner }) });
    const parent = (hasBug: boolean) => wrap('top', wrap('middle', releasePlan(seen, hasBug)));
    expect(await world.end(world.start(parent(true)))).toMatchObject({ status: 'failed' });
    expect(await world.end(world.resume(parent(true)))).toMatchObject({ status: 'failed' });
    expect(await world.end(world.resume(parent(false)))).toMatchObject({ status: 'completed' });
    expect(seen.done).toEqual(['build', 'ship']);
    const [middle] = await world.runs.children(world.run);
    const [inner] = await world.runs.children(middle?.id as RunId);
    expect([middle?.status, inner?.status]).toEqual(['completed', 'completed']);
    const replayed = await replayRun({ plan: parent(false), run: world.run, reader: world.runs });
    expect(replayed).toMatchObject({ verified: replayed.frames });
  });

  it('[P182] in a sub-plan does not revive one whose work failed', async () => {
    const world = harness();
    const seen = witness();
    const failing = () => {
      seen.done.push('build');
      throw new Error('no');
    };
    const inner = definePlan({ name: 'inner', render: () => el(Task, { id: 'build', run: failing, retries: 0 }) });
    const parent = definePlan({ name: 'parent', render: () => el(SubPlan, { id: 'sub', plan: inner }) });
    expect(await world.end(world.start(parent))).toMatchObject({ status: 'failed' });
    expect(await world.end(world.resume(parent))).toMatchObject({ status: 'failed' });
    expect(seen.done).toEqual(['build']);
  });

  it.each(['the end of a task', 'a signal', 'an edit'])('[P183] is replayed with what led to it: %s', async cause => {
    const world = harness();
    const isTask = cause === 'the end of a task';
    const seen = witness(isTask ? {} : { build: { run: () => new Promise(() => {}) } });
    const first = world.start(releasePlan(seen, true));
    await world.calm();
    if (cause === 'a signal') {
      const event = { id: world.ports.ids.mint(), ts: world.now(), type: 'signal.received' };
      const fields = { name: 'built', payload: 'by hand', by: 'ada' };
      await world.runs.commit(
        { at: world.now(), events: [{ ...event, ...fields } as never] },
        { run: world.run, version: 'any' },
      );
      void first.input();
    }
    if (cause === 'an edit') void first.edit({ key: 'built', value: 'by hand', reason: 'it is', by: 'ada' });
    expect(await world.end(first)).toMatchObject({ status: 'failed' });

    const mended = witness();
    expect(await world.end(world.resume(releasePlan(mended, false)))).toMatchObject({ status: 'completed' });
    expect(mended.done).toEqual(isTask ? ['ship'] : ['build', 'ship']);
    const replayed = await replayRun({ plan: releasePlan(mended, false), run: world.run, reader: world.runs });
    expect(replayed).toMatchObject({ verified: replayed.frames });
    expect(replayed.frames).toBeGreaterThan(1);
  });
});

describe('a run whose engine throws', () => {
  it('[P181] fails as last committed, and continues from there', async () => {
    const world = harness();
    const seen = witness();
    let frames = 0;
    const onFrame = () => {
      frames += 1;
      if (frames === 2) throw new Error('out of the blue');
      return () => {};
    };
    expect(await world.end(world.start(releasePlan(seen, false), { onFrame }))).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('out of the blue') },
    });
    // The end of the task was not committed: it is done again.
    expect(await world.end(world.resume(releasePlan(seen, false)))).toMatchObject({ status: 'completed' });
    expect(seen.done).toEqual(['build', 'build', 'ship']);
    const replayed = await replayRun({ plan: releasePlan(seen, false), run: world.run, reader: world.runs });
    expect(replayed).toMatchObject({ verified: replayed.frames });
  });

  it('[P185] is not one whose schemas throw: their values are invalid', async () => {
    const throwing = z.number().refine(() => {
      throw new Error('a bug in the schema');
    });
    const plans = {
      state: definePlan({
        name: 'state',
        state: z.object({ n: throwing.optional() }),
        render: ctx => el(Task, { id: 'a', run: () => 1, onFinished: () => ctx.state.update('n', () => 1) }),
      }),
      output: definePlan({
        name: 'output',
        render: () => el(Human, { id: 'a', prompt: '?', schema: throwing }),
      }),
      hook: definePlan({
        name: 'hook',
        render: ctx => {
          ctx.effect('hook', (() => {}) as never, [] as never);
          return null;
        },
      }),
    };
    const messages: string[] = [];
    for (const plan of Object.values(plans)) {
      const world = harness();
      const executor = { execute: async () => ({ kind: 'done', output: 1 }) as const };
      const end = await world.end(world.start(plan, { executor }));
      messages.push(end.status === 'failed' ? end.error.message : end.status);
    }
    expect(messages).toEqual([
      expect.stringContaining('a bug in the schema'),
      expect.stringContaining('a bug in the schema'),
      expect.stringContaining("ctx.effect('hook') takes a list of plain data and a function"),
    ]);
  });
});

describe('an undriven run', () => {
  it('[P181] shows nothing as running when it is failed or paused, and continues from there', async () => {
    for (const end of [
      { status: 'failed', error: { class: 'terminal', code: 'thread-lost', message: 'gone' } },
      { status: 'paused' },
    ] as const) {
      const world = harness();
      const seen = witness({ build: { run: () => new Promise(() => {}) } });
      const cut = world.start(releasePlan(seen, false));
      await world.calm();
      const record = await world.runs.run(world.run);
      if (record === undefined) throw new Error('the run is not there');
      expect(await endUndriven(world.ports, record, end, { action: 'terminate', by: 'test' })).toMatchObject({
        ok: true,
      });
      expect(await statuses(world)).toMatchObject({ build: 'idle', plan: end.status === 'failed' ? 'failed' : 'idle' });
      expect((await world.runs.tasks(world.run)).map(({ status }) => status)).toEqual(['pending']);
      const mended = witness();
      expect(await world.end(world.resume(releasePlan(mended, false), { claim: true }))).toMatchObject({
        status: 'completed',
      });
      expect(mended.done).toEqual(['build', 'ship']);
      const replayed = await replayRun({ plan: releasePlan(mended, false), run: world.run, reader: world.runs });
      expect(replayed).toMatchObject({ verified: replayed.frames });
      void cut;
    }
  });
});
