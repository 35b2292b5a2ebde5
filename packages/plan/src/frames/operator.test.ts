import type { RunId } from '@signalbox/model';
import { eventType, type OwnerId, type StopVerdict } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { el } from '../../test/elements.ts';
import { type Harness, harness } from '../../test/harness.ts';
import { Fragment } from '../jsx/element.ts';
import { Claude, Human, Phase, SubPlan, Task, While } from '../nodes/components.ts';
import { type AnyPlan, definePlan } from '../plan-definition.ts';
import { stopUndriven } from './end-undriven.ts';
import type { TaskExecutor } from './task-executor.ts';

const never = () => new Promise(() => {});
const slow = definePlan({ name: 'slow', render: () => el(Task, { id: 't', run: never }) });
const parent = definePlan({ name: 'parent', render: () => el(SubPlan, { id: 'sub', plan: slow }) });

async function acted(world: Harness, run = world.run) {
  const events = (await world.runs.events(run, 0, 10_000)).map(({ event }) => event);
  return events.flatMap(event => (event.type === 'operator.acted' ? [[event.action, event.node, event.by]] : []));
}

describe('an operator', () => {
  it('[P73] ends a run and its children at once, without waiting for their work', async () => {
    const world = harness();
    const run = world.start(parent);
    await world.calm();
    const answer = run.terminate('enough', 'ada');
    await world.calm();
    expect(await answer).toBe('done');
    expect(await run.finished).toEqual({ status: 'stopped', reason: 'enough' });
    expect(world.timers.next).toBeUndefined();
    const [child] = await world.runs.children(world.run);
    for (const id of [world.run, child?.id as RunId]) {
      expect(await world.runs.run(id)).toMatchObject({ status: 'stopped', stopReason: 'enough' });
      expect((await world.runs.tasks(id)).map(({ status }) => status)).toEqual(['canceled']);
      const node = id === world.run ? 'sub' : 't';
      expect(await world.runs.valueAt(id, 'status', node, 9)).toMatchObject({ status: 'canceled' });
    }
    expect(await acted(world)).toEqual([['terminate', undefined, 'ada']]);
    expect(await acted(world, child?.id)).toEqual([['terminate', undefined, `run ${world.run}`]]);
  });

  it('[P73] ends a run whose child waits, and a run before its first frame', async () => {
    const world = harness();
    const executor: TaskExecutor = { execute: async () => ({ kind: 'blocked', reason: 'human' }) };
    const asking = definePlan({ name: 'asking', render: () => el(Human, { id: 'ask', prompt: '?' }) });
    const plan = definePlan({
      name: 'above',
      render: () => el(Fragment, {}, el(SubPlan, { id: 'sub', plan: asking }), el(Task, { id: 't', run: never })),
    });
    const run = world.start(plan, { executor });
    await world.calm();
    expect((await world.runs.children(world.run)).map(({ status }) => status)).toEqual(['waiting']);
    void run.terminate('enough');
    expect(await world.end(run)).toEqual({ status: 'stopped', reason: 'enough' });
    expect((await world.runs.children(world.run)).map(({ status }) => status)).toEqual(['stopped']);

    const early = harness();
    const begun = early.start(plan, { executor });
    void begun.terminate('not at all');
    expect(await early.end(begun)).toEqual({ status: 'stopped', reason: 'not at all' });
    expect(await early.runs.run(early.run)).toMatchObject({ status: 'stopped', frames: 0 });
  });

  it('[P230] pauses a run and its children without waiting for their work, and no attempt is lost', async () => {
    const world = harness();
    const begun: string[] = [];
    const work = (id: string) => (context: { readonly signal: AbortSignal; readonly attempt: number }) => {
      begun.push(`${id} ${context.attempt}`);
      if (begun.length > 2) return Promise.resolve(null);
      return new Promise((_, reject) => context.signal.addEventListener('abort', () => reject(context.signal.reason)));
    };
    const below = definePlan({ name: 'below', render: () => el(Task, { id: 'b', retries: 0, run: work('b') }) });
    const plan = definePlan({
      name: 'above',
      render: () =>
        el(Fragment, {}, el(SubPlan, { id: 'sub', plan: below }), el(Task, { id: 'a', retries: 0, run: work('a') })),
    });
    const run = world.start(plan);
    await world.calm();
    const answer = run.pause('ada', { now: true });
    expect(await world.end(run)).toEqual({ status: 'paused' });
    expect(await answer).toBe('done');
    expect(world.timers.next).toBeUndefined();
    const [child] = await world.runs.children(world.run);
    expect(child).toMatchObject({ status: 'paused' });
    for (const id of [world.run, child?.id as RunId]) {
      const own = (await world.runs.tasks(id)).filter(({ node }) => node !== 'sub');
      expect(own).toMatchObject([{ status: 'pending', retryCount: 0, lastError: { code: 'held-back' } }]);
    }
    expect(await acted(world)).toEqual([['pause', undefined, 'ada']]);
    expect(await world.end(world.start(plan))).toMatchObject({ status: 'completed' });
    expect(begun.toSorted()).toEqual(['a 1', 'a 1', 'b 1', 'b 1']);
  });

  it('[P230] lets work with effects outside finish within the grace, and waits no longer', async () => {
    const world = harness();
    let finish = () => {};
    const told: boolean[] = [];
    const outside = ({ signal }: { readonly signal: AbortSignal }) =>
      new Promise<void>(resolve => {
        finish = () => {
          told.push(signal.aborted);
          resolve();
        };
      });
    const one = definePlan({
      name: 'one',
      render: () => el(Task, { id: 'pay', effects: 'external', run: outside }),
    });
    const run = world.start(one);
    await world.calm();
    void run.pause('ada', { now: true });
    await world.calm();
    finish();
    expect(await world.end(run)).toMatchObject({ status: 'completed' });
    expect(told).toEqual([false]);

    const deaf = harness();
    const never_ = definePlan({ name: 'deaf', render: () => el(Task, { id: 't', run: never }) });
    const held = deaf.start(never_);
    await deaf.calm();
    // A patient pause first, then one that takes effect now.
    void held.pause('ada');
    void held.pause('ada', { now: true });
    expect(await deaf.end(held)).toEqual({ status: 'paused' });
    expect(await deaf.runs.run(deaf.run)).toMatchObject({ status: 'paused' });
  });

  it('[P73] stops an undriven run, with its children', async () => {
    const world = harness();
    const executor: TaskExecutor = { execute: async () => ({ kind: 'blocked', reason: 'human' }) };
    const asking = definePlan({ name: 'asking', render: () => el(Human, { id: 'ask', prompt: '?' }) });
    const plan = definePlan({ name: 'above', render: () => el(SubPlan, { id: 'sub', plan: asking }) });
    expect(await world.end(world.start(plan, { executor }))).toEqual({ status: 'waiting' });
    expect(await stopUndriven(world.ports, world.run, 'nobody answers', 'ada')).toBe(true);
    const [child] = await world.runs.children(world.run);
    for (const [id, node] of [
      [world.run, 'sub'],
      [child?.id as RunId, 'ask'],
    ] as const) {
      expect(await world.runs.run(id)).toMatchObject({ status: 'stopped', stopReason: 'nobody answers' });
      expect((await world.runs.tasks(id)).map(({ status }) => status)).toEqual(['canceled']);
      expect(await world.runs.valueAt(id, 'status', node, 9)).toMatchObject({ status: 'canceled' });
    }
    expect(await acted(world)).toEqual([['stop', undefined, 'ada']]);
    expect(await stopUndriven(world.ports, world.run, 'again')).toBe(true);
    const answered: TaskExecutor = { execute: async () => ({ kind: 'done', output: 'yes' }) };
    expect(await world.end(world.resume(plan, { executor: answered }))).toMatchObject({ status: 'completed' });
    expect((await world.runs.children(world.run)).map(({ status }) => status)).toEqual(['completed']);
  });

  it('[P73] a stop waits for work that does not listen no longer than the grace period', async () => {
    const world = harness();
    const run = world.start(parent, { stopGraceMs: 100 });
    await world.calm();
    void run.stop('now', 'ada');
    expect(await world.end(run)).toEqual({ status: 'stopped', reason: 'now' });
    expect((await world.runs.tasks(world.run)).map(({ status }) => status)).toEqual(['canceled']);
  });

  it('[P210] a stop waits half a second for the plan’s own code, and longer for agents', async () => {
    const graceOf = async (plan: AnyPlan) => {
      const world = harness();
      const executor: TaskExecutor = { execute: () => new Promise(() => {}) };
      const run = world.start(plan, { executor });
      await world.calm();
      const before = Date.parse(world.now());
      void run.stop('now', 'ada');
      expect(await world.end(run)).toEqual({ status: 'stopped', reason: 'now' });
      return Date.parse(world.now()) - before;
    };
    expect(await graceOf(slow)).toBeLessThan(1000);
    const agent = definePlan({ name: 'agent', render: () => el(Claude, { id: 'c', prompt: 'p' }) });
    expect(await graceOf(agent)).toBeGreaterThanOrEqual(5000);
  });

  it('[P74] is recorded in the commit in which a command takes effect, and answered after it', async () => {
    const world = harness();
    const commits: (readonly string[])[] = [];
    let isBroken = true;
    const plan = definePlan({
      name: 'operated',
      render: () =>
        el(
          Fragment,
          {},
          el(Task, { id: 'slow', run: never }),
          el(Task, {
            id: 'bad',
            run: () => {
              if (isBroken) throw new Error('no');
              return 1;
            },
          }),
        ),
    });
    const run = world.start(plan, {
      commit: {
        commit(writes, guard) {
          commits.push((writes.events ?? []).map(eventType));
          return world.runs.commit(writes, guard);
        },
      },
    });
    await world.calm();
    isBroken = false;
    const seen = commits.length;
    const retried = run.retry('bad', 'ada');
    const canceled = run.cancel('slow', 'bob');
    await world.calm();
    expect([await retried, await canceled]).toEqual(['done', 'done']);
    expect(commits[seen]).toEqual(expect.arrayContaining(['operator.acted', 'task.started']));
    const paused = run.pause('eve');
    await world.calm();
    expect(await paused).toBe('done');
    expect(await acted(world)).toEqual([
      ['retry', 'bad', 'ada'],
      ['cancel', 'slow', 'bob'],
      ['pause', undefined, 'eve'],
    ]);
    void run.terminate('end');
    await world.end(run);
  });

  it('[P74] learns when a command is for no node, changes nothing, or comes too late', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'answers',
      render: () => el(Fragment, {}, el(Task, { id: 'done', run: () => 1 }), el(Task, { id: 'slow', run: never })),
    });
    const run = world.start(plan);
    await world.calm();
    const { version } = (await world.runs.run(world.run)) ?? {};
    const answers = [run.retry('nowhere'), run.cancel('nowhere'), run.cancel('done'), run.retry('slow')];
    answers.push(run.wake('done'), run.wake('nowhere'));
    await world.calm();
    expect(await Promise.all(answers)).toEqual([
      'unknown_node',
      'unknown_node',
      'no_effect',
      'no_effect',
      'no_effect',
      'unknown_node',
    ]);
    expect((await world.runs.run(world.run))?.version).toBe(version);
    expect(await acted(world)).toEqual([]);
    void run.terminate('end');
    await world.end(run);
    expect(await Promise.all([run.retry('done'), run.stop('x'), run.pause()])).toEqual(['over', 'over', 'over']);
    const again = world.resume(plan);
    const early = [again.retry('done'), again.retry('nowhere')];
    await world.calm();
    expect(await Promise.all(early)).toEqual(['done', 'unknown_node']);
    void again.terminate('end');
    await world.end(again);
  });

  it('[P74] restarts the count of a loop’s maximum', async () => {
    const world = harness();
    let runs = 0;
    let release = () => {};
    const plan = definePlan({
      name: 'reset',
      state: z.object({ seen: z.array(z.number()).default([]) }),
      render: ctx =>
        el(While, { id: 'loop', condition: true, maxIterations: 3 }, ({ iteration }: { iteration: number }) =>
          el(Task, {
            id: 't',
            run: () => {
              runs += 1;
              if (runs !== 3) return null;
              return new Promise<null>(resolve => {
                release = () => resolve(null);
              });
            },
            onFinished: () => ctx.state.update('seen', seen => [...seen, iteration]),
          }),
        ),
    });
    const run = world.start(plan);
    await world.calm();
    const answers = [run.reset('loop', 'ada'), run.reset('t')];
    await world.calm();
    expect(await Promise.all(answers)).toEqual(['done', 'no_effect']);
    release();
    expect(await world.end(run)).toMatchObject({ output: { seen: [0, 1, 2, 3, 4] } });
    expect(await acted(world)).toEqual([['reset', 'loop', 'ada']]);
  });
});

describe('the limits of a run', () => {
  const phases = definePlan({
    name: 'phases',
    render: () =>
      el(
        Fragment,
        {},
        el(Phase, { name: 'a' }, el(Task, { id: 'a', run: () => 1 })),
        el(Phase, { name: 'b' }, el(Task, { id: 'b', run: () => 1 }), el(Task, { id: 'c', run: () => 1 })),
      ),
  });
  const stop = (run: RunId): StopVerdict => ({ kind: 'stop', run, condition: 'tokens', reason: 'no tokens left' });

  it('[P75] are checked before each task; a run that may not continue is stopped and starts nothing more', async () => {
    for (const [allowed, started] of [
      [0, []],
      [1, ['a']],
      [2, ['a']],
      [3, ['a', 'b', 'c']],
    ] as const) {
      const world = harness();
      let asked = 0;
      const mayStart = (run: RunId): StopVerdict => (asked++ < allowed ? { kind: 'go' } : stop(run));
      const end = await world.end(world.start(phases, { mayStart }));
      expect(end.status).toBe(allowed === 3 ? 'completed' : 'stopped');
      expect(end).toMatchObject(allowed === 3 ? {} : { reason: 'no tokens left' });
      expect((await world.runs.tasks(world.run)).map(({ node }) => node)).toEqual(started);
    }
  });

  it('[P75] that cannot be counted stop the run', async () => {
    const world = harness();
    const mayStart = async () => {
      throw new Error('no books');
    };
    expect(await world.end(world.start(phases, { mayStart }))).toEqual({
      status: 'stopped',
      reason: 'Nobody could say whether work may start: no books',
    });
  });

  it('[P75] stop a run whose child they stopped, and the child is resumed with it', async () => {
    const world = harness();
    let isAllowed = true;
    const plan = definePlan({ name: 'above', render: () => el(SubPlan, { id: 'sub', plan: phases }) });
    const options = {
      mayStart: (run: RunId): StopVerdict => {
        const verdict: StopVerdict = isAllowed ? { kind: 'go' } : stop(run);
        if (run !== world.run) isAllowed = false;
        return verdict;
      },
    };
    expect(await world.end(world.start(plan, options))).toEqual({ status: 'stopped', reason: 'no tokens left' });
    expect((await world.runs.children(world.run)).map(({ status }) => status)).toEqual(['stopped']);
  });

  it('[P76] end a run by wall clock even while it only waits for its work, and bound the retries of every task', async () => {
    const limited = (limits: object) => ({
      create: {
        name: 'x',
        tags: [],
        mode: 'AUTO',
        globalMode: 'IMPLEMENTATION',
        input: null,
        limits,
        seed: 1,
      } as const,
    });
    const world = harness();
    const run = world.start(slow, { ...limited({ maxWallClockMs: 1000 }), stopGraceMs: 5 });
    expect(await world.end(run)).toEqual({
      status: 'stopped',
      reason: `Run ${world.run} used 1000 of its 1000 ms of wall clock.`,
    });
    expect(await world.end(world.resume(slow))).toMatchObject({ status: 'stopped' });

    const other = harness();
    let attempts = 0;
    const busy = definePlan({
      name: 'busy',
      render: () =>
        el(Task, {
          id: 't',
          retries: 9,
          run: () => {
            attempts += 1;
            throw Object.assign(new Error('busy'), { status: 503 });
          },
        }),
    });
    expect(await other.end(other.start(busy, limited({ maxRetriesPerTask: 1 })))).toMatchObject({ status: 'failed' });
    expect(attempts).toBe(2);
  });
});

describe('a resumed run', () => {
  const asking = definePlan({
    name: 'asking',
    render: () => el(Fragment, {}, el(Human, { id: 'ask', prompt: '?' }), el(Task, { id: 't', run: never })),
  });
  const executor: TaskExecutor = { execute: async () => ({ kind: 'blocked', reason: 'human' }) };

  it('[P77] is claimed with the first commit: the previous driver can no longer commit', async () => {
    const world = harness();
    const former = world.start(asking, { executor });
    await world.calm();
    const next = world.resume(asking, { executor, claim: true, owner: 'next' as OwnerId, changed: ['plan.tsx'] });
    await world.calm();
    expect(await world.runs.run(world.run)).toMatchObject({ epoch: 1, owner: 'next', status: 'running' });
    const events = (await world.runs.events(world.run, 0, 1000)).map(({ event }) => event);
    expect(events.filter(({ type }) => type === 'run.claimed' || type === 'run.resumed')).toMatchObject([
      { type: 'run.resumed', frame: 1, changed: ['plan.tsx'] },
      { type: 'run.claimed', epoch: 1, owner: 'next' },
    ]);
    void former.cancel('t');
    expect(await world.end(former)).toMatchObject({ status: 'lost', error: { code: 'run/stale-epoch' } });
    const stopped = next.terminate('end');
    await world.calm();
    expect(await stopped).toBe('done');
    expect((await world.runs.run(world.run))?.epoch).toBe(1);
  });

  it('[P77] takes its children over too', async () => {
    const world = harness();
    const former = world.start(parent);
    await world.calm();
    const next = world.resume(parent, { claim: true, owner: 'next' as OwnerId });
    await world.calm();
    const [child] = await world.runs.children(world.run);
    expect(child).toMatchObject({ epoch: 1, owner: 'next', status: 'running' });
    void former.cancel('sub');
    expect(await world.end(former)).toMatchObject({ status: 'lost' });
    expect((await world.runs.run(child?.id as RunId))?.status).toBe('running');
    void next.terminate('end');
    await world.end(next);
  });

  it('[P49] a node that was being canceled when its process died is canceled', async () => {
    const world = harness();
    const first = world.start(slow);
    await world.calm();
    void first.cancel('t');
    await world.calm();
    expect((await world.runs.tasks(world.run)).map(({ status }) => status)).toEqual(['canceling']);
    expect(await world.end(world.resume(slow))).toMatchObject({
      status: 'failed',
      error: { message: 'Node t failed: it was canceled' },
    });
  });
});
