import { type EditOp, editOp, type Json } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { el } from '../../test/elements.ts';
import { harness } from '../../test/harness.ts';
import { Human, Task } from '../nodes/components.ts';
import { definePlan } from '../plan-definition.ts';
import { replayRun } from '../replay/replay-run.ts';
import { editUndriven } from './edit-undriven.ts';
import { editedValue, editTriggers } from './edit-value.ts';

const state = z.object({
  count: z.number().max(100).default(1),
  list: z.array(z.string()).default(['a']),
  facts: z.record(z.string(), z.json()).default({ a: 1 }),
  note: z.string().optional(),
});
const waits = definePlan({ name: 'ops', state, render: () => el(Human, { id: 'ask', prompt: 'Go?' }) });
const executor = { execute: async () => ({ kind: 'blocked', reason: 'approval_required:human' }) as const };
const by = { reason: 'a test', by: 'anna' };

describe('an edit with an operation', () => {
  it.each<[EditOp, Json | undefined, Json, Json]>([
    ['increment', 2, 0.5, 2.5],
    ['increment', undefined, -1, -1],
    ['append', ['a'], ['b'], ['a', ['b']]],
    ['append', undefined, null, [null]],
    ['merge', { a: 1, b: { c: 1 } }, { b: { d: 2 }, e: null }, { a: 1, b: { d: 2 }, e: null }],
    ['merge', undefined, {}, {}],
  ])('[P169] %s of %j with %j gives %j', (op, old, value, made) => {
    expect(editedValue(old, { key: 'k', op, value })).toEqual({ ok: true, value: made });
  });

  it.each<[EditOp, Json | undefined, Json | undefined, string]>([
    ['increment', '2', 1, 'a string is there'],
    ['increment', null, 1, 'null is there'],
    ['increment', 2, '1', 'by a number'],
    ['increment', 2, undefined, 'by a number'],
    ['increment', Number.MAX_VALUE, Number.MAX_VALUE, 'too large'],
    ['append', {}, 1, 'an object is there'],
    ['append', 'text', 'more', 'a string is there'],
    ['append', [], undefined, 'nothing was given'],
    ['merge', ['a'], {}, 'a list is there'],
    ['merge', {}, ['a'], 'only an object'],
    ['merge', {}, null, 'only an object'],
  ])('[P170] %s of %j with %j is refused', (op, old, value, why) => {
    expect(editedValue(old, { key: 'k', op, value })).toEqual({ ok: false, error: expect.stringContaining(why) });
  });

  it('[P169] merges a field with a dangerous name like any other', () => {
    const made = editedValue({}, { key: 'k', op: 'merge', value: JSON.parse('{"__proto__": {"x": 1}}') });
    expect(made.ok && Object.keys(made.value as object)).toEqual(['__proto__']);
    expect(({} as { x?: number }).x).toBe(undefined);
  });

  it('[P171] has its own trigger for every operation, which a replay knows', () => {
    expect(editTriggers).toEqual(['operator.edit', ...editOp.options.map(op => `operator.${op}`)]);
  });

  it('[P171] of a driven run applies to the result of the previous edit, and the run replays', async () => {
    const world = harness();
    const held = definePlan({
      name: 'ops',
      state,
      render: ctx => [
        el(Task, {
          key: 'held',
          id: 'held',
          run: ({ signal }: { signal: AbortSignal }) =>
            new Promise(resolve => signal.addEventListener('abort', () => resolve(null))),
        }),
        ctx.state.get('count') === 3 ? el(Task, { key: 'go', id: 'go', run: () => 1 }) : null,
      ],
    });
    const run = world.start(held);
    await world.calm();
    const answers = [
      run.edit({ key: 'count', op: 'increment', value: 1, ...by }),
      run.edit({ key: 'count', op: 'increment', value: 1, ...by }),
      run.edit({ key: 'count', op: 'increment', value: 1000, ...by }),
      run.edit({ key: 'list', op: 'append', value: 'b', ...by }),
      run.edit({ key: 'list', op: 'append', value: 7, ...by }),
      run.edit({ key: 'facts', op: 'merge', value: { b: 2 }, ...by }),
      run.edit({ key: 'facts', op: 'merge', value: { b: 2 }, ...by }),
      run.edit({ key: 'nowhere', op: 'increment', value: 1, ...by }),
    ];
    await world.calm();
    expect(await Promise.all(answers)).toEqual([
      'done',
      'done',
      { refused: expect.stringContaining("'count' does not fit the state") },
      'done',
      { refused: expect.stringContaining("'list.2' does not fit the state") },
      'done',
      'no_effect',
      { refused: expect.stringContaining("has no key 'nowhere'") },
    ]);
    const stopped = run.stop('enough');
    await world.end(run);
    await stopped;
    expect(await world.state()).toEqual({ count: 3, list: ['a', 'b'], facts: { a: 1, b: 2 } });
    const { items } = await world.runs.transitions(world.run, { key: 'count' });
    expect(items.slice(-2)).toMatchObject([
      { old: 1, new: 2, trigger: 'operator.increment' },
      { old: 2, new: 3, trigger: 'operator.increment' },
    ]);
    const { runs, run: id } = world;
    const frames = (await runs.run(id))?.frames;
    const report = await replayRun({ plan: held, run: id, reader: runs });
    expect([report.verified, report.difference]).toEqual([frames, undefined]);
  });

  it('[P172] of an undriven run is validated as committed, against the value at that time', async () => {
    const world = harness();
    expect(await world.end(world.start(waits, { executor }))).toEqual({ status: 'waiting' });
    const { ports, run, runs } = world;
    const increment = { key: 'count', op: 'increment', value: 1, ...by } as const;
    const asked: unknown[] = [];
    const faultOf = async (value: Json | undefined) => {
      asked.push(value);
      return { ok: true, value: value === 4 ? 'four is too many' : undefined } as const;
    };
    expect(await editUndriven(ports, run, increment, faultOf)).toEqual({ ok: true, value: true });
    // Somebody else is faster between what was read and what is written: nothing is lost, and nothing is written.
    const raced = await editUndriven(ports, run, increment, async () => {
      await editUndriven(ports, run, increment);
      return { ok: true, value: undefined };
    });
    expect(raced).toMatchObject({ ok: false, error: { code: 'run/stale-version' } });
    expect(await editUndriven(ports, run, increment, faultOf)).toEqual({
      ok: true,
      value: { refused: 'four is too many' },
    });
    expect(await editUndriven(ports, run, { ...increment, key: 'list' })).toMatchObject({
      value: { refused: expect.stringContaining('a list is there') },
    });
    expect(asked).toEqual([2, 4]);
    const { items } = await runs.transitions(run, { key: 'count' });
    expect(items.slice(-2)).toMatchObject([
      { old: 1, new: 2, trigger: 'operator.increment' },
      { old: 2, new: 3, trigger: 'operator.increment' },
    ]);
    const edits = (await runs.events(run, 0, 100)).filter(({ event }) => event.type === 'state.edited');
    expect(edits.map(({ event }) => event)).toMatchObject([
      { key: 'count', by: 'anna', reason: 'a test' },
      { key: 'count', by: 'anna', reason: 'a test' },
    ]);
  });
});
