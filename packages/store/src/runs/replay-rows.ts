import { chainHead, type Digest, EMPTY_HEAD, err, type Hasher, ok, type Result, type RunId } from '@signalbox/model';
import {
  type AwayCheck,
  type LogRecord,
  type OpenRecord,
  type Outcome,
  openForeignRecord,
  replayRecord,
} from '@signalbox/runs';
import { findRun, projectOutcome, viewOf } from './commit-rows.ts';
import type { RunTables } from './run-tables.ts';

export interface ReplayedRecord {
  /** The number of the run. */
  readonly run: number;
  readonly record: OpenRecord;
  readonly outcome: Outcome;
}

/** Why a record does not continue its log. */
export interface ReplayFault {
  readonly kind: 'chain' | 'body';
  readonly why: string;
}

export interface ReplayRowsOptions {
  readonly hasher: Hasher;
  readonly textOf: (blob: Digest) => string;
  /** Knows the previous records and which bodies were replaced. After the last record, the caller asks it for the end. */
  readonly awayOf: (log: RunId) => AwayCheck;
  readonly n?: number;
}

/**
 * Replays the next record of a log into the tables, from its bytes alone. The record must be chained to the previous one. `n` is the number
 * for a new run, if given.
 */
export function replayRows(
  tables: RunTables,
  record: LogRecord,
  { hasher, textOf, awayOf, n }: ReplayRowsOptions,
): Result<ReplayedRecord, ReplayFault> {
  const opened = openForeignRecord(record, hasher, textOf);
  if (!opened.ok) return err({ kind: 'body', why: opened.error });
  const { header, body } = opened.value;
  const { log, n: at, seq } = header;
  const found = findRun(tables, log);
  const before = found?.record.head ?? EMPTY_HEAD;
  if (chainHead(hasher, before, record.header) !== record.hash) {
    return err({ kind: 'chain', why: 'its hash does not hold: it, or one before it, was changed' });
  }
  const unexplained = awayOf(log).take(opened.value);
  if (unexplained !== undefined) return err({ kind: 'body', why: unexplained });
  const replayed = replayRecord(viewOf(tables, found), opened.value, record.hash);
  if (!replayed.ok) return err({ kind: 'body', why: replayed.error });
  const outcome = replayed.value;
  const run = projectOutcome(tables, found?.n ?? n, outcome, body.run !== undefined || body.retention !== undefined);
  const outsideIds = outcome.isFromOutside ? outcome.events().map(({ event }) => event.id) : [];
  tables.log.append(run, at, seq, record, outsideIds);
  tables.known.set(log, { n: run, record: outcome.record });
  return ok({ run, record: opened.value, outcome });
}
