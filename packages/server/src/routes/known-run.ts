import type { RunReader, RunRecord } from '@signalbox/app/runs';
import { type ErrorEnvelope, err, failure, ok, type Result, type RunId, runId } from '@signalbox/model';

/** The run of a whole id. */
export async function knownRun(reader: RunReader, given: string): Promise<Result<RunRecord, ErrorEnvelope>> {
  const id = runId.safeParse(given);
  const record = id.success ? await reader.run(id.data) : undefined;
  return record === undefined ? err(unknownRun(given)) : ok(record);
}

export function unknownRun(given: string): ErrorEnvelope<'run/unknown'> {
  const shown = given.slice(0, 64);
  return failure('run/unknown', {
    message: `There is no run ${shown} in this data directory.`,
    suggestion: 'List the runs and give the whole id of one.',
    details: { run: shown },
  });
}

export function unknownFrame(run: RunId, frames: number): ErrorEnvelope {
  return failure('run/frame-unknown', {
    message: `Run ${run} has ${frames} frames, and not the one that was asked for.`,
    suggestion: 'Ask for a frame from 0 on that is below the number of frames.',
    details: { run, frames },
  });
}
