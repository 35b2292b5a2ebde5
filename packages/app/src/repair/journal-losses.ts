import { type ErrorEnvelope, failure, type ProjectId, type RunId } from '@signalbox/model';
import { readHeldLengths } from '@signalbox/store';
import type { RepairReport } from './repair-home.ts';

/** Records of a run or project that a database holds and its journals do not. */
export interface JournalLoss {
  readonly log: RunId | ProjectId;
  readonly records: number;
  /** How many the database holds. */
  readonly of: number;
}

/** What a database holds, as far as it can be read. */
export interface Holding {
  readonly lengths: ReadonlyMap<RunId | ProjectId, number>;
  /** Why nothing can be read. A missing or empty database holds nothing, and has no fault. */
  readonly fault?: ErrorEnvelope;
}

export function holdingOf(file: string): Holding {
  const lengths = readHeldLengths({ path: file });
  if (lengths.ok) return { lengths: lengths.value };
  return { lengths: new Map(), ...(lengths.error.code !== 'store/missing' && { fault: lengths.error }) };
}

/** What would be lost if a database had only what was restored from the journals. */
export function lossesOf(
  { lengths }: Holding,
  { restored, projects }: Pick<RepairReport, 'restored' | 'projects'>,
): readonly JournalLoss[] {
  const back = new Map<RunId | ProjectId, number>([
    ...restored.map(({ run, records }) => [run, records] as const),
    ...(projects?.restored ?? []).map(({ project, records }) => [project, records] as const),
  ]);
  return [...lengths].flatMap(([log, of]) => {
    const records = of - (back.get(log) ?? 0);
    return records > 0 ? [{ log, records, of }] : [];
  });
}

/** Why a database is not set aside unless that is confirmed. Undefined if its journals can replace it, as far as anyone knows. */
export function replacementRefusal(
  holding: Holding,
  report: Pick<RepairReport, 'restored' | 'projects'>,
): ErrorEnvelope<'store/unusable'> | undefined {
  const losses = lossesOf(holding, report);
  if (losses.length > 0) return lacking(losses, countOf(report) === 0);
  const { fault } = holding;
  if (fault?.code === 'store/older' || fault?.code === 'store/newer') return uncompared(fault);
  return fault !== undefined && countOf(report) === 0 ? nothingToRebuildFrom(fault) : undefined;
}

function countOf({ restored, projects }: Pick<RepairReport, 'restored' | 'projects'>): number {
  return restored.length + (projects?.restored.length ?? 0);
}

const NAMED = 5;

function lacking(losses: readonly JournalLoss[], isEmpty: boolean): ErrorEnvelope<'store/unusable'> {
  const named = losses.slice(0, NAMED).map(({ log, records, of }) => `${log} (${records} of ${of} records)`);
  const more = losses.length > NAMED ? ` and ${losses.length - NAMED} more` : '';
  const without = isEmpty ? 'There are no journals to rebuild the database from' : 'The journals lack records';
  return failure('store/unusable', {
    message: `${without}. A rebuild would lose ${named.join(', ')}${more}.`,
    suggestion:
      'Nothing was changed. Check the database with "signalbox doctor --deep", and repair it in place with "signalbox repair". To lose ' +
      'these records: "signalbox repair --from-journals --yes"; the old database stays beside the new one.',
    details: { lost: losses.map(loss => ({ ...loss })) },
  });
}

function uncompared({ message, suggestion }: ErrorEnvelope): ErrorEnvelope<'store/unusable'> {
  return failure('store/unusable', {
    message: `What the journals lack is unknown. ${message}`,
    suggestion: `Nothing was changed. ${suggestion} To set it aside all the same: "signalbox repair --from-journals --yes".`,
  });
}

function nothingToRebuildFrom({ message }: ErrorEnvelope): ErrorEnvelope<'store/unusable'> {
  return failure('store/unusable', {
    message: `There are no journals to rebuild the database from. ${message}`,
    suggestion:
      'Nothing was changed. Restore a backup with "signalbox restore". To set the database aside and begin with an empty one: ' +
      '"signalbox repair --from-journals --yes".',
  });
}
