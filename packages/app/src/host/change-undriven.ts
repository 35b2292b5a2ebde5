import { type ErrorEnvelope, err, ok, type Result, type RunId, timestampOf } from '@signalbox/model';
import { endUndriven, type UndrivenDeed, type UndrivenEnd } from '@signalbox/plan';
import { type Commit, hasRunEnded, type RunReader, type RunRecord } from '@signalbox/runs';
import type { Machine } from '../machine.ts';
import { draftEvent } from './run-events.ts';

export type ChangeUndriven = (run: RunId, to: UndrivenEnd, deed: UndrivenDeed) => Promise<Result<void, ErrorEnvelope>>;

/** Commits that were on their way when the run lost its driver may still arrive. */
const TRIES = 5;

/** Ends or rests a run that nothing drives, so that nothing in it shows as running. */
export function changeUndriven(commit: Commit, reader: RunReader, machine: Machine): ChangeUndriven {
  const change = async (
    record: RunRecord,
    to: UndrivenEnd,
    deed: UndrivenDeed,
  ): Promise<Result<void, ErrorEnvelope>> => {
    if (!hasRunEnded(record.status)) return endUndriven({ commit, reader, ...machine }, record, to, deed);
    // It was resumed without progress: no end follows another.
    const taken = await takeUp(record);
    return taken.ok ? change(taken.value, to, deed) : taken;
  };

  async function takeUp({ id: run, epoch, version, status }: RunRecord): Promise<Result<RunRecord, ErrorEnvelope>> {
    const events = [draftEvent(machine, 'run.status', { from: status, to: 'running' })];
    const running = { status: 'running', error: null, stopReason: null } as const;
    const at = timestampOf(machine.clock);
    const written = await commit.commit(
      { at, run: { kind: 'change', change: running }, events },
      { run, epoch, version },
    );
    if (!written.ok) return err(written.error);
    return ok((await reader.run(run)) as RunRecord);
  }

  return async (run, to, deed) => {
    for (let tries = 1; ; tries++) {
      const record = await reader.run(run);
      if (record === undefined || record.status === 'completed') return ok(undefined);
      const changed = await change(record, to, deed);
      if (changed.ok || changed.error.code !== 'run/stale-version' || tries === TRIES) return changed;
    }
  };
}
