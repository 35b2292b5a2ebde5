import path from 'node:path';
import {
  hostDisk,
  nodeHasher,
  openContentStore,
  openJournal,
  sqliteLocks,
  type VerifyReport,
} from '@signalbox/journal';
import {
  chainHead,
  type Digest,
  EMPTY_HEAD,
  type ErrorEnvelope,
  err,
  ok,
  type Result,
  type RunId,
} from '@signalbox/model';
import { canonicalEvent } from '@signalbox/runs';
import { type Archive, openArchive, StoreDamage, StoreFault } from '@signalbox/store';
import { usageError } from '../command-error.ts';
import { unknownRun } from '../runs/run-failures.ts';
import { verifyDirectory } from '../verify-directory.ts';
import { deriveJournal } from './derive-journal.ts';
import { runJournalSchema, sessionOfRun } from './run-journal-event.ts';

/** How far a run can be relied on. */
export interface RunReport {
  readonly ok: boolean;
  readonly run: RunId;
  readonly events: number;
  readonly head: Digest;
  /** The first thing that is wrong, and where. */
  readonly defect?: { readonly where: 'chain' | 'journal' | 'expected head'; readonly what: string };
  /** Its journal, as files; absent where the chain does not hold. */
  readonly journal?: VerifyReport;
}

/** A run to be checked, where it is. */
export interface VerifyJob {
  readonly dataDirectory: string;
  readonly run: RunId;
  readonly expectHead?: string | undefined;
}

/**
 * Checks a run of a data directory: the chain of its events, its journal, and that the two agree. The journal is derived from
 * the events, so it is brought up to date first; what it held before must be what the events say now.
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
    const record = await archive.value.run(run);
    if (record === undefined) return err(unknownRun(run));
    const chain = chainOf(archive.value, run);
    const facts = { run, events: chain.events, head: chain.head };
    const told = record.nextSeq === chain.events && record.head === chain.head;
    const broken = chain.fault ?? (told ? undefined : `its ${chain.events} events do not end where its record says`);
    if (broken !== undefined) return ok({ ok: false, ...facts, defect: { where: 'chain', what: broken } });
    if (expectHead !== undefined && !chain.heads.has(expectHead)) {
      return ok({ ok: false, ...facts, defect: { where: 'expected head', what: `${expectHead} is no head of it` } });
    }
    const derived = await deriveJournal(dataDirectory, archive.value, run);
    const directory = path.join(dataDirectory, 'runs', run);
    const journal = verifyDirectory(directory);
    if (!journal.ok) return derived.ok ? journal : derived;
    // A journal that somebody else writes at this moment says nothing of the run.
    if (!derived.ok && derived.error.retry.kind !== 'not_retryable') return derived;
    const wrong = !derived.ok
      ? derived.error.message
      : (journal.value.defect?.reason ?? disagreement(dataDirectory, run, chain.head));
    const report = { ...facts, journal: journal.value };
    if (wrong === undefined) return ok({ ok: journal.value.ok, ...report });
    return ok({ ok: false, ...report, defect: { where: 'journal', what: wrong } });
  } finally {
    archive.value.close();
  }
}

function chainOf(archive: Archive, run: RunId) {
  let head: Digest = EMPTY_HEAD;
  let events = 0;
  /** Every head that the run ever had. */
  const heads = new Set<string>([EMPTY_HEAD]);
  let fault: string | undefined;
  try {
    for (const { event, hash } of archive.archived(run, 'journal')) {
      const next = chainHead(nodeHasher, head, canonicalEvent(event));
      if (next !== hash || event.seq !== events || event.runId !== run) {
        fault = `the hash of event ${events} does not hold: it, or one before it, was changed`;
        break;
      }
      head = next;
      heads.add(head);
      events += 1;
    }
  } catch (cause) {
    if (!(cause instanceof StoreDamage || cause instanceof StoreFault)) throw cause;
    fault = cause.message;
  }
  return { head, events, heads, fault };
}

/** Why the events in the journal are not those of the run; they were written at another time, perhaps before a change. */
function disagreement(dataDirectory: string, run: RunId, expected: Digest): string | undefined {
  const journal = openJournal({
    disk: hostDisk,
    locks: sqliteLocks,
    hasher: nodeHasher,
    schema: runJournalSchema,
    snapshots: openContentStore({
      disk: hostDisk,
      hasher: nodeHasher,
      home: dataDirectory,
      name: 'snapshots',
      writer: 'nobody',
    }),
    home: dataDirectory,
    collection: 'runs',
    sessionId: sessionOfRun(run),
  }).read();
  if (!journal.ok) return journal.error.message;
  let head: Digest = EMPTY_HEAD;
  for (const { data } of journal.value.events()) head = chainHead(nodeHasher, head, canonicalEvent(data));
  return head === expected
    ? undefined
    : 'its events are not those of the run: the run was changed after they were written';
}
