import { type ErrorEnvelope, err, ok, type Result, timestampOf } from '@signalbox/model';
import type { Commit, RunRecord } from '@signalbox/runs';
import type { Machine } from '../machine.ts';
import { draftEvent } from './run-events.ts';

export interface UndrivenChange extends Pick<RunRecord, 'error'> {
  readonly status: 'paused' | 'failed';
}

/** What was done, and by whom. */
export interface Deed {
  readonly action: 'pause' | 'terminate';
  readonly by: string;
}

export type ChangeUndriven = (
  record: RunRecord,
  to: UndrivenChange,
  deed: Deed,
) => Promise<Result<void, ErrorEnvelope>>;

/** Changes a run that nothing drives, unless it changed since it was read. */
export function changeUndriven(commit: Commit, machine: Machine): ChangeUndriven {
  return async ({ id, epoch, version, status }, to, deed) => {
    const events = [
      draftEvent(machine, 'operator.acted', { ...deed }),
      draftEvent(machine, 'run.status', {
        from: status,
        to: to.status,
        ...(to.error === undefined ? {} : { error: to.error }),
      }),
    ];
    const at = timestampOf(machine.clock);
    const guard = { run: id, epoch, version };
    const written = await commit.commit({ at, run: { kind: 'change', change: to }, events }, guard);
    return written.ok ? ok(undefined) : err(written.error);
  };
}
