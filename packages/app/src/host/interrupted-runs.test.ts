import { portableHasher, type RunId, type Timestamp } from '@signalbox/model';
import { memoryRuns } from '@signalbox/runs';
import { expect, it } from 'vitest';
import { frame, interval, key, newRun, owner, set, startRun, task } from '../../../runs/test/builders.ts';
import { snapshotOf } from '../contract-view/run-view.ts';
import { why } from '../why/why.ts';
import { type LiveOwner, withInterrupted } from './interrupted-runs.ts';
import { treeAt } from './run-tree.ts';

const NODE = { kind: 'task', index: 0, data: {} };

/** A run of an owner, with a task under way in its second frame and a sub-run. */
async function stage() {
  const store = memoryRuns(portableHasher);
  const begin = (name: string, fields = {}) => startRun(store, newRun({ name, owner: owner('first'), ...fields }));
  const run = await begin('left');
  const running = set({ status: 'running', iteration: 0 });
  await run.write({
    at: '2026-01-01T00:00:01.000Z' as Timestamp,
    frame: frame(0),
    intervals: [interval('node', 'build', 0, set(NODE)), interval('status', 'build', 0, running)],
    tasks: [task(run.run, { status: 'running', leaseOwner: owner('first') })],
  });
  const origin = { kind: 'sub-plan', run: run.run, node: key('build'), iteration: 0 } as const;
  await begin('below', { origin });
  await begin('paused', { status: 'paused' });
  let live: LiveOwner = owner('first');
  return { store, run: run.run, reader: withInterrupted(store, () => live), lives: (now: LiveOwner) => (live = now) };
}

type Stage = Awaited<ReturnType<typeof stage>>;

async function everything({ reader, run }: Stage) {
  const snapshot = await snapshotOf({ reader, driven: () => [] }, run);
  const named = async (...status: readonly ('running' | 'paused')[]) =>
    (await reader.runs({ status })).items.map(({ name }) => name);
  const said = await why(reader, run, 'build', { now: () => 0 });
  return {
    run: { status: snapshot?.status, stopReason: snapshot?.stopReason, record: snapshot?.record },
    nodes: Object.values(snapshot?.nodes ?? {}).map(({ status, summary }) => [status, summary]),
    now: (await treeAt(reader, run, 1))?.status,
    earlier: (await treeAt(reader, run, 0))?.status,
    value: await reader.valueAt(run, 'status', 'build', 1),
    tasks: (await reader.tasks(run)).map(({ status }) => status),
    task: (await reader.task(run, task(run).id))?.status,
    underWay: (await reader.tasks(run, { status: ['running'] })).length,
    orphaned: (await reader.tasks(run, { status: ['orphaned'] })).length,
    below: (await reader.children(run)).map(({ status }) => status),
    lists: [await named('running'), await named('paused')],
    why: said.ok && said.value.map(({ text }) => text),
  };
}

it('[A916] shows what a process that is gone left behind as interrupted on every surface, and changes nothing', async () => {
  const at = await stage();
  const facts = async () => [
    await at.store.run(at.run),
    await at.store.tasks(at.run),
    await at.store.at(at.run, 'status', 1),
  ];
  const before = await facts();
  const driven = {
    run: { status: 'running', record: { status: 'running' } },
    nodes: [['running', 'running']],
    now: 'running',
    earlier: 'running',
    value: { status: 'running', iteration: 0 },
    tasks: ['running'],
    task: 'running',
    underWay: 1,
    orphaned: 0,
    below: ['running'],
    lists: [['below', 'left'], ['paused']],
    why: ["The task 'build' is running."],
  };
  expect(await everything(at)).toMatchObject(driven);
  at.lives('unknown');
  expect(await everything(at)).toMatchObject(driven);
  const reason = 'Its process ended without stopping it.';
  for (const live of [owner('second'), 'nobody'] as const) {
    at.lives(live);
    expect(await everything(at)).toMatchObject({
      run: { status: 'paused', record: { status: 'paused', stopReason: reason, interrupted: true } },
      nodes: [['blocked', 'blocked: interrupted']],
      now: 'blocked',
      earlier: 'running',
      value: { status: 'blocked', reason: 'interrupted', iteration: 0 },
      tasks: ['orphaned'],
      task: 'orphaned',
      underWay: 0,
      orphaned: 1,
      below: ['paused'],
      lists: [[], ['paused', 'below', 'left']],
      why: ["The task 'build' is blocked.", 'It was working when the process of its run ended.'],
    });
  }
  expect(await facts()).toEqual(before);
});

it('[A916] leaves runs alone that are not there', async () => {
  const { reader } = await stage();
  const missing = '01a1ed68-8c31-77ff-9208-3a9853d39c4c' as RunId;
  expect([await reader.run(missing), await reader.task(missing, task(missing).id)]).toEqual([undefined, undefined]);
});
