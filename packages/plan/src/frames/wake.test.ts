import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { el } from '../../test/elements.ts';
import { harness } from '../../test/harness.ts';
import { Fragment } from '../jsx/element.ts';
import { Claude, Effect, Human, If, Task } from '../nodes/components.ts';
import { definePlan } from '../plan-definition.ts';
import type { TaskExecutor, TaskOutcome } from './task-executor.ts';

const questions = (...ids: readonly string[]) =>
  definePlan({
    name: 'questions',
    state: z.object({ said: z.array(z.string()).default([]), told: z.array(z.string()).default([]) }),
    render: ctx =>
      ids.map(id =>
        el(Human, {
          key: id,
          id,
          prompt: id,
          onFinished: (text: string) => ctx.state.update('said', said => [...said, text]),
          onBlocked: (reason: string) => ctx.state.update('told', told => [...told, `${id} ${reason}`]),
        }),
      ),
  });

function answering(answers: Map<string, string>, reason = 'approval_required:human') {
  const asked: string[] = [];
  const executor: TaskExecutor = {
    async execute({ node, attempt }) {
      asked.push(`${node.id} ${attempt}`);
      const output = answers.get(node.id);
      return output === undefined ? { kind: 'blocked', reason } : { kind: 'done', output };
    },
  };
  return { asked, executor };
}

describe('a node that waits for a person', () => {
  it('[P68] is asked again whenever its run is resumed; the same wait is not a retry and is not reported again', async () => {
    const world = harness();
    const answers = new Map<string, string>();
    const { asked, executor } = answering(answers);
    const plan = questions('a', 'b');
    expect(await world.end(world.start(plan, { executor }))).toEqual({ status: 'waiting' });
    const log = async () => (await world.runs.transitions(world.run)).items.length;
    const before = await log();
    for (let life = 0; life < 3; life++) {
      const { frames } = (await world.runs.run(world.run)) ?? { frames: 0 };
      expect(await world.end(world.resume(plan, { executor }))).toEqual({ status: 'waiting' });
      expect((await world.runs.run(world.run))?.frames).toBe(frames + 2);
    }
    expect(await log()).toBe(before);
    expect(asked).toEqual(Array.from({ length: 4 }, () => ['a 1', 'b 1']).flat());
    answers.set('b', 'yes');
    expect(await world.end(world.resume(plan, { executor }))).toEqual({ status: 'waiting' });
    answers.set('a', 'no');
    expect(await world.end(world.resume(plan, { executor }))).toEqual({
      status: 'completed',
      output: { said: ['yes', 'no'], told: ['a approval_required:human', 'b approval_required:human'] },
    });
    expect((await world.runs.tasks(world.run)).map(({ retryCount }) => retryCount)).toEqual([0, 0]);
  });

  it('[P68] reports another reason; waits for no person are left alone', async () => {
    const world = harness();
    const outcomes: TaskOutcome[] = [
      { kind: 'blocked', reason: 'approval_required:file_edit' },
      { kind: 'blocked', reason: 'approval_required:command_exec' },
      { kind: 'blocked', reason: 'quota' },
    ];
    let asked = 0;
    const executor: TaskExecutor = {
      execute: async () => outcomes[asked++] ?? { kind: 'done', output: 'late' },
    };
    const plan = definePlan({
      name: 'reasons',
      state: z.object({ told: z.array(z.string()).default([]) }),
      render: ctx =>
        el(Claude, {
          id: 'c',
          prompt: 'p',
          onBlocked: (reason: string) => ctx.state.update('told', told => [...told, reason]),
        }),
    });
    await world.end(world.start(plan, { executor }));
    await world.end(world.resume(plan, { executor }));
    await world.end(world.resume(plan, { executor }));
    expect(await world.end(world.resume(plan, { executor }))).toEqual({ status: 'waiting' });
    expect(await world.state()).toEqual({
      told: ['approval_required:file_edit', 'approval_required:command_exec', 'quota'],
    });
    expect(asked).toBe(3);
  });

  it('[P69] that is woken while it is being called is called once more: no answer is missed', async () => {
    const world = harness();
    let answer: string | undefined;
    let tell = (_: TaskOutcome) => {};
    let asked = 0;
    const executor: TaskExecutor = {
      execute: () => {
        asked += 1;
        const seen = answer;
        return new Promise(resolve => {
          tell = () =>
            resolve(seen === undefined ? { kind: 'blocked', reason: 'human' } : { kind: 'done', output: seen });
        });
      },
    };
    const run = world.start(questions('a'), { executor });
    await world.calm();
    answer = 'just now';
    const woken = run.wake('a');
    await world.calm();
    expect(await woken).toBe('done');
    tell({ kind: 'blocked', reason: '' });
    await world.calm();
    expect(asked).toBe(2);
    tell({ kind: 'blocked', reason: '' });
    expect(await world.end(run)).toMatchObject({ status: 'completed', output: { said: ['just now'] } });
  });
});

describe('a branch that is no longer taken', () => {
  it('[P70] cancels its work and cleans up its effects; when it is taken again it starts over, in any process', async () => {
    const world = harness();
    const log: string[] = [];
    const answers = new Map<string, string>();
    const { executor } = answering(answers);
    const plan = definePlan({
      name: 'branches',
      state: z.object({ on: z.boolean().default(true), again: z.boolean().default(false) }),
      render: ctx =>
        el(
          Fragment,
          {},
          el(
            If,
            { condition: ctx.state.get('on') },
            el(Effect, { id: 'e', run: () => void log.push('up'), cleanup: () => void log.push('down') }),
            el(Task, { id: 'done', run: () => void log.push('done') }),
            el(Task, {
              id: 'slow',
              run: ({ signal }: { signal: AbortSignal }) =>
                new Promise((resolve, reject) => {
                  log.push('begin');
                  if (ctx.state.get('again')) resolve('end');
                  signal.addEventListener('abort', () => reject(new Error('aborted')));
                }),
              onError: () => log.push('told'),
            }),
          ),
          el(Task, { id: 'off', run: () => 1, onFinished: () => ctx.state.set('on', false) }),
          el(Human, {
            id: 'on',
            prompt: 'On?',
            onFinished: () => {
              ctx.state.set('on', true);
              ctx.state.set('again', true);
            },
          }),
        ),
    });
    expect(await world.end(world.start(plan, { executor }))).toEqual({ status: 'waiting' });
    expect(log.splice(0)).toEqual(['done', 'begin', 'up', 'down']);
    expect(await world.runs.valueAt(world.run, 'status', 'slow', 99)).toMatchObject({ status: 'skipped' });
    answers.set('on', 'yes');
    expect(await world.end(world.resume(plan, { executor }))).toMatchObject({ status: 'completed' });
    expect(log).toEqual(['done', 'begin', 'up', 'down']);
    const tasks = await world.runs.tasks(world.run, { node: 'slow' as never });
    expect(tasks.map(({ status }) => status)).toEqual(['canceled', 'done']);
  });
});
