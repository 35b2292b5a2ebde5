import type { Json } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { el } from '../../test/elements.ts';
import { type Harness, harness } from '../../test/harness.ts';
import { Fragment } from '../jsx/element.ts';
import { Phase, Task } from '../nodes/components.ts';
import { type AnyPlan, definePlan } from '../plan-definition.ts';

const state = z.object({ n: z.number().default(0) });

/** Two tasks, one after the other; `handlers` are those of the second. */
function planWith(handlers: (n: number) => object): AnyPlan {
  return definePlan({
    name: 'handled',
    state,
    render: ctx =>
      el(
        Fragment,
        {},
        el(
          Phase,
          { id: 'first', name: 'a' },
          el(Task, { id: 'count', run: () => 1, onFinished: (n: number) => ctx.state.set('n', n) }),
        ),
        el(Phase, { id: 'second', name: 'b' }, el(Task, { id: 'use', run: () => 2, ...handlers(ctx.state.get('n')) })),
      ),
  });
}

async function played(plan: AnyPlan): Promise<Harness> {
  const world = harness();
  await world.end(world.start(plan));
  return world;
}

async function handlersAt({ runs, run }: Harness, frame: number): Promise<Readonly<Record<string, Json | undefined>>> {
  const rows = await runs.at(run, 'node', frame);
  return Object.fromEntries([...rows].map(([id, row]) => [id, (row as { readonly handlers?: Json }).handlers]));
}

const digestsOf = async ({ runs, run }: Harness) => (await runs.frames(run, 0, 100)).map(({ digest }) => digest);

const nothing = () => undefined;

describe('the names of handlers', () => {
  it('[P159] are stored with every node that can have any', async () => {
    const world = await played(planWith(() => ({ onProgress: nothing, onError: nothing })));
    expect(await handlersAt(world, 0)).toMatchObject({
      count: ['onFinished'],
      use: ['onError', 'onProgress'],
      first: undefined,
      second: undefined,
    });
  });

  it('[P159] are those of each frame', async () => {
    const world = await played(planWith(n => (n === 0 ? {} : { onFinished: nothing })));
    const { frames = 0 } = (await world.runs.run(world.run)) ?? {};
    expect([(await handlersAt(world, 0)).use, (await handlersAt(world, frames)).use]).toEqual([[], ['onFinished']]);
  });

  it('[P159] are not part of the hash of a frame', async () => {
    const [without, other] = [await played(planWith(() => ({}))), await played(planWith(() => ({ onError: nothing })))];
    expect(await digestsOf(other)).toEqual(await digestsOf(without));
    expect((await digestsOf(other)).length).toBeGreaterThan(2);
  });

  it('[P159] of a run from before they were stored are stored once it continues', async () => {
    const world = harness();
    const plan = planWith(() => ({ onError: nothing }));
    const run = world.start(plan, {
      commit: {
        commit: (writes, guard) => world.runs.commit({ ...writes, intervals: writes.intervals?.map(asBefore) }, guard),
      },
    });
    void run.pause('test');
    await world.end(run);
    const before = (await world.runs.run(world.run))?.frames ?? 0;
    expect((await handlersAt(world, before)).use).toBeUndefined();
    await world.end(world.resume(plan));
    const after = await played(plan);
    expect((await handlersAt(world, 1_000)).use).toEqual(['onError']);
    expect((await digestsOf(world)).at(-1)).toEqual((await digestsOf(after)).at(-1));
  });
});

function asBefore<Write extends { readonly change: { readonly kind: string } }>(write: Write): Write {
  const { change } = write as unknown as { readonly change: { readonly kind: string; readonly value?: object } };
  if (change.kind !== 'set' || typeof change.value !== 'object' || change.value === null) return write;
  const { handlers: _, ...value } = change.value as { readonly handlers?: Json };
  return Array.isArray(change.value) ? write : { ...write, change: { ...change, value } };
}
