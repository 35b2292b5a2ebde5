import { timestampOf } from '@signalbox/model';
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
});
