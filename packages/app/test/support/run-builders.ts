import { nodeHasher } from '@signalbox/journal';
import { Bug, createIdSource, type RunId, timestampOf } from '@signalbox/model';
import { type MemoryRuns, memoryRuns, type NodeKey, type TaskId } from '@signalbox/runs';
import { type FakeClock, fakeClock, seededRng } from '@signalbox/testkit';
import type { Machine } from '../../src/machine.ts';

/** Timers that call back when their clock is moved by `pass`. */
export interface ManualMachine extends Machine {
  readonly clock: FakeClock;
  pass(ms: number): void;
}

export function manualMachine(): ManualMachine {
  const clock = fakeClock();
  const rng = seededRng(1);
  let waiting: { readonly at: number; readonly run: () => void }[] = [];
  return {
    clock,
    rng,
    ids: createIdSource(clock, rng),
    timers: {
      after(ms, run) {
        const entry = { at: clock.now() + ms, run };
        waiting.push(entry);
        return () => {
          waiting = waiting.filter(other => other !== entry);
        };
      },
    },
    pass(ms) {
      clock.advance(ms);
      const due = waiting.filter(({ at }) => at <= clock.now());
      waiting = waiting.filter(({ at }) => at > clock.now());
      for (const { run } of due) run();
    },
  };
}

/** A store in memory with one run that nobody drives. */
export async function memoryRun(machine: Machine): Promise<{ readonly store: MemoryRuns; readonly run: RunId }> {
  const store = memoryRuns(nodeHasher);
  const run = machine.ids.mint<RunId>();
  const created = await store.commit(
    {
      at: timestampOf(machine.clock),
      run: {
        kind: 'create',
        run: {
          driver: 'plan',
          name: 'plan',
          tags: [],
          status: 'running',
          phase: 'EXECUTE',
          mode: 'AUTO',
          globalMode: 'IMPLEMENTATION',
          input: null,
          limits: {},
          seed: 1,
        },
      },
      events: [{ type: 'run.created', driver: 'plan', name: 'plan' }],
    },
    { run, epoch: 0, version: 0 },
  );
  if (!created.ok) throw new Bug(created.error.message);
  return { store, run };
}

export const someTask = '018f0000-0000-7000-8000-000000000001' as TaskId;
export const someNode = 'node' as NodeKey;
