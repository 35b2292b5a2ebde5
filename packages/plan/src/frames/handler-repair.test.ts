import type { RunId } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { el } from '../../test/elements.ts';
import { harness } from '../../test/harness.ts';
import { replayed, version } from '../../test/plan-versions.ts';
import { forkPlan } from '../forks/fork-plan.ts';
import { Fragment } from '../jsx/element.ts';
import { Human, Phase, SubPlan, Task, While } from '../nodes/components.ts';
import { type AnyPlan, definePlan } from '../plan-definition.ts';
import type { PlanRunOptions } from './engine-options.ts';

interface Seen {
  readonly done: string[];
  readonly told: string[];
}

const nothingSeen = (): Seen => ({ done: [], told: [] });

interface Shape {
  /** Of `onFinished` or `onError`, whichever is called. */
  readonly hasBug: boolean;
  readonly fails?: boolean;
  readonly input?: string;
}

/** Builds, and ships what was built; the handlers of the build have a bug. */
const releasePlan = ({ done, told }: Seen, { hasBug, fails = false, input = 'main' }: Shape) =>
  definePlan({
    name: 'release',
    state: z.object({ built: z.string().optional(), shipped: z.boolean().default(false) }),
    render: ctx => {
      const take = (what: string) => {
        told.push(what);
        ctx.state.set('built', what);
        if (hasBug) throw new Error('a bug in the handler');
      };
      const build = el(Task, {
        id: 'build',
        input,
        retries: 0,
        run: () => {
          done.push('build');
          if (fails) throw new Error('no compiler');
          return 'the build';
        },
        onFinished: (name: string) => take(name),
        onError: ({ error, attempts }: { readonly error: { readonly message: string }; readonly attempts: number }) =>
          take(`${error.message} (${attempts})`),
      });
      const ship = el(Task, {
        id: 'ship',
        run: () => void done.push('ship'),
        onFinished: () => ctx.state.set('shipped', true),
      });
      // A plan that is told of a failure goes another way.
      if (fails && ctx.state.get('built') !== undefined) return ship;
      return el(Fragment, {}, el(Phase, { name: 'build' }, build), el(Phase, { name: 'ship' }, ship));
    },
  });

const wrapped = (plan: AnyPlan) => definePlan({ name: 'top', render: () => el(SubPlan, { id: 'sub', plan }) });

describe('a handler that throws', () => {
  it.each([false, true])('[P240] is called again with the recorded end (of a failure: %s)', async fails => {
    const world = harness();
    const seen = nothingSeen();
    const buggy = releasePlan(seen, { hasBug: true, fails });
    const name = fails ? 'onError' : 'onFinished';
    const failed = { status: 'failed', error: { message: expect.stringContaining(`${name} of node build failed`) } };
    expect(await world.end(world.start(buggy))).toMatchObject(failed);
    expect(await world.end(world.resume(buggy))).toMatchObject(failed);
    expect(await world.end(world.resume(buggy))).toMatchObject(failed);
    expect(seen.done).toEqual(['build']);
    expect(await world.state()).toEqual({ shipped: false });

    const end = await world.end(world.resume(releasePlan(seen, { hasBug: false, fails })));
    const built = fails ? 'Node build failed: Error: no compiler (1)' : 'the build';
    expect(end).toEqual({ status: 'completed', output: { built, shipped: true } });
    expect(seen).toEqual({ done: ['build', 'ship'], told: [built, built, built, built] });
    const tasks = await world.runs.tasks(world.run);
    expect(tasks.map(({ node, status }) => [node, status])).toEqual([
      ['build', fails ? 'error' : 'done'],
      ['ship', 'done'],
    ]);
    const told = (await world.events()).filter(type => type.startsWith('handler.'));
    expect(told).toEqual(['handler.failed', 'handler.failed', 'handler.failed', 'handler.ran', 'handler.ran']);
  });

  it('[P240] gets the output parsed by the author’s own schema, even when it is called again', async () => {
    const world = harness();
    const told: unknown[] = [];
    const plan = (hasBug: boolean) =>
      definePlan({
        name: 'asked',
        render: () =>
          el(Human, {
            id: 'ask',
            prompt: 'How many?',
            schema: z.object({ count: z.coerce.number() }),
            onFinished: (value: { readonly count: number }) => {
              if (hasBug) throw new Error('a bug');
              told.push(value.count);
            },
          }),
      });
    let asked = 0;
    const executor = {
      execute: async () => {
        asked += 1;
        return { kind: 'done', output: { count: '12' } } as const;
      },
    };
    expect(await world.end(world.start(plan(true), { executor }))).toMatchObject({ status: 'failed' });
    expect(await world.end(world.resume(plan(false), { executor }))).toMatchObject({ status: 'completed' });
    expect([asked, told]).toEqual([1, [12]]);
  });

  it('[P242] a value that cannot be shown leaves the work done, and the handler is called again', async () => {
    const world = harness();
    const ran: string[] = [];
    const plan = (hasBug: boolean) =>
      definePlan({
        name: 'odd',
        render: () =>
          el(Task, {
            id: 't',
            run: () => void ran.push('run'),
            onFinished: () => {
              if (hasBug) throw Object.create(null);
              ran.push('finished');
            },
          }),
      });
    expect(await world.end(world.start(plan(true)))).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('cannot be shown') },
    });
    expect(await world.end(world.resume(plan(false)))).toMatchObject({ status: 'completed' });
    expect(ran).toEqual(['run', 'finished']);
  });

  it('[P242] work that throws such a value has failed, and so has an answer whose schema throws it', async () => {
    const odd = () => {
      throw Object.create(null);
    };
    const executor = { execute: async () => ({ kind: 'done', output: { a: 'x' } }) as const };
    const told = { status: 'failed', error: { message: expect.stringContaining('cannot be shown') } };
    const schema = z.object({ a: z.string() }).refine(odd);
    const world = harness();
    const works = definePlan({ name: 'odd', render: () => el(Task, { id: 't', run: odd }) });
    expect(await world.end(world.start(works))).toMatchObject(told);
    const other = harness();
    const asks = definePlan({ name: 'odd', render: () => el(Human, { id: 'h', prompt: 'Which?', schema }) });
    expect(await other.end(other.start(asks, { executor }))).toMatchObject(told);
  });

  it('[P241] in a sub-plan lets the same child continue', async () => {
    const world = harness();
    const seen = nothingSeen();
    const plan = (hasBug: boolean) => wrapped(wrapped(releasePlan(seen, { hasBug })));
    expect(await world.end(world.start(plan(true)))).toMatchObject({ status: 'failed' });
    expect(await world.end(world.resume(plan(true)))).toMatchObject({ status: 'failed' });
    expect(await world.end(world.resume(plan(false)))).toMatchObject({ status: 'completed' });
    expect(seen.done).toEqual(['build', 'ship']);
  });

  it('[P241] at a sub-plan’s end does not start the sub-plan again', async () => {
    const world = harness();
    const seen = nothingSeen();
    const plan = (hasBug: boolean) =>
      definePlan({
        name: 'top',
        state: z.object({ sub: z.any().optional() }),
        render: ctx =>
          el(SubPlan, {
            id: 'sub',
            plan: releasePlan(seen, { hasBug: false }),
            onFinished: (output: unknown) => {
              if (hasBug) throw new Error('a bug');
              ctx.state.set('sub', output as never);
            },
          }),
      });
    expect(await world.end(world.start(plan(true)))).toMatchObject({ status: 'failed' });
    expect(await world.end(world.resume(plan(false)))).toEqual({
      status: 'completed',
      output: { sub: { built: 'the build', shipped: true } },
    });
    expect(seen.done).toEqual(['build', 'ship']);
    expect(await world.runs.children(world.run)).toHaveLength(1);
  });

  it('[P241] in a loop continues with the next iteration, and is replayed', async () => {
    const world = harness();
    let done = 0;
    const plan = (hasBug: boolean) =>
      definePlan({
        name: 'loop',
        state: z.object({ n: z.number().default(0) }),
        render: ctx =>
          el(While, {
            id: 'loop',
            condition: () => ctx.state.get('n') < 4,
            maxIterations: 9,
            children: ({ iteration }: { readonly iteration: number }) =>
              el(Task, {
                id: 'body',
                run: () => ++done,
                onFinished: () => {
                  ctx.state.update('n', n => n + 1);
                  if (hasBug && iteration === 2) throw new Error('a bug');
                },
              }),
          }),
      });
    const plans = [plan(true), plan(false)] as const;
    expect(await world.end(world.start(plans[0], version('buggy')))).toMatchObject({ status: 'failed' });
    expect(await world.end(world.resume(plans[1], version('mended')))).toEqual({
      status: 'completed',
      output: { n: 4 },
    });
    expect(done).toBe(4);
    expect(await replayed(world, world.run, plans)).toEqual({ difference: undefined, isVerified: true });
  });

  it('[P241] in a fork continues from the end that the fork inherited', async () => {
    const world = harness();
    const seen = nothingSeen();
    const buggy = releasePlan(seen, { hasBug: true });
    await world.end(world.start(buggy, version('buggy')));
    world.timers.advance(1000);
    const { frames = 0 } = (await world.runs.run(world.run)) ?? {};
    const fork = world.ports.ids.mint<RunId>();
    const forked = { run: fork, parent: world.run, frame: frames - 1, by: 'ada' };
    expect(await forkPlan(world.ports, forked)).toMatchObject({ ok: true });
    expect(await world.end(world.resume(buggy, { run: fork, ...version('buggy') }))).toMatchObject({
      status: 'failed',
    });
    const mended = releasePlan(seen, { hasBug: false });
    expect(await world.end(world.resume(mended, { run: fork, ...version('mended') }))).toMatchObject({
      status: 'completed',
    });
    expect(seen.done).toEqual(['build', 'ship']);
    expect(await replayed(world, fork, [buggy, mended])).toEqual({ difference: undefined, isVerified: true });
  });

  it('[P241] whose work another plan requests in another form, or which an operator retries, has its work repeated', async () => {
    for (const how of ['changed', 'retried']) {
      const world = harness();
      const seen = nothingSeen();
      await world.end(world.start(releasePlan(seen, { hasBug: true })));
      const input = how === 'changed' ? { input: 'release' } : {};
      const resumed = world.resume(releasePlan(seen, { hasBug: false, ...input }));
      if (how === 'retried') void resumed.retry('build', 'ada');
      expect(await world.end(resumed)).toMatchObject({ status: 'completed', output: { built: 'the build' } });
      expect(seen).toEqual({ done: ['build', 'build', 'ship'], told: ['the build', 'the build'] });
    }
  });

  it('[P241] in a run that was stopped meanwhile is called again too', async () => {
    const world = harness();
    const seen = nothingSeen();
    const beside = (plan: AnyPlan, run: () => unknown) =>
      ({
        ...plan,
        render: (ctx: never) => el(Fragment, {}, plan.render(ctx), el(Task, { id: 'long', run })),
      }) as AnyPlan;
    const begun = world.start(beside(releasePlan(seen, { hasBug: true }), () => new Promise(() => {})));
    await world.calm();
    void begun.stop('enough');
    expect(await world.end(begun)).toEqual({ status: 'stopped', reason: 'enough' });
    const mended = beside(releasePlan(seen, { hasBug: false }), () => 'at once');
    expect(await world.end(world.resume(mended))).toMatchObject({ status: 'completed', output: { shipped: true } });
    expect(seen.done).toEqual(['build', 'ship']);
  });

  it('[P241] is called again whenever its process died, and every frame is found by a replay', async () => {
    const lived = async (at: number, isKept: boolean) => {
      const world = harness();
      const seen = nothingSeen();
      const plans = [releasePlan(seen, { hasBug: true }), releasePlan(seen, { hasBug: false })] as const;
      await world.end(world.start(plans[0], version('buggy')));
      let commits = 0;
      const dying: PlanRunOptions['commit'] = {
        async commit(writes, guard) {
          commits += 1;
          if (commits < at) return world.runs.commit(writes, guard);
          if (commits === at && isKept) await world.runs.commit(writes, guard);
          return new Promise(() => {});
        },
      };
      void world.resume(plans[1], { commit: dying, ...version('mended') });
      await world.calm();
      const { status } = (await world.runs.run(world.run)) ?? {};
      const resumed = { claim: true, ...version('mended') };
      if (status !== 'completed') await world.end(world.resume(plans[1], resumed));
      const record = await world.runs.run(world.run);
      return {
        commits,
        ended: {
          output: record?.output,
          builds: seen.done.filter(what => what === 'build').length,
          ...(await replayed(world, world.run, plans)),
        },
      };
    };
    const { commits, ended } = await lived(Number.POSITIVE_INFINITY, false);
    expect(ended).toEqual({
      output: { built: 'the build', shipped: true },
      builds: 1,
      difference: undefined,
      isVerified: true,
    });
    expect(commits).toBeGreaterThan(2);
    for (let at = 1; at <= commits; at++) {
      for (const isKept of [false, true])
        expect({ at, isKept, ...(await lived(at, isKept)).ended }).toEqual({ at, isKept, ...ended });
    }
  });
});
