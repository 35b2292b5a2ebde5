import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { el } from '../../test/elements.ts';
import { type Harness, harness } from '../../test/harness.ts';
import { replayed, version } from '../../test/plan-versions.ts';
import { Fragment } from '../jsx/element.ts';
import { Agent, Human, Parallel, Phase, SubPlan, Task } from '../nodes/components.ts';
import { type AnyPlan, definePlan } from '../plan-definition.ts';
import type { PlanRunOptions } from './engine-options.ts';

interface Shape {
  readonly hasBug: boolean;
  readonly effects?: 'none' | 'undoable' | 'external';
  /** The render throws, after the work has failed. */
  readonly rendersBadly?: boolean;
}

/** Checks out, builds and ships; the build has a bug. */
const releasePlan = (done: string[], { hasBug, effects = 'none', rendersBadly = false }: Shape) =>
  definePlan({
    name: 'release',
    state: z.object({ built: z.string().optional(), told: z.number().default(0) }),
    render: ctx => {
      if (rendersBadly) throw new Error('a bug in the render');
      const build = el(Task, {
        id: 'build',
        retries: 1,
        effects,
        run: () => {
          done.push('build');
          if (hasBug) throw Object.assign(new TypeError('undefined is not a function'), { status: 503 });
          return 'the build';
        },
        onFinished: (name: string) => ctx.state.set('built', name),
        onError: () => ctx.state.update('told', told => told + 1),
      });
      const step = (id: string) => el(Task, { id, run: () => void done.push(id) });
      return el(
        Fragment,
        {},
        el(Phase, { name: 'checkout' }, step('checkout')),
        el(Phase, { name: 'build' }, build),
        el(Phase, { name: 'ship' }, step('ship')),
      );
    },
  });

const wrapped = (plan: AnyPlan) => definePlan({ name: 'top', render: () => el(SubPlan, { id: 'sub', plan }) });
const verified = { difference: undefined, isVerified: true };
const failed = { status: 'failed', error: { code: 'plan/task-failed' } };

async function retryCounts({ runs, run }: Harness): Promise<readonly (readonly [string, string, number])[]> {
  const tasks = await runs.tasks(run);
  return tasks.filter(({ node }) => node === 'build').map(({ node, status, retryCount }) => [node, status, retryCount]);
}

describe('work that threw', () => {
  it('[A770] starts again with a corrected plan, with all its retries, and is replayed', async () => {
    const world = harness();
    const done: string[] = [];
    const plan = (hasBug: boolean) => releasePlan(done, { hasBug });
    const plans = [plan(true), plan(true), plan(false)] as const;
    const [buggy, stillBuggy, mended] = plans;
    expect(await world.end(world.start(buggy, version('1')))).toMatchObject(failed);
    expect(done).toEqual(['checkout', 'build', 'build']);
    // The same version changes nothing, however often the run is resumed.
    expect(await world.end(world.resume(buggy, version('1')))).toMatchObject(failed);
    expect(await world.end(world.resume(buggy))).toMatchObject(failed);
    expect(done).toEqual(['checkout', 'build', 'build']);
    expect(await world.end(world.resume(stillBuggy, version('2')))).toMatchObject(failed);
    expect(await retryCounts(world)).toEqual([
      ['build', 'error', 1],
      ['build', 'error', 1],
    ]);
    expect(await world.end(world.resume(mended, version('3')))).toEqual({
      status: 'completed',
      output: { built: 'the build', told: 2 },
    });
    expect(done).toEqual(['checkout', 'build', 'build', 'build', 'build', 'build', 'ship']);
    expect(await replayed(world, world.run, plans)).toEqual(verified);
  });

  it('[A770] with effects outside stays failed until an operator retries it', async () => {
    const world = harness();
    const done: string[] = [];
    const plan = (hasBug: boolean) => releasePlan(done, { hasBug, effects: 'external' });
    const plans = [plan(true), plan(false)] as const;
    const [buggy, mended] = plans;
    expect(await world.end(world.start(buggy, version('1')))).toMatchObject(failed);
    const builds = done.filter(what => what === 'build').length;
    expect(await world.end(world.resume(mended, version('2')))).toMatchObject(failed);
    expect(done.filter(what => what === 'build')).toHaveLength(builds);
    const resumed = world.resume(mended, version('2'));
    void resumed.retry('build', 'ada');
    expect(await world.end(resumed)).toMatchObject({ status: 'completed' });
    expect(done.filter(what => what === 'build')).toHaveLength(builds + 1);
    expect(await replayed(world, world.run, plans)).toEqual(verified);
  });

  it('[A770] in a sub-plan lets the same child continue', async () => {
    const world = harness();
    const done: string[] = [];
    const plan = (hasBug: boolean) => wrapped(wrapped(releasePlan(done, { hasBug })));
    const plans = [plan(true), plan(false)] as const;
    const [buggy, mended] = plans;
    expect(await world.end(world.start(buggy, version('1')))).toMatchObject({ status: 'failed' });
    expect(await world.end(world.resume(mended, version('2')))).toMatchObject({ status: 'completed' });
    expect(done).toEqual(['checkout', 'build', 'build', 'build', 'ship']);
    expect(await world.runs.children(world.run)).toHaveLength(1);
    expect(await replayed(world, world.run, plans)).toEqual(verified);
  });

  it('[A770] starts again even if the first corrected plan cannot be rendered', async () => {
    const world = harness();
    const done: string[] = [];
    const plans = [
      releasePlan(done, { hasBug: true }),
      releasePlan(done, { hasBug: false, rendersBadly: true }),
      releasePlan(done, { hasBug: false }),
    ] as const;
    const [buggy, broken, mended] = plans;
    await world.end(world.start(buggy, version('1')));
    expect(await world.end(world.resume(broken, version('2')))).toMatchObject({
      status: 'failed',
      error: { code: 'plan/render-failed' },
    });
    expect(await world.end(world.resume(mended, version('3')))).toMatchObject({ status: 'completed' });
    expect(done).toEqual(['checkout', 'build', 'build', 'build', 'ship']);
    expect(await replayed(world, world.run, plans)).toEqual(verified);
  });

  it('[A770] waits for its turn, and is replayed', async () => {
    const world = harness();
    const done: string[] = [];
    const plan = (hasBug: boolean) =>
      definePlan({
        name: 'crowd',
        render: () =>
          el(
            Parallel,
            { limit: 1 },
            ...['a', 'b', 'c'].map(id =>
              el(Task, {
                key: id,
                id,
                retries: 0,
                run: () => {
                  done.push(id);
                  if (hasBug) throw new Error('a bug');
                },
              }),
            ),
          ),
      });
    const plans = [plan(true), plan(false)] as const;
    expect(await world.end(world.start(plans[0], version('1')))).toMatchObject(failed);
    expect(await world.end(world.resume(plans[1], version('2')))).toMatchObject({ status: 'completed' });
    expect(done).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
    expect(await replayed(world, world.run, plans)).toEqual(verified);
  });

  it('[A770] is repeated as often whenever its process died, and every frame is found by a replay', async () => {
    const lived = async (at: number, isKept: boolean) => {
      const world = harness();
      const done: string[] = [];
      const plans = [releasePlan(done, { hasBug: true }), releasePlan(done, { hasBug: false })] as const;
      await world.end(world.start(plans[0], version('1')));
      let commits = 0;
      const dying: PlanRunOptions['commit'] = {
        async commit(writes, guard) {
          commits += 1;
          if (commits < at) return world.runs.commit(writes, guard);
          if (commits === at && isKept) await world.runs.commit(writes, guard);
          return new Promise(() => {});
        },
      };
      void world.resume(plans[1], { commit: dying, ...version('2') });
      await world.calm();
      const { status } = (await world.runs.run(world.run)) ?? {};
      const resumed = { claim: true, ...version('2') };
      if (status !== 'completed') await world.end(world.resume(plans[1], resumed));
      const record = await world.runs.run(world.run);
      return { commits, ended: { output: record?.output, ...(await replayed(world, world.run, plans)) } };
    };
    const { commits, ended } = await lived(Number.POSITIVE_INFINITY, false);
    expect(ended).toEqual({ output: { built: 'the build', told: 1 }, ...verified });
    expect(commits).toBeGreaterThan(2);
    for (let at = 1; at <= commits; at++) {
      for (const isKept of [false, true])
        expect({ at, isKept, ...(await lived(at, isKept)).ended }).toEqual({ at, isKept, ...ended });
    }
  });
});

describe('work whose output the plan refused', () => {
  const asking = (least: number) =>
    definePlan({
      name: 'asked',
      render: () =>
        el(
          Fragment,
          {},
          el(Agent, { id: 'agent', model: 'm', prompt: 'Count', schema: z.number().refine(n => n >= least) }),
          el(Human, { id: 'ask', prompt: 'How many?', schema: z.number().refine(n => n >= least) }),
        ),
    });

  it('[A770] is done again with a corrected schema; other failures of agents and people stay', async () => {
    for (const isRefused of [true, false]) {
      const world = harness();
      let asked = 0;
      const executor: PlanRunOptions['executor'] = {
        async execute() {
          asked += 1;
          if (isRefused || asked > 2) return { kind: 'done', output: 1 };
          return { kind: 'failed', error: { class: 'terminal', code: 'denied', message: 'No.' } };
        },
      };
      const plans = [asking(2), asking(1)] as const;
      expect(await world.end(world.start(plans[0], { executor, ...version('1') }))).toMatchObject(failed);
      const end = await world.end(world.resume(plans[1], { executor, ...version('2') }));
      expect([end.status, asked]).toEqual(isRefused ? ['completed', 4] : ['failed', 2]);
      expect(await replayed(world, world.run, plans)).toEqual(verified);
    }
  });
});
