import type { EventId, Json } from '@signalbox/model';
import type { Commit } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { el } from '../../test/elements.ts';
import { type Harness, harness } from '../../test/harness.ts';
import { Human } from '../nodes/components.ts';
import { definePlan } from '../plan-definition.ts';
import type { TaskExecutor } from './task-executor.ts';

const blocked: TaskExecutor = { execute: async () => ({ kind: 'blocked', reason: 'human' }) };

let sent = 0;
/** Appends a signal as anyone may. */
async function send(world: Harness, name: string, payload: Json): Promise<void> {
  sent += 1;
  const id = `00000000-0000-4000-8000-${String(sent).padStart(12, '0')}` as EventId;
  const event = { id, ts: world.now(), type: 'signal.received', name, payload, by: 'ada' };
  const committed = await world.runs.commit(
    { at: world.now(), events: [event as never] },
    { run: world.run, version: 'any' },
  );
  if (!committed.ok) throw new Error(committed.error.message);
}

const listening = definePlan({
  name: 'listening',
  state: z.object({ heard: z.array(z.string()).default([]), total: z.number().default(0) }),
  signals: {
    add: {
      schema: z.object({ n: z.number() }),
      handle: ({ n }, ctx) => {
        ctx.state.update('heard', heard => [...heard, `add ${n}`]);
        ctx.state.update('total', total => total + n);
      },
    },
    fail: {
      schema: z.unknown(),
      handle: (_, ctx) => {
        ctx.state.set('total', -1);
        throw new Error('oops');
      },
    },
  },
  render: ctx => (ctx.state.get('total') >= 6 ? null : el(Human, { id: 'wait', prompt: 'Wait' })),
});

describe('a signal', () => {
  it('[P72] is defined with a handler, and a valid schema', () => {
    const bad = (signal: unknown) => () =>
      definePlan({
        name: 'bad',
        signals: { s: signal as { schema: z.ZodUnknown; handle(): void } },
        render: () => null,
      });
    expect(bad({})).toThrow("signal 's' of plan bad must have a function `handle`");
    expect(bad({ handle() {}, schema: {} })).toThrow('zod `schema`');
    expect(bad({ handle() {}, schema: z.string() })).not.toThrow();
  });

  it('[P71] runs the plan’s handler once, in one transaction, with its own trigger', async () => {
    const world = harness();
    expect(await world.end(world.start(listening, { executor: blocked }))).toEqual({ status: 'waiting' });
    await send(world, 'add', { n: 1 });
    await send(world, 'add', { n: 2 });
    expect(await world.end(world.resume(listening, { executor: blocked }))).toEqual({ status: 'waiting' });
    expect(await world.state()).toEqual({ heard: ['add 1', 'add 2'], total: 3 });
    expect(await world.end(world.resume(listening, { executor: blocked }))).toEqual({ status: 'waiting' });
    await send(world, 'add', { n: 3 });
    expect(await world.end(world.resume(listening, { executor: blocked }))).toEqual({
      status: 'completed',
      output: { heard: ['add 1', 'add 2', 'add 3'], total: 6 },
    });
    const { items } = await world.runs.transitions(world.run, { key: 'total' });
    expect(items.slice(1).map(({ trigger, handler }) => [trigger, handler])).toEqual(
      Array.from({ length: 3 }, () => ['signal.add', 'signal.add']),
    );
    const frames = await world.runs.frames(world.run, 0, 100);
    expect(frames.some(({ trigger }) => trigger.detail?.includes('signal'))).toBe(true);
    const record = await world.runs.run(world.run);
    const events = await world.runs.events(world.run, 0, 1000);
    const last = events.findLastIndex(({ event }) => event.type === 'signal.received');
    expect(record?.inputSeq).toBeGreaterThan(last);
  });

  it('[P71] reaches an active run, notified or not', async () => {
    const world = harness();
    let release = () => {};
    const executor: TaskExecutor = {
      execute: () =>
        new Promise(resolve => {
          release = () => resolve({ kind: 'done', output: null });
        }),
    };
    const run = world.start(listening, { executor });
    await world.calm();
    await send(world, 'add', { n: 1 });
    const told = run.input();
    await world.calm();
    expect(await told).toBe('done');
    expect(await world.state()).toEqual({ heard: ['add 1'], total: 1 });
    // The commit that follows shows that someone else wrote.
    await send(world, 'add', { n: 2 });
    void run.wake('wait');
    await world.calm();
    expect(await world.state()).toEqual({ heard: ['add 1', 'add 2'], total: 3 });
    release();
    expect(await world.end(run)).toMatchObject({ status: 'completed' });
    expect(await run.input()).toBe('over');
  });

  it('[P72] that is unknown, invalid, or whose handler fails leaves only its record', async () => {
    const world = harness();
    const run = world.start(listening, { executor: blocked });
    expect(await world.end(run)).toEqual({ status: 'waiting' });
    await send(world, 'unknown', 1);
    await send(world, 'constructor', 1);
    await send(world, 'add', { n: 'one' });
    await send(world, 'fail', null);
    await send(world, 'add', { n: 1 });
    expect(await world.end(world.resume(listening, { executor: blocked }))).toEqual({ status: 'waiting' });
    expect(await world.state()).toEqual({ heard: ['add 1'], total: 1 });
    const events = (await world.runs.events(world.run, 0, 1000)).map(({ event }) => event);
    expect(
      events.flatMap(event =>
        event.type === 'handler.failed' || event.type === 'handler.ran'
          ? [[event.type, event.handler, 'error' in event ? event.error : '']]
          : [],
      ),
    ).toEqual([
      [
        'handler.failed',
        'signal.add',
        expect.stringContaining("signal 'add' does not fit its schema at payload.n: Invalid input"),
      ],
      ['handler.failed', 'signal.fail', expect.stringContaining('oops')],
      ['handler.ran', 'signal.add', ''],
    ]);
  });

  it('[P71] counts once, whichever commit the process dies before or after', async () => {
    for (const when of ['before', 'after'] as const) {
      for (let at = 1; at < 7; at++) {
        const world = harness();
        await world.end(world.start(listening, { executor: blocked }));
        for (const n of [1, 2, 4]) await send(world, 'add', { n });
        let commits = 0;
        const commit: Commit = {
          async commit(writes, guard) {
            commits += 1;
            const error = { code: 'store/outcome-unknown', message: '', retry: { kind: 'not_retryable' } } as const;
            if (commits !== at) return world.runs.commit(writes, guard);
            if (when === 'after') await world.runs.commit(writes, guard);
            return { ok: false, error: { ...error, suggestion: '' } };
          },
        };
        let end = await world.end(world.resume(listening, { executor: blocked, commit }));
        while (end.status === 'lost') end = await world.end(world.resume(listening, { executor: blocked, commit }));
        expect({ at, when, end }).toEqual({
          at,
          when,
          end: { status: 'completed', output: { heard: ['add 1', 'add 2', 'add 4'], total: 7 } },
        });
      }
    }
  });
});
