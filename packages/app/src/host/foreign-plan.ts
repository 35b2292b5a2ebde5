import { type ErrorEnvelope, err, failure, ok, type Result, type RunId, timestampOf } from '@signalbox/model';
import { type Commit, eventsBefore, type RunReader, type RunRecord } from '@signalbox/runs';
import type { Machine } from '../machine.ts';
import { draftEvent } from './run-events.ts';

/**
 * An imported run, and every run derived from it, has someone else's plan. Its code does not run unconfined before a person trusts that
 * run, which is recorded in its log.
 */
export async function isForeign(
  reader: Pick<RunReader, 'run' | 'events'>,
  record: Pick<RunRecord, 'id' | 'origin' | 'nextSeq'>,
): Promise<boolean> {
  const lineage = [record];
  for (let { origin } = record; origin?.kind !== 'import'; ) {
    if (origin === undefined) return false;
    const above = await reader.run(origin.run);
    // Nothing says that it is the user's own.
    if (above === undefined) break;
    lineage.push(above);
    origin = above.origin;
  }
  for (const one of lineage) if (await isTrusted(reader, one)) return false;
  return true;
}

/** Searches back to the import of the run: earlier entries were made elsewhere. */
async function isTrusted(
  reader: Pick<RunReader, 'events'>,
  { id, nextSeq }: Pick<RunRecord, 'id' | 'nextSeq'>,
): Promise<boolean> {
  for await (const event of eventsBefore(reader, id, nextSeq)) {
    if (event.type === 'operator.acted' && event.action === 'trust') return true;
    if (event.type === 'run.imported') return false;
  }
  return false;
}

/** Makes sure that the plan of a run may run here, and records who trusted it if it is someone else's. */
export type Trust = (
  record: RunRecord,
  isTrusted: boolean | undefined,
  by: string | undefined,
) => Promise<Result<void, ErrorEnvelope>>;

export function createTrust(store: Commit & RunReader, machine: Machine): Trust {
  return async (record, trusted, by) => {
    if (!(await isForeign(store, record))) return ok(undefined);
    if (trusted !== true) return err(foreignPlan(record.id));
    const event = draftEvent(machine, 'operator.acted', { action: 'trust', by: by ?? 'signalbox' });
    const at = timestampOf(machine.clock);
    const told = await store.commit({ at, events: [event] }, { run: record.id, version: 'any' });
    return told.ok ? ok(undefined) : err(told.error);
  };
}

function foreignPlan(run: RunId): ErrorEnvelope<'run/foreign-plan'> {
  return failure('run/foreign-plan', {
    message: `Run ${run} was imported: its plan is somebody else's code, and was not run.`,
    suggestion: `Look at it with "signalbox replay ${run}". If you trust its author, say so with "signalbox resume ${run} --trust".`,
    details: { run },
  });
}
