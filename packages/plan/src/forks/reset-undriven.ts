import { type ErrorEnvelope, err, type Json, ok, type Result, type RunId, timestampOf } from '@signalbox/model';
import type { EventDraft, NodeKey } from '@signalbox/runs';
import type { PlanRunOptions } from '../frames/engine-options.ts';
import { loopReset, nodeRecord } from '../structure/node-record.ts';

/** Restarts the count of a loop's maximum in a run that nothing drives. Returns false if there is nothing to reset. */
export async function resetUndriven(
  { commit, reader, clock }: Pick<PlanRunOptions, 'commit' | 'reader' | 'clock'>,
  run: RunId,
  node: string,
  by: string,
): Promise<Result<boolean, ErrorEnvelope>> {
  const record = await reader.run(run);
  if (record === undefined) return ok(false);
  const { frames, epoch, version } = record;
  const row = await reader.valueAt(run, 'status', node, frames);
  const reset = row === undefined ? undefined : loopReset(nodeRecord.parse(row));
  if (reset === undefined) return ok(false);
  const at = timestampOf(clock);
  const event: EventDraft = { type: 'operator.acted', action: 'reset', node: node as NodeKey, by };
  const written = await commit.commit(
    {
      at,
      intervals: [{ space: 'status', key: node, fromFrame: frames, change: { kind: 'set', value: reset as Json } }],
      events: [event],
    },
    { run, epoch, version },
  );
  return written.ok ? ok(true) : err(written.error);
}
