import type { Json, RunId } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { el } from '../../test/elements.ts';
import { type Harness, harness } from '../../test/harness.ts';
import { Human, If, Phase, Task } from '../nodes/components.ts';
import { definePlan } from '../plan-definition.ts';
import { editUndriven } from './edit-undriven.ts';
import { forkPlan } from './fork-plan.ts';

/** Waits for a person, unless the state says that nobody needs to be asked. */
const plan = definePlan({
  name: 'gate',
  state: z.object({
    skip: z.boolean().default(false),
    list: z.array(z.string()).default(['a']),
    note: z.string().optional(),
  }),
  render: ctx =>
    el(
      If,
      { condition: ctx.state.get('skip'), else: el(Human, { id: 'ask', prompt: 'Go?' }) },
      el(Task, { id: 'go', run: () => 1 }),
    ),
});
const executor = { execute: async () => ({ kind: 'blocked', reason: 'approval_required:human' }) as const };

const eventsOf = async ({ runs }: Harness, run: RunId, type: string) =>
  (await runs.events(run, 0, 1000)).map(({ event }) => event).filter(event => event.type === type);

describe('an edit of state', () => {
  it('[P85] of a driven run is validated, makes a frame, and is in the log with who and why', async () => {
    const world = harness();
    const held = definePlan({
      name: 'gate',
      state: plan.state,
      render: ctx => [
        el(Task, {
          key: 'held',
          id: 'held',
          run: ({ signal }: { signal: AbortSignal }) =>
            new Promise(resolve => signal.addEventListener('abort', () => resolve(null))),
        }),
        el(If, { key: 'if', condition: ctx.state.get('skip') }, el(Task, { id: 'go', run: () => 1 })),
      ],
    });
    const run = world.start(held, { executor });
    await world.calm();
    const edit = (key: string, value?: Json) => run.edit({ key, value, reason: 'a test', by: 'anna' });
    const answers = [
      edit('skip', 'yes'),
      edit('nowhere', 1),
      edit('skip', false),
      edit('skip', true),
      edit('list', ['a', 'b']),
    ];
    await world.calm();
    expect(await Promise.all(answers)).toEqual([
      { refused: expect.stringContaining("'skip' does not fit the state of plan gate") },
      { refused: expect.stringContaining("has no key 'nowhere'") },
      'no_effect',
      'done',
      'done',
    ]);
    const stopped = run.stop('enough');
    await world.end(run);
    await stopped;
    expect(await world.state()).toEqual({ skip: true, list: ['a', 'b'] });
    expect(await eventsOf(world, world.run, 'state.edited')).toMatchObject([
      { key: 'skip', by: 'anna', reason: 'a test' },
      { key: 'list', by: 'anna', reason: 'a test' },
    ]);
    const { items } = await world.runs.transitions(world.run);
    expect(items.filter(({ trigger }) => trigger === 'operator.edit')).toMatchObject([
      { key: 'skip', old: false, new: true },
      { key: 'list', old: ['a'], new: ['a', 'b'] },
    ]);
    const started = await eventsOf(world, world.run, 'task.started');
    expect(started).toMatchObject([{ node: 'held' }, { node: 'go' }]);
  });

  it('[P85] of an undriven run applies when it is resumed, and in a fork', async () => {
    const world = harness();
    expect(await world.end(world.start(plan, { executor }))).toEqual({ status: 'waiting' });
    const { ports, runs } = world;
    const run = ports.ids.mint<RunId>();
    await forkPlan(ports, { run, parent: world.run, frame: 0, by: 'anna' });
    const edit = { key: 'list', value: ['a', 'z'], reason: 'why not', by: 'anna' };
    for (const one of [world.run, run]) {
      expect(await editUndriven(ports, one, edit)).toEqual({ ok: true, value: true });
      expect(await editUndriven(ports, one, edit)).toEqual({ ok: true, value: false });
      expect(await editUndriven(ports, one, { ...edit, key: 'skip', value: true })).toEqual({ ok: true, value: true });
      expect(await editUndriven(ports, one, { ...edit, key: 'note', value: 'x' })).toEqual({ ok: true, value: true });
      expect(await editUndriven(ports, one, { ...edit, key: 'note', value: undefined })).toEqual({
        ok: true,
        value: true,
      });
      expect(await world.end(world.resume(plan, { run: one, executor }))).toEqual({
        status: 'completed',
        output: { skip: true, list: ['a', 'z'] },
      });
      expect(await eventsOf(world, one, 'state.edited')).toHaveLength(4);
      const { items } = await runs.transitions(one, { key: 'list' });
      expect(items.at(-1)).toMatchObject({ old: ['a'], new: ['a', 'z'], trigger: 'operator.edit' });
    }
  });
});

describe('a retry with a new policy', () => {
  it('[P86] follows it, even when another process resumes the run', async () => {
    const world = harness();
    let tries = 0;
    const flaky = definePlan({
      name: 'flaky',
      state: z.object({}),
      render: () =>
        el(
          Phase,
          { name: 'one' },
          el(Task, {
            id: 'flaky',
            retries: 0,
            run: () => {
              tries += 1;
              throw Object.assign(new Error('not yet'), { code: 'ECONNRESET' });
            },
          }),
        ),
    });
    expect(await world.end(world.start(flaky))).toMatchObject({ status: 'failed' });
    expect(tries).toBe(1);
    const again = world.resume(flaky);
    const answer = again.retry('flaky', 'anna', { retries: 2, backoffMs: 10 });
    expect(await world.end(again)).toMatchObject({ status: 'failed' });
    expect(await answer).toBe('done');
    expect(tries).toBe(4);
    expect(await eventsOf(world, world.run, 'node.policy')).toMatchObject([
      { node: 'flaky', policy: { retries: 2, backoffMs: 10 }, by: 'anna' },
    ]);
    expect((await world.runs.tasks(world.run)).at(-1)).toMatchObject({ maxRetries: 2, backoffMs: 10, retryCount: 2 });

    const third = world.resume(flaky);
    void third.retry('flaky', 'anna');
    await world.end(third);
    expect(tries).toBe(7);
  });

  it('[P86] can give work less time', async () => {
    const world = harness();
    const slow = definePlan({
      name: 'slow',
      state: z.object({}),
      render: () =>
        el(Task, { id: 'slow', retries: 0, run: ({ attempt }: { attempt: number }) => new Promise(() => attempt) }),
    });
    const run = world.start(slow);
    await world.calm();
    void run.cancel('slow');
    await world.calm();
    void run.terminate('it hangs');
    expect(await world.end(run)).toMatchObject({ status: 'stopped' });
    const again = world.resume(slow);
    void again.retry('slow', 'anna', { timeoutMs: 50 });
    expect(await world.end(again)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('50 ms') },
    });
  });
});
