import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { el } from '../../test/elements.ts';
import { harness } from '../../test/harness.ts';
import { Fragment } from '../jsx/element.ts';
import { Effect, Phase, Task, While } from '../nodes/components.ts';
import { ROOT_ID } from '../nodes/node-id.ts';
import { definePlan } from '../plan-definition.ts';
import { replayRun } from '../replay/replay-run.ts';

/** The plan and one node as an ended run shows them. */
async function shownStatuses(world: ReturnType<typeof harness>, node: string): Promise<readonly unknown[]> {
  const { frames = 1 } = (await world.runs.run(world.run)) ?? {};
  const rows = await world.runs.at(world.run, 'status', frames);
  return [ROOT_ID, node].map(id => (rows.get(id) as { readonly status?: unknown } | undefined)?.status);
}

const state = z.object({ n: z.number().default(0), log: z.array(z.string()).default([]) });

describe('effects of a run', () => {
  it('[P36] run after the commit, in their place, and their writes make the next frame', async () => {
    const world = harness();
    const order: string[] = [];
    const plan = definePlan({
      name: 'effects',
      state,
      render: ctx =>
        el(
          Fragment,
          {},
          el(
            Phase,
            { name: 'a' },
            el(Task, { id: 't', run: () => void order.push('task'), onFinished: () => ctx.state.set('n', 1) }),
          ),
          el(
            Phase,
            { name: 'b' },
            el(Effect, {
              id: 'e',
              deps: [ctx.state.get('n')],
              run: () => {
                order.push('effect');
                ctx.state.update('log', log => [...log, 'effect']);
              },
            }),
          ),
        ),
    });
    const run = world.start(plan);
    expect(await world.end(run)).toMatchObject({ status: 'completed', output: { n: 1, log: ['effect'] } });
    expect(order).toEqual(['task', 'effect']);
    const { items } = await world.runs.transitions(world.run, { key: 'log' });
    expect(items.at(-1)).toMatchObject({
      key: 'log',
      new: ['effect'],
      trigger: 'effect.e',
      node: 'e',
      handler: 'effect',
    });
    expect(JSON.stringify(run.tree())).toContain('"id":"e","status":"succeeded"');
  });

  it('[P36] of components run by their dependencies, and are cleaned up at the end', async () => {
    const world = harness();
    const log: string[] = [];
    const plan = definePlan({
      name: 'hooks',
      state,
      render: ctx => {
        ctx.effect('watch', [ctx.state.get('n') > 1], () => {
          log.push(`on ${ctx.state.get('n')}`);
          return () => log.push('off');
        });
        return el(
          While,
          { condition: () => ctx.state.get('n') < 3 },
          el(Task, { id: 't', run: () => 1, onFinished: () => ctx.state.update('n', n => n + 1) }),
        );
      },
    });
    expect(await world.end(world.start(plan))).toMatchObject({ status: 'completed' });
    expect(log).toEqual(['on 0', 'off', 'on 2', 'off']);
  });

  it('[P8] of two components cannot share an id', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'twice',
      render: ctx => {
        const Part = () => {
          ctx.effect('same', [], () => {});
          return null;
        };
        return el(Fragment, {}, el(Part, {}), el(Part, {}));
      },
    });
    expect(await world.end(world.start(plan))).toMatchObject({
      status: 'failed',
      error: {
        code: 'plan/duplicate-id',
        message: expect.stringContaining("two components ask for the effect 'same'"),
      },
    });
  });

  it('[P36] that fail make the run fail, and their writes are dropped', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'fails',
      state,
      render: ctx =>
        el(Effect, {
          id: 'e',
          run: () => {
            ctx.state.set('n', 5);
            throw new Error('no');
          },
        }),
    });
    expect(await world.end(world.start(plan))).toMatchObject({
      status: 'failed',
      error: { code: 'plan/effect-failed', message: expect.stringContaining('Error: no [node e]') },
    });
    expect(await world.state()).toEqual({ n: 0, log: [] });
    expect(await world.events()).toContain('effect.failed');
  });

  it('[P37] that trigger themselves without end are stopped', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'flips',
      state,
      render: ctx => el(Effect, { id: 'e', deps: [ctx.state.get('n')], run: () => ctx.state.update('n', n => 1 - n) }),
    });
    const end = await world.end(
      world.start(plan, { storm: { perSecond: 1000, perMinute: 1000, perRun: 1000, repeats: 1000 } }),
    );
    expect(end).toMatchObject({
      status: 'failed',
      error: {
        code: 'plan/effect-loop',
        message: expect.stringMatching(
          /effect e was triggered 4 times with the same dependencies \[0\]; it wrote state 'n'/,
        ),
      },
    });
  });

  it.each<[string, (n: number) => number, number]>([
    ['other dependencies each time', n => n + 1, 11],
    ['the same dependencies', n => 1 - n, 5],
  ])(
    '[P37] that trigger themselves with %s end the run, and the run, the log and the tree name them',
    async (_, next, times) => {
      const world = harness();
      const plan = definePlan({
        name: 'loops',
        state,
        render: ctx => el(Effect, { id: 'eff', deps: [ctx.state.get('n')], run: () => ctx.state.update('n', next) }),
      });
      expect(await world.end(world.start(plan))).toMatchObject({
        status: 'failed',
        error: {
          code: 'plan/effect-loop',
          message: expect.stringContaining(
            `effect eff ran ${times} times and wrote state 'n', without any work or input`,
          ),
        },
      });
      expect(await shownStatuses(world, 'eff')).toEqual(['failed', 'failed']);
      const failed = (await world.runs.events(world.run, 0, 1000)).flatMap(({ event }) =>
        event.type === 'effect.failed' ? [[event.node, event.error]] : [],
      );
      expect(failed).toMatchObject([['eff', expect.stringContaining("wrote state 'n'")]]);
    },
  );

  it('[P37] that trigger each other are all named', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'ping-pong',
      state: z.object({ a: z.number().default(0), b: z.number().default(0) }),
      render: ctx => {
        const [a, b] = [ctx.state.get('a'), ctx.state.get('b')];
        return el(
          Fragment,
          {},
          el(Effect, { id: 'ping', deps: [a], run: () => ctx.state.set('b', a + 1) }),
          el(Effect, { id: 'pong', deps: [b], run: () => ctx.state.set('a', b + 1) }),
        );
      },
    });
    const message = expect.stringMatching(
      /effect ping ran \d+ times and wrote state 'b'; effect pong ran \d+ times and wrote state 'a'/,
    );
    expect(await world.end(world.start(plan))).toMatchObject({ error: { code: 'plan/effect-loop', message } });
  });

  type Later = (write: () => void, world: ReturnType<typeof harness>) => void;
  it.each<[string, Later]>([
    ['a promise', write => void Promise.resolve().then(write)],
    // The timers of the harness do not carry what real ones carry: who set them.
    ['a timer', (write, { timers }) => void timers.after(1, AsyncLocalStorage.bind(write))],
  ])('[P260] that trigger themselves from %s are named, with what they wrote', async (_, later) => {
    const world = harness();
    const plan = definePlan({
      name: 'delayed',
      state,
      render: ctx => {
        const n = ctx.state.get('n');
        return el(Effect, { id: 'late', deps: [n], run: () => later(() => ctx.state.set('n', n + 1), world) });
      },
    });
    expect(await world.end(world.start(plan))).toMatchObject({
      status: 'failed',
      error: {
        code: 'plan/effect-loop',
        message: expect.stringMatching(/effect late ran \d+ times and wrote state 'n', without any work or input/),
      },
    });
    expect(await shownStatuses(world, 'late')).toEqual(['failed', 'failed']);
  });

  it('[P242] that throw a value which cannot be shown make the run fail like others', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'odd',
      state,
      render: () =>
        el(Effect, {
          id: 'e',
          run: () => {
            throw Object.create(null);
          },
        }),
    });
    expect(await world.end(world.start(plan))).toMatchObject({
      status: 'failed',
      error: { code: 'plan/effect-failed', message: expect.stringContaining('cannot be shown') },
    });
    expect(await shownStatuses(world, 'e')).toEqual(['failed', 'failed']);
  });

  it('[P184] that failed run again when the run is resumed, and those that ran do not', async () => {
    const world = harness();
    const ran: string[] = [];
    const plan = (hasBug: boolean) =>
      definePlan({
        name: 'again',
        state,
        render: ctx => {
          ctx.effect('hook', [], () => void ran.push('hook'));
          return el(
            Fragment,
            {},
            el(Effect, { id: 'good', run: () => void ran.push('good') }),
            el(Effect, {
              id: 'bad',
              run: () => {
                ran.push('bad');
                if (hasBug) throw new Error('no');
                ctx.state.set('n', 1);
              },
            }),
          );
        },
      });
    expect(await world.end(world.start(plan(true)))).toMatchObject({ status: 'failed' });
    expect(await world.end(world.resume(plan(true)))).toMatchObject({ status: 'failed' });
    const once = ['good', 'bad', 'hook'];
    expect(ran).toEqual([...once, 'bad']);
    expect(await world.end(world.resume(plan(false)))).toMatchObject({
      status: 'completed',
      output: { n: 1, log: [] },
    });
    expect(await world.end(world.resume(plan(false)))).toMatchObject({ status: 'completed' });
    expect(ran).toEqual([...once, 'bad', 'bad']);
    const replayed = await replayRun({ plan: plan(true), run: world.run, reader: world.runs });
    expect(replayed).toMatchObject({ verified: replayed.frames });
    expect(ran).toHaveLength(5);
  });

  it('[P38] run twice in strict mode', async () => {
    const world = harness();
    let runs = 0;
    await world.end(
      world.start(definePlan({ name: 'strict', render: () => el(Effect, { id: 'e', run: () => void runs++ }) }), {
        strictEffects: true,
      }),
    );
    expect(runs).toBe(2);
  });

  it('[P57] a plan with effects ends after it was quiet for a while; a late write makes a frame', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'late',
      state,
      render: ctx => el(Effect, { id: 'e', run: () => void world.timers.after(300, () => ctx.state.set('n', 1)) }),
    });
    const start = world.timers.next;
    expect(await world.end(world.start(plan))).toMatchObject({ status: 'completed', output: { n: 1 } });
    expect(start).toBeUndefined();
    const [first, last] = [await world.runs.frame(world.run, 0), (await world.runs.run(world.run))?.endedAt];
    expect(Date.parse(last ?? '') - Date.parse(first?.at ?? '')).toBe(300 + 500);
    const quick = harness();
    await quick.end(quick.start(definePlan({ name: 'quick', render: () => el(Task, { id: 't', run: () => 1 }) })));
    const record = await quick.runs.run(quick.run);
    expect(record?.endedAt).toBe(record?.createdAt);
  });
});

describe('a late write that changes nothing', () => {
  it('[P57] makes no frame and does not keep the run from ending', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'same',
      state,
      render: ctx => el(Effect, { id: 'e', run: () => void world.timers.after(300, () => ctx.state.set('n', 0)) }),
    });
    expect(await world.end(world.start(plan))).toMatchObject({ status: 'completed' });
    expect(await world.runs.run(world.run)).toMatchObject({ frames: 1 });
  });
});

describe('a plan that goes round in circles', () => {
  it('[P33] stalls with its evidence, and costs only itself', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'storm',
      state,
      render: ctx => el(Effect, { id: 'e', run: () => void tick(() => ctx.state.update('n', n => n + 1)) }),
    });
    const tick = (write: () => void) => {
      write();
      world.timers.after(10, () => tick(write));
    };
    const storm = { perSecond: 1000, perMinute: 20, perRun: 1000, repeats: 3 };
    const end = await world.end(world.start(plan, { storm }));
    expect(await shownStatuses(world, 'e')).toEqual(['failed', 'succeeded']);
    expect(end).toMatchObject({
      status: 'stalled',
      evidence: {
        kind: 'repeated_frame_signature',
        summary: '21 frames in a minute in which no task ended and no input arrived.',
      },
    });
    expect(await world.runs.run(world.run)).toMatchObject({ status: 'stalled' });
    const stalls = (await world.runs.events(world.run, 0, 1000))
      .map(({ event }) => event)
      .filter(event => event.type === 'run.stalled');
    expect(stalls).toMatchObject([{ evidence: end.status === 'stalled' ? end.evidence : {} }]);
  });

  it('[P33] the same plan, statuses and state for the third time is a stall', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'flip',
      render: ctx => {
        const n = (ctx.vol.get('n') as number | undefined) ?? 0;
        return el(Effect, {
          id: `e${n % 2}`,
          run: () => void world.timers.after(10, () => ctx.vol.set('n', n + 1)),
        });
      },
    });
    expect(await world.end(world.start(plan))).toMatchObject({ status: 'stalled', evidence: { repeats: 3 } });
  });

  it('[P33] a working plan renders as fast as it can', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'works',
      state,
      render: ctx =>
        el(
          While,
          { condition: () => ctx.state.get('n') < 300, maxIterations: 1000 },
          el(Task, { id: 't', run: () => 1, onFinished: () => ctx.state.update('n', n => n + 1) }),
        ),
    });
    expect(await world.end(world.start(plan))).toMatchObject({ status: 'completed', output: { n: 300 } });
    expect(await world.runs.run(world.run)).toMatchObject({ frames: 301 });
  });
});

describe('work that reports progress', () => {
  it('[P32] does not make a frame for each word', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'chatty',
      state,
      render: ctx =>
        el(Task, {
          id: 't',
          input: null,
          run: async ({ progress }: { progress(progress: { summary: string }): void }) => {
            for (let word = 0; word < 50; word++) {
              progress({ summary: `word ${word}` });
              await new Promise(resolve => setImmediate(resolve));
            }
            return 1;
          },
          onProgress: () => ctx.state.update('n', n => n + 1),
        }),
    });
    expect(await world.end(world.start(plan))).toMatchObject({ status: 'completed', output: { n: 50 } });
    const frames = await world.runs.frames(world.run, 0, 100);
    expect(frames.length).toBeLessThan(50);
    for (const [index, frame] of frames.entries()) {
      if (frame.trigger.detail !== 'task_progressed') continue;
      expect(Date.parse(frame.at) - Date.parse(frames[index - 1]?.at ?? '')).toBeGreaterThanOrEqual(250);
    }
  });
});

describe('what a frame sees', () => {
  it('[P35] one time and repeatable numbers', async () => {
    const seen: unknown[] = [];
    const once = async () => {
      const world = harness();
      const plan = definePlan({
        name: 'clock',
        state,
        render: ctx => {
          const first = ctx.now();
          world.timers.advance(1000);
          seen.push([ctx.state.get('n'), first === ctx.now(), ctx.random(), ctx.random()]);
          return el(Task, { id: 't', run: () => 1, onFinished: () => ctx.state.set('n', 1) });
        },
      });
      await world.end(world.start(plan));
      return seen.splice(0);
    };
    const [one, two] = [await once(), await once()];
    expect(one).toEqual(two);
    expect((one as unknown[][]).map(row => row.slice(0, 2))).toEqual([
      [0, true],
      [1, true],
    ]);
    expect(new Set((one as number[][]).flatMap(row => row.slice(2))).size).toBe(4);
  });

  it('[P58] volatile state follows the same rules, is not stored, and makes frames that cannot be verified unless recorded', async () => {
    for (const keepVolatile of [false, true]) {
      const world = harness();
      const seen: unknown[] = [];
      const plan = definePlan({
        name: 'volatile',
        render: ctx => {
          seen.push(ctx.vol.get('x') ?? null);
          return el(Task, {
            id: 't',
            run: () => 1,
            onFinished: () => {
              ctx.vol.set('x', 1);
              ctx.vol.update('x', n => (n as number) + 1);
              ctx.vol.set('y', 1);
              ctx.vol.delete('y');
            },
          });
        },
      });
      expect(await world.end(world.start(plan, { keepVolatile }))).toEqual({ status: 'completed', output: {} });
      expect(seen).toEqual([null, 2]);
      expect((await world.runs.frames(world.run, 0, 10)).map(frame => frame.verifiable)).toEqual([
        keepVolatile,
        keepVolatile,
      ]);
      expect(await world.runs.at(world.run, 'read', 1)).toEqual(
        new Map([['vol:x', keepVolatile ? { value: 2 } : true]]),
      );
    }
  });

  it('[P61] a query runs again when a table it waits for changed, even by others', async () => {
    const world = harness();
    const asked: unknown[] = [];
    let rows = 0;
    const plan = definePlan({
      name: 'queries',
      render: ctx => {
        const [row] = ctx.db.query<{ n: number }>('select count(*) n from task where status = ?', {
          params: ['done'],
          invalidateOn: ['tasks'],
        });
        return el(
          Fragment,
          {},
          el(Task, { id: 'a', run: () => 1 }),
          (row?.n ?? 0) > 0 && el(Task, { id: 'b', run: () => 1 }),
        );
      },
    });
    const query = (sql: string, params: readonly unknown[]) => {
      asked.push([sql, params]);
      return [{ n: rows++ === 0 ? 0 : 1 }];
    };
    const run = world.start(plan, { query, keepVolatile: true });
    run.invalidate(['artifacts']);
    expect(await world.end(run)).toMatchObject({ status: 'completed' });
    expect((await world.runs.tasks(world.run)).map(({ node, status }) => [node, status])).toEqual([
      ['a', 'done'],
      ['b', 'done'],
    ]);
    expect(asked[0]).toEqual(['select count(*) n from task where status = ?', ['done']]);
    const frames = await world.runs.frames(world.run, 0, 100);
    expect(frames.every(frame => frame.verifiable)).toBe(true);
    expect([...(await world.runs.at(world.run, 'read', frames.length - 1)).values()]).toEqual([
      true,
      { value: [{ n: 1 }] },
    ]);
  });

  it.each([
    [{ invalidateOn: [] }, 'needs invalidateOn'],
    [{ invalidateOn: ['frames'] }, "cannot wait for 'frames'"],
    [{ invalidateOn: ['tasks'] }, 'the query failed: no such table'],
  ])('[P61] a query with %j is an error that says what is wrong', async (options, message) => {
    const world = harness();
    const plan = definePlan({ name: 'queries', render: ctx => void ctx.db.query('select 1', options as never) });
    const query = () => {
      throw new Error('no such table');
    };
    expect(await world.end(world.start(plan, { query }))).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining(message) },
    });
  });

  it('[P58] a handler that throws also loses its writes to volatile state', async () => {
    const world = harness();
    const seen: unknown[] = [];
    const plan = definePlan({
      name: 'volatile',
      render: ctx => {
        seen.push(ctx.vol.get('x') ?? null);
        return el(Task, {
          id: 't',
          run: () => 1,
          onFinished: () => {
            ctx.vol.set('x', 1);
            throw new Error('no');
          },
        });
      },
    });
    expect(await world.end(world.start(plan))).toMatchObject({ status: 'failed' });
    expect(seen).toEqual([null]);
  });

  it('[P30] state that nobody can change', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'frozen',
      state,
      render: ctx => {
        (ctx.state.get('log') as string[]).push('sneaky');
        return null;
      },
    });
    expect(await world.end(world.start(plan))).toMatchObject({
      status: 'failed',
      error: { code: 'plan/render-failed', message: expect.stringContaining('not extensible') },
    });
  });

  it('[P11] a frame costs what changed: only readers of the key are called', async () => {
    const world = harness();
    const calls: string[] = [];
    const plan = definePlan({
      name: 'fine',
      state,
      render: ctx => {
        calls.push('plan');
        const Reader = () => {
          calls.push('reader');
          return el(Task, { id: 'r', run: () => 1, input: ctx.state.get('n') });
        };
        return el(
          Fragment,
          {},
          el(Reader, {}),
          el(Task, { id: 't', run: () => 1, onFinished: () => ctx.state.set('n', 1) }),
        );
      },
    });
    await world.end(world.start(plan));
    expect(calls).toEqual(['plan', 'reader', 'reader']);
  });
});
