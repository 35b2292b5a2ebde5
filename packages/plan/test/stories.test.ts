import type { Json } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { TaskExecutor } from '../src/frames/task-executor.ts';
import { Fragment } from '../src/jsx/element.ts';
import {
  Claude,
  Codex,
  Each,
  Effect,
  Gemini,
  If,
  Parallel,
  Phase,
  Step,
  Switch,
  Task,
  While,
} from '../src/nodes/components.ts';
import { treeFromJson } from '../src/nodes/tree-json.ts';
import { treeToXml } from '../src/nodes/tree-xml.ts';
import { definePlan } from '../src/plan-definition.ts';
import { el } from './elements.ts';
import { harness } from './harness.ts';

describe('whole runs', () => {
  it('[P12, P41] a nested tree with conditions is right in every frame', async () => {
    const world = harness();
    const shown: string[] = [];
    const plan = definePlan({
      name: 'nested',
      state: z.object({ mode: z.enum(['look', 'fix']).default('look'), files: z.array(z.string()).default([]) }),
      render: ctx =>
        el(
          Phase,
          { id: 'work', name: 'work' },
          el(Switch, {
            id: 'mode',
            value: ctx.state.get('mode'),
            cases: {
              look: el(Task, {
                id: 'list',
                run: () => ['a', 'b'],
                onFinished: (files: string[]) => {
                  ctx.state.set('files', files);
                  ctx.state.set('mode', 'fix');
                },
              }),
              fix: el(
                Fragment,
                {},
                el(
                  If,
                  { id: 'any', condition: ctx.state.get('files').length > 0 },
                  el(Each, { id: 'each', items: ctx.state.get('files') }, (file: string) =>
                    el(Task, { key: file, id: `fix-${file}`, run: () => 1 }),
                  ),
                ),
              ),
            },
          }),
        ),
    });
    let frames = 0;
    const run = world.start(plan, {
      trace: ({ phase, frame }) => {
        if (phase !== 'execute' || frame < frames) return;
        frames = frame + 1;
        const tree = run.tree();
        const read = treeFromJson(JSON.parse(JSON.stringify(tree)));
        if (tree === undefined || !read.ok) throw new Error('no tree');
        shown.push(treeToXml(read.value).replaceAll(/ id="[0-9a-f]{16}"/g, ''));
      },
    });
    expect(await world.end(run)).toMatchObject({ status: 'completed' });
    expect(shown[0]).toBe(`<plan status="running" name="nested">
  <phase id="work" status="running" name="work">
    <switch id="mode" status="running" value="look">
      <branch status="running" name="look" taken="true">
        <task id="list" status="running" retries="3"/>
      </branch>
      <branch status="skipped" name="fix" taken="false">
        <if id="any" status="skipped" condition="false">
          <branch status="skipped" name="then" taken="false">
            <each id="each" status="skipped" items="0"/>
          </branch>
        </if>
      </branch>
    </switch>
  </phase>
</plan>`);
    expect(shown[1]).toBe(`<plan status="running" name="nested">
  <phase id="work" status="running" name="work">
    <switch id="mode" status="running" value="fix">
      <branch status="skipped" name="look" taken="false">
        <task id="list" status="skipped" retries="3"/>
      </branch>
      <branch status="running" name="fix" taken="true">
        <if id="any" status="running" condition="true">
          <branch status="running" name="then" taken="true">
            <each id="each" status="running" items="2">
              <task id="fix-a" key="a" status="running" retries="3"/>
              <task id="fix-b" key="b" status="running" retries="3"/>
            </each>
          </branch>
        </if>
      </branch>
    </switch>
  </phase>
</plan>`);
  });

  it('[P41] phases with nested steps and parallel agents run in order, within the limit', async () => {
    const world = harness();
    const log: string[] = [];
    let busy = 0;
    let most = 0;
    const executor: TaskExecutor = {
      async execute({ node }) {
        busy += 1;
        most = Math.max(most, busy);
        log.push(`+${node.id}`);
        await new Promise(resolve => setImmediate(resolve));
        log.push(`-${node.id}`);
        busy -= 1;
        return { kind: 'done', output: node.kind };
      },
    };
    const plan = definePlan({
      name: 'agents',
      state: z.object({ said: z.array(z.string()).default([]) }),
      render: ctx => {
        const onFinished = (text: string) => ctx.state.update('said', said => [...said, text]);
        return el(
          Fragment,
          {},
          el(
            Phase,
            { name: 'research' },
            el(
              Step,
              {},
              el(
                Parallel,
                { limit: 2 },
                el(Claude, { id: 'a', prompt: 'p', onFinished }),
                el(Codex, { id: 'b', prompt: 'p', onFinished }),
                el(Gemini, { id: 'c', prompt: 'p', onFinished }),
              ),
            ),
            el(Step, {}, el(Claude, { id: 'd', prompt: 'p', onFinished })),
          ),
          el(Phase, { name: 'write' }, el(Claude, { id: 'e', prompt: 'p', onFinished })),
        );
      },
    });
    expect(await world.end(world.start(plan, { executor }))).toMatchObject({
      status: 'completed',
      output: { said: ['claude', 'codex', 'gemini', 'claude', 'claude'] },
    });
    expect(most).toBe(2);
    expect(log.indexOf('+d')).toBeGreaterThan(Math.max(...['-a', '-b', '-c'].map(end => log.indexOf(end))));
    expect(log.indexOf('+e')).toBeGreaterThan(log.indexOf('-d'));
  });

  it('[P22, P52] a loop of five whose process dies in the third body continues with the third', async () => {
    const world = harness();
    const begun: number[] = [];
    let dies = true;
    const plan = definePlan({
      name: 'five',
      state: z.object({ n: z.number().default(0), seen: z.array(z.number()).default([]) }),
      render: ctx =>
        el(
          While,
          { id: 'loop', condition: () => ctx.state.get('n') < 5, maxIterations: 9 },
          ({ iteration }: { iteration: number }) =>
            el(Task, {
              id: 'body',
              run: () => {
                begun.push(iteration);
                return dies && iteration === 2 ? new Promise(() => {}) : iteration;
              },
              onFinished: (seen: number) => {
                ctx.state.update('n', n => n + 1);
                ctx.state.update('seen', all => [...all, seen]);
              },
            }),
        ),
    });
    void world.start(plan);
    await world.calm();
    expect(await world.state()).toEqual({ n: 2, seen: [0, 1] });
    dies = false;
    expect(await world.end(world.resume(plan))).toEqual({
      status: 'completed',
      output: { n: 5, seen: [0, 1, 2, 3, 4] },
    });
    expect(begun).toEqual([0, 1, 2, 2, 3, 4]);
  });

  it('[P42] a failing agent calls its handler, and the plan takes another way', async () => {
    const world = harness();
    const executor: TaskExecutor = {
      execute: async ({ node }) =>
        node.id === 'bad'
          ? { kind: 'failed', error: { class: 'terminal', code: 'auth', message: 'no key' } }
          : { kind: 'done', output: 'plan b' },
    };
    const plan = definePlan({
      name: 'falls-back',
      state: z.object({ error: z.string().optional(), said: z.string().optional() }),
      render: ctx =>
        ctx.state.get('error') === undefined
          ? el(Claude, {
              id: 'bad',
              prompt: 'p',
              onError: ({ error }: { error: { details?: Json; message: string } }) =>
                ctx.state.set('error', error.message, { trigger: 'claude.error' }),
            })
          : el(Codex, { id: 'good', prompt: 'p', onFinished: (text: string) => ctx.state.set('said', text) }),
    });
    expect(await world.end(world.start(plan, { executor }))).toEqual({
      status: 'completed',
      output: { error: 'Node bad failed: no key', said: 'plan b' },
    });
    const { items } = await world.runs.transitions(world.run, { key: 'error' });
    expect(items).toMatchObject([{ trigger: 'claude.error', node: 'bad', handler: 'onError' }]);
  });

  it('[P42] a rate limit blocks the node for as long as the provider asked, even over a restart', async () => {
    const world = harness();
    const times: number[] = [];
    const start = Date.parse(world.now());
    const executor: TaskExecutor = {
      async execute({ attempt }) {
        times.push(Date.parse(world.now()) - start);
        if (attempt > 1) return { kind: 'done', output: 'in the end' };
        const error = { class: 'retryable', code: 'rate_limit', message: '429', retryAfterMs: 60_000 } as const;
        return { kind: 'failed', error };
      },
    };
    const plan = definePlan({ name: 'limited', render: () => el(Claude, { id: 'c', prompt: 'p' }) });
    const first = world.start(plan, { executor });
    await world.calm();
    expect(first.tree()?.children[0]?.status).toBe('blocked');
    expect(await world.runs.valueAt(world.run, 'status', 'c', 9)).toMatchObject({
      status: 'blocked',
      reason: 'rate_limit',
    });
    world.timers.advance(20_000);
    const second = world.resume(plan, { executor, claim: true });
    expect(await world.end(second)).toMatchObject({ status: 'completed' });
    expect(times).toEqual([0, 60_000]);
    expect((await world.runs.tasks(world.run)).map(({ retryCount }) => retryCount)).toEqual([1]);
  });

  it('[P37] a plan that changes its own state without end is halted, with the effect and its writes', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'storm',
      state: z.object({ n: z.number().default(0) }),
      render: ctx =>
        el(Effect, {
          id: 'spin',
          deps: [ctx.state.get('n')],
          run: () => ctx.state.update('n', n => n + 1),
        }),
    });
    expect(await world.end(world.start(plan))).toMatchObject({
      status: 'failed',
      error: {
        code: 'plan/effect-loop',
        message: expect.stringContaining("effect spin ran 11 times and wrote state 'n'"),
      },
    });
    expect(await world.runs.run(world.run)).toMatchObject({ status: 'failed' });
  });
});
