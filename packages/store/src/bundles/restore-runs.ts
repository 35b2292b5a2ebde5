import type { DatabaseSync } from 'node:sqlite';
import { type ErrorEnvelope, err, failure, type Hasher, ok, type RunId } from '@signalbox/model';
import {
  type ArchiveRow,
  type AwayCheck,
  awayCheck,
  type LogRecord,
  type RestoreError,
  type RunRestore,
} from '@signalbox/runs';
import { replayRows } from '../runs/replay-rows.ts';
import type { RunTables } from '../runs/run-tables.ts';
import { SQLITE_CONSTRAINT, sqliteCode } from '../sqlite/connection.ts';
import { type JsonColumns, StoreDamage, StoreFault } from '../sqlite/json-column.ts';

export interface RestorePorts {
  readonly database: DatabaseSync;
  readonly tables: RunTables;
  readonly json: JsonColumns;
  readonly hasher: Hasher;
  /** Clears caches of rows, which may be stale. */
  readonly forget: () => void;
}

/** Writes the logs of runs in one transaction: a killed process leaves all of them or none. */
export function restoreRuns(ports: RestorePorts): RunRestore {
  const { database, json, forget } = ports;
  return {
    restore(rows) {
      forget();
      try {
        database.exec('begin immediate');
        const runs = keepAll(ports, rows);
        database.exec('commit');
        return ok(runs);
      } catch (cause) {
        if (database.isTransaction) database.exec('rollback');
        if (cause instanceof Refusal) return err(cause.envelope);
        return err(failureOf(cause));
      } finally {
        forget();
      }
    },
    texts: { textOf: json.blobText, putText: json.putText },
  };
}

/** The run of the most recent records. */
interface Open {
  readonly id: RunId;
  readonly n: number;
}

function keepAll(ports: RestorePorts, rows: Iterable<ArchiveRow>): readonly RunId[] {
  const { tables } = ports;
  const kept = new Map<RunId, AwayCheck>();
  let open: Open | undefined;
  for (const { part, row } of rows) {
    if (part === 'records') {
      open = keepRecord(ports, row, kept);
    } else {
      if (open === undefined) throw refusal('BUNDLE_INVALID_FORMAT', `rows of ${part} have no run`);
      tables.streams.insert(open.n, row);
    }
  }
  for (const [run, away] of kept) {
    const fault = away.end();
    if (fault !== undefined) {
      throw refusal('BUNDLE_INTEGRITY_FAILED', `record ${fault.record} of run ${run} is refused: ${fault.what}`);
    }
  }
  return [...kept.keys()];
}

function keepRecord({ tables, json, hasher }: RestorePorts, record: LogRecord, kept: Map<RunId, AwayCheck>): Open {
  const away = awayCheck();
  const replayed = replayRows(tables, record, { hasher, textOf: json.blobText, awayOf: log => kept.get(log) ?? away });
  if (!replayed.ok) {
    const { kind, why } = replayed.error;
    throw refusal(
      kind === 'chain' ? 'BUNDLE_INTEGRITY_FAILED' : 'BUNDLE_INVALID_FORMAT',
      `a record is refused: ${why}`,
    );
  }
  const { run, outcome } = replayed.value;
  const { id, records } = outcome.record;
  if (records > 1 && !kept.has(id)) throw new Refusal(taken(id));
  if (records === 1) kept.set(id, away);
  return { id, n: run };
}

class Refusal extends Error {
  readonly envelope: RestoreError;

  constructor(envelope: RestoreError) {
    super(envelope.message);
    this.envelope = envelope;
  }
}

function refusal(
  code: 'BUNDLE_INVALID_FORMAT' | 'BUNDLE_EVENT_ORDER_INVALID' | 'BUNDLE_INTEGRITY_FAILED',
  why: string,
): Refusal {
  return new Refusal(
    failure(code, {
      message: `Nothing was imported: ${why}.`,
      suggestion: 'Export the run again from its source; this copy is not reliable.',
      details: { why },
    }),
  );
}

function taken(run: RunId): ErrorEnvelope<'run/exists'> {
  return failure('run/exists', {
    message: `Run ${run} already exists.`,
    suggestion: 'Open it, or import the bundle as a new run.',
    details: { run },
  });
}

function failureOf(cause: unknown): RestoreError {
  const code = sqliteCode(cause);
  const why = cause instanceof Error ? cause.message : String(cause);
  if (code === SQLITE_CONSTRAINT || cause instanceof StoreDamage) return refusal('BUNDLE_INVALID_FORMAT', why).envelope;
  if (code === undefined && !(cause instanceof StoreFault)) throw cause;
  return failure('STORE_IO_FAILED', {
    message: `Nothing was imported: ${why}.`,
    suggestion: 'Make sure that the disk is writable and not full, then import again.',
    retry: { kind: 'retryable_immediate' },
  });
}
