import { failure, type RunId } from '@signalbox/model';
import type { Commit } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { isChained } from '../../../runs/test/log-chain.ts';
import { el } from '../../test/elements.ts';
import { type Harness, harness } from '../../test/harness.ts';
import { Each, Effect, Human, If, Parallel, Phase, Step, SubPlan, Task, While } from '../nodes/components.ts';
import { definePlan } from '../plan-definition.ts';
import { forkPlan, frameEvent } from './fork-plan.ts';

const STEPS = 40;

/** Forty steps, one after the other; each adds its number to the state, once. */
function steps(done: string[] = []) {
  return definePlan({
    name: 'steps',
    input: z.any(),
    state: z.object({ sum: z.number().default(0), log: z.array(z.number()).default([]), last: z.number().optional() }),
    render: ctx =>
      el(
        Phase,
        { name: 'all' },
        ...Array.from({ length: STEPS }, (_, n) =>
          el(
            Step,
            { key: n },
            el(Task, {
              id: `step-${n}`,
              run: () => {
                done.push(`step-${n}`);
                return n;
              },
              onFinished: () => {
                ctx.state.update('sum', sum => sum + n);
                ctx.state.update('log', log => [...log, n]);
                ctx.state.set('last', n);
              },
            }),
          ),
        ),
      ),
  });
}

const spaces = ['node', 'status', 'state', 'read'] as const;

/** Everything that is kept of a run. */
async function pictureOf({ runs }: Harness, run: RunId) {
  const record = await runs.run(run);
  return {
    record,
    frames: await runs.frames(run, 0, 1000),
    values: await Promise.all(spaces.flatMap(space => [0, 20, 99].map(frame => runs.at(run, space, frame)))),
    transitions: (await runs.transitions(run, { limit: 1000 })).items,
    tasks: await runs.tasks(run),
    events: await runs.events(run, 0, 10_000),
  };
}

describe('a fork', () => {
  it('[P83] of every frame has its state, statuses, tree and digest; it ends like its parent, which is untouched', async () => {
    const world = harness();
    const done: string[] = [];
    const plan = steps(done);
    const end = await world.end(world.start(plan));
    expect(end).toMatchObject({ status: 'completed', output: { sum: 780 } });
    const { runs, ports, run: parent } = world;
    const before = await pictureOf(world, parent);
    const frames = before.record?.frames ?? 0;
    expect(frames).toBeGreaterThan(STEPS);
    for (let frame = 0; frame < frames; frame += 1) {
      const run = ports.ids.mint<RunId>();
      const forked = await forkPlan(ports, { run, parent, frame, by: 'anna' });
      if (!forked.ok) throw new Error(forked.error.message);
      const first = await runs.frame(parent, frame);
      for (const space of spaces) expect(await runs.at(run, space, 0)).toEqual(await runs.at(parent, space, frame));
      expect(await runs.frame(run, 0)).toMatchObject({ digest: first?.digest, at: first?.at });
      expect(forked.value).toMatchObject({ status: 'paused', frames: 1, input: null });

      // Every one has the state; some are driven to their end.
      if (frame % 8 !== 0 && frame < frames - 2) continue;
      done.length = 0;
      const driven = world.resume(plan, { run });
      expect(await world.end(driven)).toEqual(end);
      const finished = before.tasks.filter(task => (task.handledFrame ?? 99) < frame).map(({ node }) => node);
      expect(done).toEqual(
        Array.from({ length: STEPS }, (_, n) => `step-${n}`).filter(id => !finished.includes(id as never)),
      );
      expect((await runs.tasks(run)).map(({ node, status }) => `${node} ${status}`).sort()).toEqual(
        before.tasks.map(({ node, status }) => `${node} ${status}`).sort(),
      );
      expect(await isChained(world.runs, run)).toBe(true);
    }
    expect(await pictureOf(world, parent)).toEqual(before);
    expect(await isChained(world.runs, parent)).toBe(true);
  });

  it('[P84] names the hash of the event of its parent’s frame in its first event, and who asked in its second', async () => {
    const world = harness();
    await world.end(world.start(steps()));
    const { runs, ports, run: parent } = world;
    const record = await runs.run(parent);
    for (const frame of [0, 1, 17, (record?.frames ?? 0) - 1]) {
      const run = ports.ids.mint<RunId>();
      const input = { edited: frame };
      await forkPlan(ports, { run, parent, frame, by: 'anna', input, node: 'step-3', effects: ['a letter was sent'] });
      const stored = await runs.events(parent, 0, 10_000);
      const own = stored.find(({ event }) => event.type === 'frame.committed' && event.frame === frame);
      const [created, forked] = (await runs.events(run, 0, 2)).map(({ event }) => event);
      expect(created).toMatchObject({
        type: 'run.created',
        origin: { kind: 'fork', run: parent, frame, head: own?.hash },
      });
      expect(forked).toMatchObject({
        type: 'run.forked',
        by: 'anna',
        node: 'step-3',
        input: { before: null, after: input },
        effects: ['a letter was sent'],
      });
      expect(await frameEvent(runs, record as never, frame)).toMatchObject({ seq: own?.event.seq, hash: own?.hash });
    }
  });

  it('[P83] starts over what was running: work, waits for people and retries', async () => {
    const world = harness();
    let asked = 0;
    const plan = definePlan({
      name: 'ask',
      state: z.object({ yes: z.boolean().optional() }),
      render: ctx => [
        el(Task, { key: 'a', id: 'a', run: () => 1 }),
        el(Human, { key: 'h', id: 'ask', prompt: 'Go?', onFinished: (yes: boolean) => ctx.state.set('yes', yes) }),
      ],
    });
    const executor = {
      execute: async () => {
        asked += 1;
        return asked < 2
          ? ({ kind: 'blocked', reason: 'approval_required:human' } as const)
          : ({ kind: 'done', output: true } as const);
      },
    };
    expect(await world.end(world.start(plan, { executor }))).toEqual({ status: 'waiting' });
    const last = ((await world.runs.run(world.run))?.frames ?? 1) - 1;
    expect(await world.runs.valueAt(world.run, 'status', 'ask', last)).toMatchObject({ status: 'blocked' });
    const run = world.ports.ids.mint<RunId>();
    await forkPlan(world.ports, { run, parent: world.run, frame: last, by: 'anna' });
    expect(await world.end(world.resume(plan, { run, executor }))).toMatchObject({
      status: 'completed',
      output: { yes: true },
    });
    expect(await world.runs.run(world.run)).toMatchObject({ status: 'waiting' });
  });

  it('[P83] is refused for a missing frame or run', async () => {
    const world = harness();
    await world.end(world.start(steps()));
    const { ports, run: parent } = world;
    const run = ports.ids.mint<RunId>();
    const of = (frame: number, from = parent) => forkPlan(ports, { run, parent: from, frame, by: 'anna' });
    expect(await of(1000)).toMatchObject({ ok: false, error: { code: 'run/frame-unknown' } });
    expect(await of(-1)).toMatchObject({ ok: false, error: { code: 'run/frame-unknown' } });
    expect(await of(0, ports.ids.mint<RunId>())).toMatchObject({ ok: false, error: { code: 'run/unknown' } });
    expect(await world.runs.run(run)).toBe(undefined);
  });
});

/** Loops, effects, a person, branches, a sub-plan and parallel work; everything is counted in the state. */
function story() {
  const inner = definePlan({
    name: 'inner',
    state: z.object({ said: z.boolean().optional() }),
    render: ctx =>
      el(Human, { id: 'inner-ask', prompt: 'Inside?', onFinished: (said: boolean) => ctx.state.set('said', said) }),
  });
  return definePlan({
    name: 'story',
    state: z.object({
      n: z.number().default(0),
      log: z.array(z.string()).default([]),
      label: z.string().optional(),
      go: z.boolean().optional(),
    }),
    render: ctx => {
      const work = (id: string, done = () => {}) =>
        el(Task, {
          id,
          key: id,
          run: ({ iteration }: { iteration: number }) => `${id}${iteration}`,
          onFinished: (text: string) => {
            ctx.state.update('log', log => [...log, text].sort());
            done();
          },
        });
      return [
        el(Effect, {
          key: 'label',
          id: 'label',
          deps: [ctx.state.get('n')],
          run: () => ctx.state.update('label', (text = '') => `${text}${ctx.state.get('n')}`),
        }),
        el(
          Phase,
          { key: 'loop', name: 'loop' },
          el(
            While,
            { id: 'while', condition: () => ctx.state.get('n') < 3, maxIterations: 9 },
            el(Step, {}, work('c')),
            el(
              Step,
              {},
              work('d', () => ctx.state.update('n', n => n + 1)),
            ),
          ),
        ),
        el(
          Phase,
          { key: 'ask', name: 'ask' },
          el(Human, { id: 'ask', prompt: 'Go?', onFinished: (go: boolean) => ctx.state.set('go', go) }),
          el(SubPlan, { id: 'sub', plan: inner }),
        ),
        el(
          Phase,
          { key: 'finish', name: 'finish' },
          el(
            If,
            { condition: ctx.state.get('go') === true, else: work('no') },
            el(
              Parallel,
              { limit: 1 },
              el(Each, { items: ['x', 'y', 'z'] }, (id: string) => work(id)),
            ),
          ),
        ),
      ];
    },
  });
}

describe('a fork of a plan with everything', () => {
  it('[P83] ends as its parent did, from every frame: loops, effects, people, branches and sub-plans', async () => {
    const world = harness();
    const plan = story();
    const executor = { execute: async () => ({ kind: 'done', output: true }) as const };
    const end = await world.end(world.start(plan, { executor }));
    expect(end).toMatchObject({ status: 'completed', output: { n: 3, go: true, label: '0123' } });
    const { runs, ports, run: parent } = world;
    const before = await pictureOf(world, parent);
    const frames = before.record?.frames ?? 0;
    for (let frame = 0; frame < frames; frame += 1) {
      const run = ports.ids.mint<RunId>();
      const forked = await forkPlan(ports, { run, parent, frame, by: 'anna' });
      expect(forked.ok).toBe(true);
      expect([frame, await world.end(world.resume(plan, { run, executor }))]).toEqual([frame, end]);
      expect(await isChained(world.runs, run)).toBe(true);
      const children = (await runs.children(run)).filter(({ origin }) => origin?.kind === 'sub-plan');
      const isDone =
        ((await runs.valueAt(parent, 'status', 'sub', frame)) as { status?: string })?.status === 'succeeded';
      expect(children.map(({ status }) => status)).toEqual(isDone ? [] : ['completed']);
    }
    expect(await pictureOf(world, parent)).toEqual(before);
  });

  it('[P83] dying before or after any commit ends as if nothing had happened', async () => {
    const plan = story();
    const executor = { execute: async () => ({ kind: 'done', output: true }) as const };
    const world = harness();
    const end = await world.end(world.start(plan, { executor }));
    const { ports, run: parent, runs } = world;
    const frame = 4;
    const driven = async (run: RunId, killAt: number, when: 'before' | 'after') => {
      let commits = 0;
      const commit: Commit = {
        async commit(writes, guard) {
          if (guard.run !== run) return runs.commit(writes, guard);
          commits += 1;
          const lost = {
            ok: false,
            error: failure('store/outcome-unknown', { message: 'killed', suggestion: '' }),
          } as const;
          if (commits === killAt && when === 'before') return lost;
          const committed = await runs.commit(writes, guard);
          return commits === killAt ? lost : committed;
        },
      };
      await world.end(world.resume(plan, { run, executor, commit }));
      return commits;
    };
    for (const when of ['before', 'after'] as const) {
      for (let killAt = 1; ; killAt += 1) {
        const run = ports.ids.mint<RunId>();
        await forkPlan(ports, { run, parent, frame, by: 'anna' });
        const commits = await driven(run, killAt, when);
        expect(await world.end(world.resume(plan, { run, executor }))).toEqual(end);
        if (commits < killAt) break;
      }
    }
  });
});
