import { nodeHasher } from '@signalbox/journal';
import { type Json, type RunId, type Timestamp, timestampOf } from '@signalbox/model';
import { memoryRuns, type NodeKey, type Task, taskIdOf } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { manualMachine } from '../../test/support/run-builders.ts';
import { effectsOutside } from './effects-outside.ts';

/** A run whose rows a test lays out itself. */
function world() {
  const machine = manualMachine();
  const store = memoryRuns(nodeHasher);
  const now = () => timestampOf(machine.clock);
  const versions = new Map<RunId, number>();
  const write = async (run: RunId, writes: object) => {
    const version = versions.get(run) ?? 0;
    const committed = await store.commit({ at: now(), ...writes } as never, { run, epoch: 0, version });
    if (!committed.ok) throw new Error(committed.error.message);
    versions.set(run, committed.value.version);
  };
  return {
    store,
    write,
    async begin(origin?: object): Promise<RunId> {
      const run = machine.ids.mint<RunId>();
      const common = { driver: 'plan', name: 'p', tags: [], status: 'running', phase: 'EXECUTE', mode: 'AUTO' };
      const rest = { globalMode: 'IMPLEMENTATION', input: null, limits: {}, seed: 1, ...(origin && { origin }) };
      const events = [{ type: 'run.created', driver: 'plan', name: 'p', ...(origin && { origin }) }];
      await write(run, { run: { kind: 'create', run: { ...common, ...rest } }, events });
      return run;
    },
    async task(run: RunId, node: string, effects: Task['effects'], handledFrame?: number): Promise<Task> {
      const id = taskIdOf(run, node as NodeKey, 0, 'sig');
      const started = { id, node, iteration: 0, signature: 'sig', effects, createdAt: now(), startedAt: now() };
      const counts = { retryCount: 0, maxRetries: 3, backoffMs: 1 };
      const ended = handledFrame === undefined ? { status: 'running' } : { status: 'done', handledFrame };
      const task = { ...started, ...counts, ...ended } as Task;
      await write(run, { tasks: [task] });
      return task;
    },
    say: (run: RunId, { id }: Task, entries: readonly (readonly [Json, string])[]) =>
      write(run, {
        stream: entries.map(([payload, at], index) => ({ task: id, index, kind: 'message', payload, at })),
      }),
  };
}

const begun = (tool: string, external = true): Json => ({ v: 1, kind: 'tool_begun', call: 'c', tool, external });
const at = (second: number) => `2026-01-01T00:00:0${second}.000Z` as Timestamp;

describe('what the world keeps', () => {
  it('[A39] is work outside that the frame does not know to be done', async () => {
    const { store, begin, task } = world();
    const run = await begin();
    await task(run, 'mail', 'external', 2);
    await task(run, 'deploy', 'external');
    await task(run, 'compute', 'none');
    expect(await effectsOutside(store, run, { frame: 3 })).toEqual(['the work of deploy']);
    expect(await effectsOutside(store, run, { frame: 2 })).toEqual(['the work of mail', 'the work of deploy']);
  });

  it('[A39] is calls outside of agents, unless the fork goes on after them', async () => {
    const { store, begin, task, say } = world();
    const run = await begin();
    const agent = await task(run, 'agent', 'undoable', 5);
    await say(run, agent, [
      [begun('send'), at(1)],
      [begun('write_file', false), at(2)],
      [begun('pay'), at(3)],
    ]);
    expect(await effectsOutside(store, run, { frame: 6 })).toEqual([]);
    expect(await effectsOutside(store, run, { frame: 5 })).toEqual([
      'the call of send by agent',
      'the call of pay by agent',
    ]);
    expect(await effectsOutside(store, run, { frame: 4, from: { task: agent, at: at(2) } })).toEqual([
      'the call of pay by agent',
    ]);
  });

  it('[A39] is calls of tools that were not confined, which their checkpoints tell of', async () => {
    const { store, begin, task } = world();
    const run = await begin();
    const agent = await task(run, 'agent', 'undoable', 5);
    const call = (tool: string, second: number, beyond: boolean) => ({ task: agent.id, tool, at: at(second), beyond });
    const calls = [call('run_command', 1, true), call('write_file', 2, false), call('run_command', 3, true)];
    const outside = (place: object) => effectsOutside(store, run, place as never, () => calls);
    expect(await outside({ frame: 6 })).toEqual([]);
    expect(await outside({ frame: 5 })).toEqual([
      'the call of run_command by agent',
      'the call of run_command by agent',
    ]);
    expect(await outside({ frame: 5, from: { task: agent, at: at(2) } })).toEqual(['the call of run_command by agent']);
  });

  it('[A39] is all of a sub-plan that the fork begins anew', async () => {
    const { store, begin, task, write } = world();
    const run = await begin();
    const child = await begin({ kind: 'sub-plan', run, node: 'sub', iteration: 0 });
    await task(child, 'deploy', 'external', 0);
    const frame = (index: number) => ({
      index,
      at: at(index),
      trigger: { kind: 'task' },
      mounted: [],
      unmounted: [],
      written: [],
      digest: nodeHasher(''),
      verifiable: true,
    });
    const status = (from: number, value: Json) => [
      { space: 'status', key: 'sub', fromFrame: from, change: { kind: 'set', value } },
    ];
    const row = { iteration: 0, signature: 'sig' };
    await write(run, { frame: frame(0), intervals: status(0, { ...row, status: 'running' }) });
    await write(run, { frame: frame(1), intervals: status(1, { ...row, status: 'succeeded' }) });
    expect(await effectsOutside(store, run, { frame: 0 })).toEqual(['the work of deploy']);
    expect(await effectsOutside(store, run, { frame: 1 })).toEqual([]);
  });
});
