import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { VerifyReport } from '@signalbox/journal';
import {
  type Digest,
  EMPTY_HEAD,
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type Result,
  type RunId,
} from '@signalbox/model';
import type { TakenAway } from '@signalbox/runs';
import type { LogDefect } from '@signalbox/store';
import { usageError } from '../command-error.ts';
import { unknownRun } from '../host/run-failures.ts';
import { readNote } from '../redact/taking-note.ts';
import { openArchive } from '../repair/lost-database.ts';
import { journalLength } from '../repair/run-journals.ts';
import { verifyDirectory } from '../verify-directory.ts';
import { type JournalRecords, journalDisagreement, readJournal } from './journal-agreement.ts';
import { openWrittenLengths } from './written-lengths.ts';

/** How far a run can be relied on. */
export interface RunReport {
  readonly ok: boolean;
  readonly run: RunId;
  readonly records: number;
  readonly events: number;
  readonly head: Digest;
  /** What was collapsed or redacted, according to the records; `isLater` if that was after the expected head. */
  readonly taken?: readonly (TakenAway & { readonly isLater?: true })[];
  /** The first defects, with their places. */
  readonly defects?: readonly RunDefect[];
  /** The check of its journal files; absent if the log is broken. */
  readonly journal?: VerifyReport;
  /** How many records the journal lacks. The owner of the data directory writes them. */
  readonly behind?: number;
}

export type RunDefect = Omit<LogDefect, 'where'> & { readonly where: LogDefect['where'] | 'journal' | 'expected head' };

/** A run to check, and where it is. */
export interface VerifyJob {
  readonly dataDirectory: string;
  readonly run: RunId;
  readonly expectHead?: string | undefined;
}

/**
 * Checks a run of a data directory: the chain of its log, every row against the log, every blob that it names, and its journal. Writes
 * nothing and takes no lock: the owner may continue meanwhile. The journal follows the log, so it is read first; its content must match the
 * log.
 */
export async function verifyRun(
  dataDirectory: string,
  run: RunId,
  expectHead?: string | undefined,
): Promise<Result<RunReport, ErrorEnvelope>> {
  if (expectHead !== undefined && !/^sha256:[0-9a-f]{64}$/.test(expectHead))
    return err(usageError(`${JSON.stringify(expectHead)} is not a head.`, 'A head is "sha256:" and 64 hex digits.'));
  if (isBeingTaken(dataDirectory, run)) return err(beingTaken(run));
  const first = await verifyOnce(dataDirectory, run, expectHead);
  if (first.ok && first.value.ok) return first;
  // A journal that was rewritten while it was read is complete the next time.
  if (isBeingTaken(dataDirectory, run)) return err(beingTaken(run));
  return verifyOnce(dataDirectory, run, expectHead);
}

async function verifyOnce(
  dataDirectory: string,
  run: RunId,
  expectHead: string | undefined,
): Promise<Result<RunReport, ErrorEnvelope>> {
  const noted = openWrittenLengths(dataDirectory, 'journaled').of(run) ?? 0;
  const journal = journalIn(dataDirectory, run);
  if (!journal.ok) return journal;
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
    // Rows of no run appear in lists and sums beside those of this one.
    const defects: RunDefect[] = [...checked.defects, ...archive.value.unlisted()];
    if (checked.defects.some(({ where }) => where === 'log')) return ok({ ok: false, ...facts, defects });
    if (expectHead !== undefined && !heads.has(expectHead)) {
      defects.push({ where: 'expected head', what: `${expectHead} is no head of it` });
    }
    const { report, held } = journal.value;
    const short = noted > held.records.length ? `it has ${held.records.length} records, and had ${noted}` : undefined;
    const wrong = report?.defect?.reason ?? (await journalDisagreement(held, archive.value, run)) ?? short;
    if (wrong !== undefined) defects.push({ where: 'journal', what: wrong });
    const behind = records - held.records.length;
    return ok({
      ok: defects.length === 0 && report?.ok !== false,
      ...facts,
      ...(defects.length > 0 && { defects }),
      ...(report !== undefined && { journal: report }),
      ...(behind > 0 && wrong === undefined && { behind }),
    });
  } catch (cause) {
    // This check is for missing pages or columns.
    if (cause instanceof Error && 'errcode' in cause) return err(unreadable(run, cause.message));
    throw cause;
  } finally {
    archive.value.close();
  }
}

/** A run that just started has none. */
function journalIn(
  dataDirectory: string,
  run: RunId,
): Result<{ readonly report?: VerifyReport; readonly held: JournalRecords }, ErrorEnvelope> {
  const directory = path.join(dataDirectory, 'runs', run);
  const report = verifyDirectory(directory);
  if (!report.ok && report.error.code === 'command/not-a-journal' && !hasSegments(directory))
    return ok({ held: { records: [] } });
  if (!report.ok) return ok({ held: { records: [], fault: report.error.message } });
  return ok({ report: report.value, held: readJournal(dataDirectory, run) });
}

/** The manifest is created after the folder and before the first segment: it is missing only if there is a segment. */
function hasSegments(directory: string): boolean {
  const events = path.join(directory, 'events');
  return existsSync(events) && readdirSync(events).length > 0;
}

/** Whether bodies of the run are being replaced and its journal rewritten; or that was interrupted, and the next owner finishes it. */
function isBeingTaken(dataDirectory: string, run: RunId): boolean {
  try {
    return readNote(dataDirectory)?.runs.includes(run) === true;
  } catch {
    return false;
  }
}

/** A head vouches for removals before it, not for later ones in its past. */
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

function unreadable(run: RunId, why: string): ErrorEnvelope<'store/unusable'> {
  return failure('store/unusable', {
    message: `Run ${run} cannot be checked, because the database is damaged or was changed: ${why}.`,
    suggestion: 'Look closer with "signalbox doctor --deep", then run "signalbox repair".',
    details: { run },
  });
}

function beingTaken(run: RunId): ErrorEnvelope<'STORE_IO_FAILED'> {
  return failure('STORE_IO_FAILED', {
    message: `Run ${run} was not checked: something is being taken out of it, and its journal is written again.`,
    suggestion:
      'Check it again in a moment. If nothing owns the data directory, the next start of an owner ends what was cut off.',
    retry: { kind: 'retryable_after_ms', afterMs: 1000 },
    details: { run },
  });
}
