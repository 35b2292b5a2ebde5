import { timestampOf } from '@signalbox/model';
import type { TaskId } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { manualMachine, memoryRun, someNode, someTask } from '../../test/support/run-builders.ts';
import { draftEvent } from '../host/run-events.ts';
import { countLostCalls } from './lost-calls.ts';

const called = { node: someNode, task: someTask, provider: 'anthropic', model: 'claude-sonnet-5-5' };

describe('calls of a process that died', () => {
  it('[A1103] are counted once, with all that was reserved for them; those that ended are not counted again', async () => {
    const machine = manualMachine();
    const { store, run } = await memoryRun(machine);
    const begun = (call: string) =>
      draftEvent(machine, 'model.called', { ...called, call, input: 300, output: 200, costMicroUsd: 50 });
    const at = timestampOf(machine.clock);
    const events = [
      begun('a'),
      begun('b'),
      draftEvent(machine, 'model.answered', { ...called, call: 'a', outcome: 'answered', unknown: [] }),
    ];
    await store.commit({ at, events }, { run, version: 'any' });
    const orphaned = { ...store, orphans: async () => [{ run, task: {} as never }] };
    const owner = 'owner' as never;
    expect(await countLostCalls({ store: orphaned, machine }, owner)).toBe(1);
    expect(await countLostCalls({ store: orphaned, machine }, owner)).toBe(0);
    expect(await store.usageOfTree(run)).toMatchObject({
      ...{ calls: 1, inputTokens: 300, outputTokens: 200, costMicroUsd: 50 },
    });
    const told = (await store.events(run, 0, 99)).map(({ event }) => event);
    expect(told.filter(({ type }) => type === 'model.answered')).toMatchObject([
      { call: 'a', outcome: 'answered' },
      { call: 'b', outcome: 'lost', unknown: ['input', 'output'] },
    ]);
  });

  it('[A1230] are found without reading what came before the attempts that were under way', async () => {
    const machine = manualMachine();
    const { store, run } = await memoryRun(machine);
    const at = timestampOf(machine.clock);
    const call = (id: string) =>
      draftEvent(machine, 'model.called', { ...called, call: id, input: 3, output: 2, costMicroUsd: 5 });
    const started = (task: TaskId) =>
      draftEvent(machine, 'task.started', { task, node: someNode, iteration: 0, attempt: 1 });
    const other = '018f0000-0000-7000-8000-000000000002' as TaskId;
    const before = Array.from({ length: 950 }, (_, n) => call(`before ${n}`));
    const between = Array.from({ length: 130 }, (_, n) => call(`between ${n}`));
    const after = [started(other), ...between, started(someTask), call('last')];
    const kept = await store.commit({ at, events: [...before, ...after] }, { run, version: 'any' });
    expect(kept).toMatchObject({ ok: true });
    const read: number[] = [];
    const watched = {
      ...store,
      orphans: async () => [someTask, other].map(id => ({ run, task: { id } as never })),
      events: (...[of, from, limit]: Parameters<typeof store.events>) => {
        read.push(from);
        return store.events(of, from, limit);
      },
    };
    expect(await countLostCalls({ store: watched, machine }, 'owner' as never)).toBe(131);
    expect(Math.min(...read)).toBeGreaterThan(800);
  });
});
