import { defined, type RunSummary, runId } from '@signalbox/model';

/** Two runs, as in the address. Without `a`, the run before `b`. */
export interface ComparePlace {
  readonly a?: string;
  readonly b?: string;
}

export function comparePlaceOf(given: Readonly<Record<string, unknown>>): ComparePlace {
  return defined({ a: runId.safeParse(given.a).data, b: runId.safeParse(given.b).data });
}

/** What a run is compared with unless somebody says so: what it was forked from, else the run of the same plan before it. */
export function previousOf(run: RunSummary, runs: readonly RunSummary[]): string | undefined {
  const { origin, entry } = run.record;
  if (origin?.kind === 'fork') return origin.run;
  return runs.find(
    other =>
      other.id !== run.id && other.record.entry === entry && other.createdAt <= run.createdAt && other.kind === 'plan',
  )?.id;
}
