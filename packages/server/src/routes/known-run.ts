import { unknownRun } from '@signalbox/app/all-runs';
import type { RunReader, RunRecord } from '@signalbox/app/host';
import { type ErrorEnvelope, err, failure, ok, type Result, type RunId, runId } from '@signalbox/model';

export { unknownRun };

/** The run of a whole id. */
export async function knownRun(reader: RunReader, given: string): Promise<Result<RunRecord, ErrorEnvelope>> {
  const id = runId.safeParse(given);
  const record = id.success ? await reader.run(id.data) : undefined;
  return record === undefined ? err(unknownRun(given)) : ok(record);
}

export function unknownFrame(run: RunId, frames: number): ErrorEnvelope {
  return failure('run/frame-unknown', {
    message: `Run ${run} has ${frames} frames, and not the one that was asked for.`,
    suggestion: 'Ask for a frame from 0 on that is below the number of frames.',
    details: { run, frames },
  });
}
