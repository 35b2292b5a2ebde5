import { unknownRun } from '@signalbox/app/all-runs';
import type { RunReader, RunRecord } from '@signalbox/app/host';
import { type ErrorEnvelope, err, failure, ok, type Result, type RunId, runId } from '@signalbox/model';

export { unknownRun };

/** The run with a full id. */
export async function knownRun(reader: RunReader, given: string): Promise<Result<RunRecord, ErrorEnvelope>> {
  const id = runId.safeParse(given);
  const record = id.success ? await reader.run(id.data) : undefined;
  return record === undefined ? err(unknownRun(given)) : ok(record);
}

export function unknownFrame(run: RunId, frames: number): ErrorEnvelope {
  return failure('run/frame-unknown', {
    message: `Run ${run} has ${frames} frames; the requested frame does not exist.`,
    suggestion: 'Request a frame from 0 to below the number of frames.',
    details: { run, frames },
  });
}
