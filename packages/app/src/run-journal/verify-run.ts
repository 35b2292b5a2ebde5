import path from 'node:path';
import type { VerifyReport } from '@signalbox/journal';
import { type Digest, EMPTY_HEAD, type ErrorEnvelope, err, ok, type Result, type RunId } from '@signalbox/model';
import type { TakenAway } from '@signalbox/runs';
import { type LogDefect, openArchive } from '@signalbox/store';
import { usageError } from '../command-error.ts';
import { journalLength } from '../repair/run-journals.ts';
import { unknownRun } from '../runs/run-failures.ts';
import { verifyDirectory } from '../verify-directory.ts';
import { deriveJournal } from './derive-journal.ts';
import { journalDisagreement } from './journal-agreement.ts';

/** How far a run can be relied on. */
export interface RunReport {
  readonly ok: boolean;
  readonly run: RunId;
  readonly records: number;
  readonly events: number;
  readonly head: Digest;
  /** What was collapsed or redacted, by the records that say so; `isLater` where that was after the head that was expected. */
  readonly taken?: readonly (TakenAway & { readonly isLater?: true })[];
  /** What is wrong, and where; the first of them. */
  readonly defects?: readonly RunDefect[];
  /** Its journal, as files; absent where the log does not hold. */
  readonly journal?: VerifyReport;
  /** How many records the journal did not have yet; they were added. */
  readonly added?: number;
}

export type RunDefect = Omit<LogDefect, 'where'> & { readonly where: LogDefect['where'] | 'journal' | 'expected head' };

/** A run to be checked, where it is. */
export interface VerifyJob {
  readonly dataDirectory: string;
  readonly run: RunId;
  readonly expectHead?: string | undefined;
}

/**
 * Checks a run of a data directory: the chain of its log, every row that shows it against the log, every blob that it names, and its
 * journal. The journal holds the same records, so it is brought up to date first; what it held before must be what the log says now.
 */
export async function verifyRun(
  dataDirectory: string,
  run: RunId,
  expectHead?: string | undefined,
): Promise<Result<RunReport, ErrorEnvelope>> {
  if (expectHead !== undefined && !/^sha256:[0-9a-f]{64}$/.test(expectHead))
    return err(usageError(`${JSON.stringify(expectHead)} is not a head.`, 'A head is "sha256:" and 64 hex digits.'));
  const archive = openArchive({ path: path.join(dataDirectory, 'db.sqlite') });
  if (!archive.ok) return archive;
  try {
    const checked = archive.value.check(run);
    if (checked === undefined) return lostRun(dataDirectory, run);
    const { records, events, head, heads, taken } = checked;
    const facts = {
      run,
      records,
      events,
      head,
      ...(taken.length > 0 && { taken: markLater(taken, heads, expectHead) }),
    };
    // Rows of no run are shown in lists and sums beside those of this one.
    const defects: RunDefect[] = [...checked.defects, ...archive.value.unlisted()];
    if (checked.defects.some(({ where }) => where === 'log')) return ok({ ok: false, ...facts, defects });
    if (expectHead !== undefined && !heads.has(expectHead)) {
      defects.push({ where: 'expected head', what: `${expectHead} is no head of it` });
    }
    const derived = await deriveJournal(dataDirectory, archive.value, run);
    const journal = verifyDirectory(path.join(dataDirectory, 'runs', run));
    if (!journal.ok) return derived.ok ? journal : derived;
    // A journal that somebody else writes at this moment says nothing of the run.
    if (!derived.ok && derived.error.retry.kind !== 'not_retryable') return derived;
    const wrong = derived.ok
      ? (journal.value.defect?.reason ?? (await journalDisagreement(dataDirectory, archive.value, run)))
      : derived.error.message;
    if (wrong !== undefined) defects.push({ where: 'journal', what: wrong });
    const isWhole = journal.value.ok && defects.length === 0;
    const added = derived.ok && derived.value.added > 0 ? { added: derived.value.added } : {};
    return ok({
      ok: isWhole,
      ...facts,
      ...(defects.length === 0 ? {} : { defects }),
      journal: journal.value,
      ...added,
    });
  } finally {
    archive.value.close();
  }
}

/** A head vouches for what was taken away before it, not for what was taken out of its past later. */
function markLater(taken: readonly TakenAway[], heads: ReadonlySet<string>, expectHead: string | undefined) {
  const covered = expectHead === undefined ? -1 : [...heads].indexOf(expectHead);
  return covered < 0 ? taken : taken.map(one => (one.record < covered ? one : { ...one, isLater: true as const }));
}

/** A run that only its journal knows: the database lost it. */
function lostRun(dataDirectory: string, run: RunId): Result<RunReport, ErrorEnvelope> {
  const records = journalLength(dataDirectory, run);
  if (records === 0) return err(unknownRun(run));
  const what = `the database has nothing of run ${run}; its journal has ${records} records: "signalbox repair" restores it`;
  return ok({ ok: false, run, records: 0, events: 0, head: EMPTY_HEAD, defects: [{ where: 'log', what }] });
}
