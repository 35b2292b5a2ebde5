import { type ErrorEnvelope, type EventId, err, ok, type Result, type RunId, timestampOf } from '@signalbox/model';
import { changeBetween, type EventDraft, INTERNAL_EVENT_VERSION } from '@signalbox/runs';
import type { StateEdit } from '../frames/command.ts';
import type { PlanRunOptions } from '../frames/engine-options.ts';
import { transitionsOf } from '../frames/run-memory.ts';
import { EDIT_TRIGGER } from './state-edit.ts';

/**
 * Changes the state of a run that nothing drives: whoever takes it up renders with it. The caller has seen that the value
 * fits the plan. False where the value is there already.
 */
export async function editUndriven(
  { commit, reader, clock, ids }: Pick<PlanRunOptions, 'commit' | 'reader' | 'clock' | 'ids'>,
  run: RunId,
  { key, value, reason, by }: StateEdit,
): Promise<Result<boolean, ErrorEnvelope>> {
  const record = await reader.run(run);
  if (record === undefined) return ok(false);
  const { frames, epoch, version } = record;
  const change = changeBetween(await reader.valueAt(run, 'state', key, frames), value);
  if (change === undefined) return ok(false);
  const at = timestampOf(clock);
  const frame = Math.max(0, frames - 1);
  const index = await transitionsOf(reader, run, frame);
  const event = (type: string, fields: object) =>
    ({ v: INTERNAL_EVENT_VERSION, id: ids.mint<EventId>(), ts: at, type, ...fields }) as unknown as EventDraft;
  const written = await commit.commit(
    {
      at,
      intervals: [{ space: 'state', key, fromFrame: frames, change }],
      transitions: [{ frame, index, key, change, trigger: EDIT_TRIGGER, at }],
      events: [
        event('state.changed', { frame, index, key, trigger: EDIT_TRIGGER }),
        event('state.edited', { key, frame, by, reason }),
      ],
    },
    { run, epoch, version },
  );
  return written.ok ? ok(true) : err(written.error);
}
