import { type ErrorEnvelope, err, ok, type Result, type RunId, timestampOf } from '@signalbox/model';
import { ROOT_ID } from '@signalbox/plan';
import type { Commit, Decision, NodeKey, RunReader, StopConditions } from '@signalbox/runs';
import type { DecisionDesk } from '../decisions/decision-desk.ts';
import { limitOf } from '../decisions/limit-decisions.ts';
import type { Machine } from '../machine.ts';
import type { PlanThreads } from '../threads/plan-threads.ts';
import type { RunBudget } from './run-budget.ts';
import { draftEvent } from './run-events.ts';
import { unknownRun } from './run-failures.ts';
import type { RunHost } from './run-host.ts';

export interface RaisePorts extends Pick<RunHost, 'finished'> {
  readonly store: Commit & RunReader;
  readonly machine: Machine;
  readonly threads: Pick<PlanThreads, 'command' | 'limit'>;
  readonly decisions: Pick<DecisionDesk, 'withdraw'>;
  readonly budget: Pick<RunBudget, 'verdict'>;
}

/** Returns whether the run is driven. */
export type Raise = (
  run: RunId,
  limits: StopConditions,
  by: string,
) => Promise<Result<'driven' | 'rests', ErrorEnvelope>>;

/**
 * Sets new limits for a run: through its thread, or in the record if nothing drives it. Waiting work continues if the run is driven;
 * questions about the limits are withdrawn.
 */
export function createRaise({ store, machine, threads, decisions, budget, finished }: RaisePorts): Raise {
  return async (run, limits, by) => {
    const told = await threads.command(run, { kind: 'raise', limits, by });
    if (told !== 'done') {
      if (told === 'over') await finished(run);
      const written = await write(run, limits, by);
      if (!written.ok) return written;
    }
    await withdrawQuestions(run, limits);
    if (told !== 'done') return ok('rests');
    await tellBelow(run, by);
    return ok('driven');
  };

  async function write(run: RunId, limits: StopConditions, by: string): Promise<Result<void, ErrorEnvelope>> {
    const record = await store.run(run);
    if (record === undefined) return err(unknownRun(run));
    const { epoch, version } = record;
    const written = await store.commit(
      {
        at: timestampOf(machine.clock),
        run: { kind: 'change', change: { limits: { ...record.limits, ...limits } } },
        events: [draftEvent(machine, 'operator.acted', { action: 'raise', by })],
      },
      { run, epoch, version },
    );
    return written.ok ? ok(undefined) : err(written.error);
  }

  /** Runs of sub-plans wait for the same limits. */
  async function tellBelow(run: RunId, by: string): Promise<void> {
    threads.limit(run, await budget.verdict(run));
    for (const { id, origin } of await store.children(run)) {
      if (origin?.kind !== 'sub-plan') continue;
      await threads.command(id, { kind: 'raise', limits: {}, by });
      await tellBelow(id, by);
    }
  }

  async function withdrawQuestions(run: RunId, limits: StopConditions): Promise<void> {
    const open = await store.decisions({ run, status: ['open'] });
    // A question is about the limit at that time: with another one, even a lower one, it is asked again if needed.
    const isOver = (decision: Decision) => {
      const about = limitOf(decision);
      if (about === undefined || about.ceiling !== undefined) return false;
      return (limits[about.limit] ?? about.allowed) !== about.allowed;
    };
    if (open.some(({ decision }) => isOver(decision))) await decisions.withdraw(run, ROOT_ID as NodeKey, isOver);
  }
}
