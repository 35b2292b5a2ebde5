import { err, failure, type RunId, timerReason } from '@signalbox/model';
import type { Commit } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { el } from '../../test/elements.ts';
import { type Harness, harness } from '../../test/harness.ts';
import { forkPlan } from '../forks/fork-plan.ts';
import { Fragment } from '../jsx/element.ts';
import { Human, If, Phase, SubPlan, Task, Timer } from '../nodes/components.ts';
import { definePlan } from '../plan-definition.ts';
import { replayRun } from '../replay/replay-run.ts';
import { MIN_FRAME_INTERVAL_MS } from './frame-scheduler.ts';
import { previewPlan } from './preview-plan.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 0, 1);
const at = (ms: number) => new Date(START + ms).toISOString();

/** Waits, then does something. */
const later = (props: object) =>
  definePlan({
    name: 'later',
    state: z.object({ told: z.array(z.string()).default([]), did: z.string().default('') }),
    render: ctx => [
      el(
        Phase,
        { key: 'wait', name: 'wait' },
        el(Timer, {
          id: 'nap',
          ...props,
          onFinished: (due: string) => ctx.state.update('told', told => [...told, `fired ${due}`]),
          onBlocked: (reason: string) => ctx.state.update('told', told => [...told, reason]),
        }),
      ),
      el(
        Phase,
        { key: 'go', name: 'go' },
        el(Task, { id: 'work', run: () => 'done', onFinished: (said: string) => ctx.state.set('did', said) }),
      ),
    ],
  });

const statusOf = async (world: Harness, node: string) => {
  const { frames = 0 } = (await world.runs.run(world.run)) ?? {};
  return world.runs.valueAt(world.run, 'status', node, frames);
};
const timerTasks = async (world: Harness) =>
  (await world.runs.tasks(world.run)).filter(({ node }) => node === 'nap').map(({ status }) => status);

describe('a timer', () => {
  it('[P280] [P281] holds up what comes after it until its time, which its handlers get', async () => {
    const world = harness();
    const run = world.start(later({ forMs: 3 * DAY }));
    await world.calm();
    expect(await statusOf(world, 'nap')).toMatchObject({
      status: 'blocked',
      reason: timerReason(at(3 * DAY) as never),
    });
    expect(await statusOf(world, 'work')).toMatchObject({ status: 'idle' });
    world.timers.advance(3 * DAY - 1);
    await world.calm();
    expect(await statusOf(world, 'nap')).toMatchObject({ status: 'blocked' });
    world.timers.advance(1);
    expect(await world.end(run)).toEqual({
      status: 'completed',
      output: { told: [timerReason(at(3 * DAY) as never), `fired ${at(3 * DAY)}`], did: 'done' },
    });
    expect(world.now()).toBe(at(3 * DAY));
    const [task] = (await world.runs.tasks(world.run)).filter(({ node }) => node === 'nap');
    expect(task).toMatchObject({ status: 'done', result: at(3 * DAY), retryCount: 0 });
  });

  it('[P281] waits until a time, and not at all for one that has passed', async () => {
    const world = harness();
    expect(await world.end(world.start(later({ until: '2026-01-01T03:00:00+01:00' })))).toMatchObject({
      output: { told: [timerReason(at(2 * HOUR) as never), `fired ${at(2 * HOUR)}`] },
    });
    const past = harness();
    expect(await past.end(past.start(later({ until: '2025-12-31T00:00:00Z' })))).toMatchObject({
      output: { told: ['fired 2025-12-31T00:00:00.000Z'] },
    });
    expect(past.now()).toBe(at(0));
  });

  it('[P280] keeps the time that it was first given, whatever a later render says', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'moving',
      state: z.object({ n: z.number().default(0), fired: z.string().default('') }),
      render: ctx =>
        el(
          Fragment,
          {},
          el(Timer, {
            id: 'nap',
            forMs: HOUR * (ctx.state.get('n') + 1),
            onFinished: (due: string) => ctx.state.set('fired', due),
          }),
          el(Task, { id: 'move', run: () => 1, onFinished: (n: number) => ctx.state.set('n', n) }),
        ),
    });
    expect(await world.end(world.start(plan))).toEqual({ status: 'completed', output: { n: 1, fired: at(HOUR) } });
  });

  it('[P280] [P281] [P282] waits over deaths of its process for the same time, and fires late if nothing drove the run', async () => {
    const world = harness();
    const plan = later({ forMs: DAY });
    world.start(plan);
    await world.calm();
    expect((await world.runs.run(world.run))?.status).toBe('running');
    // Another process, while the time has not come.
    world.timers.advance(HOUR);
    const second = world.resume(plan);
    await world.calm();
    expect(await statusOf(world, 'nap')).toMatchObject({ status: 'blocked', reason: timerReason(at(DAY) as never) });
    await second.pause('ada');
    expect(await second.finished).toEqual({ status: 'paused' });
    world.timers.advance(10 * DAY);
    expect(await world.end(world.resume(plan))).toMatchObject({
      status: 'completed',
      output: { told: [timerReason(at(DAY) as never), `fired ${at(DAY)}`] },
    });
    expect(world.now()).toBe(at(10 * DAY + HOUR + MIN_FRAME_INTERVAL_MS));
    expect(await timerTasks(world)).toEqual(['done']);
  });

  it.each(
    [1, 2, 3, 4, 5, 6].flatMap(
      n =>
        [
          { n, when: 'before' },
          { n, when: 'after' },
        ] as const,
    ),
  )('[P280] fires once and at its time where its process dies $when commit $n', async ({ n, when }) => {
    const world = harness();
    const plan = later({ forMs: HOUR });
    let commits = 0;
    const commit: Commit = {
      async commit(writes, guard) {
        commits += 1;
        if (commits !== n) return world.runs.commit(writes, guard);
        if (when === 'after') await world.runs.commit(writes, guard);
        return err(failure('store/outcome-unknown', { message: 'dead', suggestion: 'resume' }));
      },
    };
    const first = await world.end(world.start(plan, { commit }));
    expect(first.status === 'lost').toBe(commits >= n);
    const again = async () =>
      (await world.runs.run(world.run)) === undefined ? world.start(plan) : world.resume(plan);
    const end = first.status === 'lost' ? await world.end(await again()) : first;
    expect(end).toEqual({
      status: 'completed',
      output: { told: [timerReason(at(HOUR) as never), `fired ${at(HOUR)}`], did: 'done' },
    });
    expect(await timerTasks(world)).toEqual(['done']);
  });

  it('[P282] leaves its run running beside a question; when it has fired, the run only waits for the person', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'both',
      render: () => el(Fragment, {}, el(Timer, { id: 'nap', forMs: HOUR }), el(Human, { id: 'ask', prompt: 'Go on?' })),
    });
    const executor = { execute: async () => ({ kind: 'blocked', reason: 'approval_required:human' }) as const };
    const run = world.start(plan, { executor });
    await world.calm();
    expect((await world.runs.run(world.run))?.status).toBe('running');
    expect(await world.end(run)).toEqual({ status: 'waiting' });
    expect(world.now()).toBe(at(HOUR));
  });

  it('[P283] is canceled by an operator, by a stop and by leaving the plan', async () => {
    const canceled = harness();
    const run = canceled.start(later({ forMs: DAY }));
    await canceled.calm();
    expect(await run.cancel('nap', 'ada')).toBe('done');
    expect(await canceled.end(run)).toMatchObject({ status: 'failed' });
    const stopped = harness();
    const second = stopped.start(later({ forMs: DAY }));
    await stopped.calm();
    await second.stop('enough', 'ada');
    expect(await stopped.end(second)).toEqual({ status: 'stopped', reason: 'enough' });
    const ended = harness();
    const third = ended.start(later({ forMs: DAY }));
    await ended.calm();
    await third.terminate('now', 'ada');
    expect(await ended.end(third)).toEqual({ status: 'stopped', reason: 'now' });
    for (const world of [canceled, stopped, ended]) {
      expect(await timerTasks(world)).toEqual(['canceled']);
      expect(world.now()).toBe(at(0));
    }
    const left = harness();
    const plan = definePlan({
      name: 'leaves',
      state: z.object({ waits: z.boolean().default(true) }),
      render: ctx =>
        el(
          Fragment,
          {},
          ctx.state.get('waits') ? el(Timer, { id: 'nap', forMs: DAY }) : null,
          el(Task, { id: 'hurry', run: () => 1, onFinished: () => ctx.state.set('waits', false) }),
        ),
    });
    expect(await left.end(left.start(plan))).toMatchObject({ status: 'completed' });
    expect(await timerTasks(left)).toEqual(['canceled']);
  });

  it('[P283] sets a new time when it is run again after it fired', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'again',
      render: () => el(Fragment, {}, el(Timer, { id: 'nap', forMs: HOUR }), el(Timer, { id: 'long', forMs: DAY })),
    });
    const run = world.start(plan);
    await world.calm();
    world.timers.advance(2 * HOUR);
    await world.calm();
    expect(await run.retry('nap', 'ada')).toBe('done');
    await world.calm();
    expect(await statusOf(world, 'nap')).toMatchObject({
      status: 'blocked',
      reason: timerReason(at(3 * HOUR) as never),
    });
    expect(await world.end(run)).toMatchObject({ status: 'completed' });
  });

  it('[P284] is set again in a fork; a replay finds every frame of both', async () => {
    const world = harness();
    const plan = later({ forMs: HOUR });
    world.start(plan);
    await world.calm();
    const waits = ((await world.runs.run(world.run))?.frames ?? 0) - 1;
    world.timers.advance(HOUR / 2);
    await world.end(world.resume(plan));
    world.timers.advance(HOUR);
    const id = world.ports.ids.mint<RunId>();
    const forked = await forkPlan(world.ports, { run: id, parent: world.run, frame: waits, by: 'ada' });
    expect(forked.ok).toBe(true);
    expect(await world.end(world.resume(plan, { run: id }))).toMatchObject({ status: 'completed' });
    expect(world.now()).toBe(at(3 * HOUR));
    for (const run of [world.run, id]) {
      const report = await replayRun({ plan, run, reader: world.runs });
      expect(report.difference).toBeUndefined();
      expect(report.verified).toBe(report.frames);
    }
  });

  it.each([
    ['in a branch', (isTaken: boolean, nap: never) => el(If, { key: 'branch', condition: isTaken }, nap)],
    ['rendered no more', (isTaken: boolean, nap: never) => (isTaken ? nap : null)],
  ])('[P284] a replay finds the frame in which it begins to wait and leaves: %s', async (_where, place) => {
    const world = harness();
    const plan = definePlan({
      name: 'brief',
      state: z.object({ left: z.boolean().default(false) }),
      render: ctx => [
        el(Phase, { key: 'brief', name: 'brief' }, [
          place(!ctx.state.get('left'), el(Timer, { key: 'nap', id: 'nap', forMs: DAY }) as never),
          el(Timer, { key: 'past', id: 'past', until: at(0), onFinished: () => ctx.state.set('left', true) }),
        ]),
        el(Phase, { key: 'go', name: 'go' }, el(Task, { id: 'more', run: () => 2 })),
      ],
    });
    expect(await world.end(world.start(plan))).toMatchObject({ status: 'completed' });
    expect(world.now()).toBe(at(0));
    expect(await timerTasks(world)).toEqual(['canceled']);
    const report = await replayRun({ plan, run: world.run, reader: world.runs });
    expect(report.difference).toBeUndefined();
    expect(report.verified).toBe(report.frames);
  });

  it('[P282] in a sub-plan keeps the parent running', async () => {
    const world = harness();
    const child = definePlan({ name: 'child', render: () => el(Timer, { id: 'nap', forMs: DAY }) });
    const plan = definePlan({ name: 'parent', render: () => el(SubPlan, { id: 'sub', plan: child }) });
    const run = world.start(plan);
    await world.calm();
    const [below] = await world.runs.children(world.run);
    expect([(await world.runs.run(world.run))?.status, below?.status]).toEqual(['running', 'running']);
    await run.pause('ada');
    expect(await run.finished).toEqual({ status: 'paused' });
    expect(await world.end(world.resume(plan))).toMatchObject({ status: 'completed' });
    expect(world.now()).toBe(at(DAY));
  });

  it('[P286] checks the clock while it waits: a machine that slept is late by at most a minute', async () => {
    const world = harness();
    const run = world.start(later({ forMs: DAY }));
    await world.calm();
    expect(world.timers.next).toBe(60_000);
    // The clock went on, and no timer did.
    world.clock.advance(2 * DAY);
    world.timers.advance(0);
    expect(await world.end(run)).toMatchObject({ status: 'completed' });
    expect(world.now()).toBe(at(2 * DAY));
  });

  it('[P285] is among the first to start in a preview', () => {
    const preview = previewPlan(later({ forMs: DAY }), null, { clock: { now: () => START } });
    expect(preview).toMatchObject({ ok: true, value: { starts: ['nap'], warnings: [] } });
  });

  it.each([
    ['neither', {}, 'needs either until or forMs'],
    ['both', { until: '2027-01-01T00:00:00Z', forMs: 1 }, 'needs either until or forMs'],
    ['a time without its zone', { until: '2027-01-01T00:00:00' }, 'until: must be a time with its zone'],
    ['a day', { until: '2027-01-01' }, 'until: must be a time with its zone'],
    ['no time', { until: 'tomorrow' }, 'until: must be a time with its zone'],
    ['half a millisecond', { forMs: 0.5 }, 'forMs: must be a whole number'],
    ['nothing to wait for', { forMs: 0 }, 'forMs: must be at least 1'],
    ['two hundred years', { forMs: 200 * 365 * DAY }, 'forMs: must be at most 100 years'],
    ['a duration in words', { forMs: '5 minutes' }, 'forMs: '],
    ['retries', { forMs: 1, retries: 2 }, 'retries'],
  ])('[P285] refuses %s, with its position', (_what, props, message) => {
    const make = () => el(Timer, { id: 'nap', line: 7, ...props });
    expect(make).toThrow(message);
    expect(make).toThrow(/<Timer>/);
    try {
      make();
    } catch (error) {
      expect(error).toMatchObject({ code: 'plan/invalid-props', source: { file: 'plan.tsx', line: 7 } });
    }
  });
});
