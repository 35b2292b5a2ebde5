import type { RunReader, RunRecord } from '@signalbox/runs';

/** The common id of related log lines: the run's own correlation id, otherwise that of its parent, otherwise its id. */
export async function correlationOf(reader: Pick<RunReader, 'run'>, run: RunRecord): Promise<string> {
  if (run.correlationId !== undefined) return run.correlationId;
  if (run.origin?.kind !== 'sub-plan') return run.id;
  const parent = await reader.run(run.origin.run);
  return parent === undefined ? run.id : correlationOf(reader, parent);
}
