import type { RunReader, RunRecord } from '@signalbox/runs';

/** What lines that belong together have in common: the run's own correlation id, else that of the run above it, else its id. */
export async function correlationOf(reader: Pick<RunReader, 'run'>, run: RunRecord): Promise<string> {
  if (run.correlationId !== undefined) return run.correlationId;
  if (run.origin?.kind !== 'sub-plan') return run.id;
  const parent = await reader.run(run.origin.run);
  return parent === undefined ? run.id : correlationOf(reader, parent);
}
