import type { Json, JsonObject, RunId } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { el } from '../../test/elements.ts';
import { type Harness, harness } from '../../test/harness.ts';
import { Ralph, Task } from '../nodes/components.ts';
import { editNode } from '../nodes/node-edit.ts';
import { definePlan } from '../plan-definition.ts';
import { replayRun } from '../replay/replay-run.ts';
import { nodeRecord } from '../structure/node-record.ts';
import { forkPlan } from './fork-plan.ts';

/** Three bodies, each of which tells what it was given. */
const plan = definePlan({
  name: 'tells',
  input: z.any(),
  state: z.object({ told: z.array(z.any()).default([]) }),
  render: ctx =>
    el(
      Ralph,
      { id: 'loop', maxIterations: 3 },
      el(Task, {
        id: 'tell',
        input: { word: 'a', times: 2 },
        run: ({ input }: { input: Json }) => input,
        onFinished: (given: unknown) => ctx.state.update('told', told => [...told, given]),
      }),
    ),
});

async function forkWith(world: Harness, parent: RunId, frame: number, given: Json): Promise<RunId> {
  const run = world.ports.ids.mint<RunId>();
  const row = (await world.runs.valueAt(parent, 'node', 'tell', frame)) as { kind: string; data: JsonObject };
  const status = nodeRecord.parse(await world.runs.valueAt(parent, 'status', 'tell', frame));
  const nodeInput = editNode(row, given, status.edited);
  if (!nodeInput.ok) throw new Error(nodeInput.error);
  const forked = await forkPlan(world.ports, {
    run,
    parent,
    frame,
    by: 'anna',
    node: 'tell',
    nodeInput: nodeInput.value,
  });
  if (!forked.ok) throw new Error(forked.error.message);
  return run;
}

const toldIn = async ({ runs }: Harness, run: RunId) => {
  const record = await runs.run(run);
  return runs.valueAt(run, 'state', 'told', record?.frames ?? 0);
};

describe('a node whose input a person changed', () => {
  it('[P360] works with it in every iteration from there, over forks and restarts; its run is verified like any other', async () => {
    const world = harness();
    await world.end(world.start(plan));
    const own = { word: 'a', times: 2 };
    expect(await toldIn(world, world.run)).toEqual([own, own, own]);

    // In the second iteration.
    let frame = 0;
    while (nodeRecord.parse(await world.runs.valueAt(world.run, 'status', 'tell', frame)).iteration < 1) frame += 1;
    const run = await forkWith(world, world.run, frame, { word: 'b' });
    await world.end(world.resume(plan, { run }));
    const changed = { word: 'b', times: 2 };
    expect(await toldIn(world, run)).toEqual([own, changed, changed]);
    expect((await world.runs.events(run, 0, 3)).map(({ event }) => event)[1]).toMatchObject({
      type: 'run.forked',
      by: 'anna',
      node: 'tell',
      nodeInput: { before: own, after: changed },
    });

    const again = await forkWith(world, run, 1, { times: 3 });
    await world.end(world.resume(plan, { run: again }));
    const both = { word: 'b', times: 3 };
    expect(await toldIn(world, again)).toEqual([own, both, both]);

    for (const one of [run, again]) {
      const report = await replayRun({ plan, run: one, reader: world.runs });
      expect(report).toMatchObject({ verified: report.frames, unverified: [] });
      expect(report.difference).toBeUndefined();
    }
  });

  it('[P361] takes only what its kind has, and says what that is', () => {
    const agent = {
      kind: 'agent',
      data: { prompt: 'Do it.', model: 'm', retries: 3, maxTurns: 5, resume: 'continue', permissions: 'skip' },
    };
    expect(editNode(agent, 'Do it well.')).toMatchObject({
      ok: true,
      value: {
        before: { prompt: 'Do it.', model: 'm', maxTurns: 5 },
        after: { prompt: 'Do it well.', model: 'm', maxTurns: 5 },
      },
    });
    expect(editNode(agent, { model: 'n' }, { kind: 'agent', data: { prompt: 'Do it.' } })).toMatchObject({
      value: { edit: { kind: 'agent', data: { prompt: 'Do it.', model: 'n' } } },
    });
    const errorOf = (kind: string, data: JsonObject, given: Json) => {
      const edited = editNode({ kind, data }, given);
      return edited.ok ? undefined : edited.error;
    };
    expect(errorOf('agent', agent.data, { permissions: 'gated' })).toContain('no field "permissions"');
    expect(errorOf('agent', agent.data, { maxTurns: 'many' })).toContain('maxTurns');
    expect(errorOf('agent', agent.data, 7)).toContain('an object of prompt, system, model');
    expect(errorOf('task', { retries: 3 }, { a: 1 })).toContain('has no input');
    expect(errorOf('timer', { forMs: 1 }, { forMs: 2 })).toBe('a timer has no input that can be changed');
    expect(errorOf('phase', { name: 'x' }, { name: 'y' })).toBe('a phase has no input that can be changed');
    expect(editNode({ kind: 'subplan', data: { retries: 0, plan: 'p', input: [1] } }, { a: 1 })).toMatchObject({
      value: { before: [1], after: { a: 1 } },
    });
  });
});
