import { type ErrorEnvelope, err, type Json, ok, type Result, type RunId, timestampOf } from '@signalbox/model';
import { changeBetween, eventDraftOf } from '@signalbox/runs';
import type { StateEdit } from '../frames/command.ts';
import type { PlanRunOptions } from '../frames/engine-options.ts';
import { transitionsOf } from '../frames/run-memory.ts';
import { editedValue, editTrigger } from './edit-value.ts';

/** The result of an edit is invalid, and why. Nothing was changed. */
export interface EditRefused {
  readonly refused: string;
}

/**
 * Edits the state of a run that nothing drives; the next driver renders with it. `faultOf` validates the result against the plan; it gets
 * the exact value that is committed, or the commit fails. Returns false if the value is already there.
 */
export async function editUndriven(
  { commit, reader, clock }: Pick<PlanRunOptions, 'commit' | 'reader' | 'clock'>,
  run: RunId,
  edit: StateEdit,
  faultOf: (value: Json | undefined) => Promise<Result<string | undefined, ErrorEnvelope>> = async () => ok(undefined),
): Promise<Result<boolean | EditRefused, ErrorEnvelope>> {
  const { key, reason, by } = edit;
  const record = await reader.run(run);
  if (record === undefined) return ok(false);
  const { frames, epoch, version } = record;
  const old = await reader.valueAt(run, 'state', key, frames);
  const made = editedValue(old, edit);
  if (!made.ok) return ok({ refused: made.error });
  const fault = await faultOf(made.value);
  if (!fault.ok) return fault;
  if (fault.value !== undefined) return ok({ refused: fault.value });
  const change = changeBetween(old, made.value);
  if (change === undefined) return ok(false);
  const at = timestampOf(clock);
  const frame = Math.max(0, frames - 1);
  const index = await transitionsOf(reader, run, frame);
  const trigger = editTrigger(edit);
  const written = await commit.commit(
    {
      at,
      intervals: [{ space: 'state', key, fromFrame: frames, change }],
      transitions: [{ frame, index, key, change, trigger, at }],
      events: [
        eventDraftOf('state.changed', { frame, index, key, trigger }),
        eventDraftOf('state.edited', { key, frame, by, reason }),
      ],
    },
    { run, epoch, version },
  );
  return written.ok ? ok(true) : err(written.error);
}
