import { existsSync } from 'node:fs';
import { type ErrorEnvelope, err, failure, ok, type PlanList, type Result, type WirePlan } from '@signalbox/model';
import { ROOT_ID } from '@signalbox/plan';
import type { RunReader, RunRecord } from '@signalbox/runs';

export interface PlansFilter {
  /** The `next` of the previous page. */
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

/** How many of the last runs are searched. */
const MAX_RUNS = 2_000;
const DEFAULT_LIMIT = 100;
const PAGE = 50;

/** The plans of the last runs, most recently run first. Runs of sub-plans count for their topmost plan. */
export async function knownPlans(
  reader: Pick<RunReader, 'runs' | 'valueAt'>,
  { after, limit = DEFAULT_LIMIT }: PlansFilter = {},
): Promise<Result<PlanList, ErrorEnvelope>> {
  const { byFile, isAll } = await runsByFile(reader);
  const files = [...byFile.keys()];
  const from = after === undefined ? 0 : files.indexOf(after) + 1;
  if (after !== undefined && from === 0) return err(unknownPlace());
  const page = files.slice(from, from + limit);
  const last = page.at(-1);
  const isMore = from + page.length < files.length;
  return ok({
    plans: await Promise.all(page.map(file => planOf(reader, file, byFile.get(file) ?? []))),
    ...(isMore && last !== undefined && { next: last }),
    ...(!isAll && { lookedAt: MAX_RUNS }),
  });
}

async function runsByFile(reader: Pick<RunReader, 'runs'>) {
  const byFile = new Map<string, RunRecord[]>();
  let looked = 0;
  for (let place: { readonly after?: RunRecord['id'] } = {}; ; ) {
    const { items, next } = await reader.runs({ ...place, limit: Math.min(PAGE, MAX_RUNS - looked) });
    for (const record of items) {
      const file = record.origin?.kind === 'sub-plan' ? undefined : record.source?.entry;
      if (file === undefined) continue;
      const known = byFile.get(file);
      if (known === undefined) byFile.set(file, [record]);
      else known.push(record);
    }
    looked += items.length;
    if (next === undefined) return { byFile, isAll: true };
    if (looked >= MAX_RUNS) return { byFile, isAll: false };
    place = { after: next };
    // Yields, so that other requests are answered.
    await new Promise<void>(resolve => setImmediate(resolve));
  }
}

async function planOf(reader: Pick<RunReader, 'valueAt'>, file: string, runs: readonly RunRecord[]): Promise<WirePlan> {
  const [last] = runs as readonly [RunRecord, ...RunRecord[]];
  const root = await reader.valueAt(last.id, 'node', ROOT_ID, last.frames);
  const { data } = (root ?? {}) as { readonly data?: { readonly name?: string } };
  return {
    file,
    // A run without a frame has only its given name.
    name: data?.name ?? last.name,
    runs: runs.length,
    lastRun: { id: last.id, status: last.status, createdAt: last.createdAt },
    exists: existsSync(file),
  };
}

function unknownPlace(): ErrorEnvelope<'VALIDATION_ERROR'> {
  return failure('VALIDATION_ERROR', {
    message: 'The list of plans has no such position: "after" must be the "next" of the previous page.',
    suggestion: 'Start again from the first page.',
  });
}
