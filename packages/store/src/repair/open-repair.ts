import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { hostDisk, nodeHasher, sqliteCode } from '@signalbox/journal';
import {
  defined,
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type ProjectId,
  type Result,
  type RunId,
} from '@signalbox/model';
import { type AwayCheck, awayCheck, type LogRecord, openRecord } from '@signalbox/runs';
import { openBlobFiles } from '../blobs/blob-files.ts';
import { projectRows } from '../fleet/project-rows.ts';
import { migrate } from '../migrations/migrate.ts';
import type { StoreError } from '../open-store.ts';
import { replayRows } from '../runs/replay-rows.ts';
import { runTables } from '../runs/run-tables.ts';
import { valueCache } from '../runs/value-cache.ts';
import { fileDefects, openConnection, unusable } from '../sqlite/connection.ts';
import { jsonColumns, StoreDamage, StoreFault } from '../sqlite/json-column.ts';
import { thrownDamage } from '../thrown-damage.ts';
import { takeProjectRecord } from '../verify/check-project.ts';
import { logNumberOf } from '../verify/log-numbers.ts';
import { type RebuildReport, rebuildRows, removeLog, renewRows } from './rebuild-rows.ts';
import { type RestoredSchema, restoreSchema } from './restore-schema.ts';

/** Repairs a database. Only the owner of the data directory opens it. */
export interface Repair {
  /** Parts of the schema that were missing or altered, and were made again when it was opened. */
  readonly schema: readonly string[];
  /** Rewrites every row that differs from its log, in one transaction. */
  rebuild(): Result<RebuildReport, RepairError>;
  /** The log of a run as stored; empty if there is none. */
  log(run: RunId): Iterable<LogRecord>;
  /**
   * Appends records to a run in order, all or none: a new run, or the continuation of one whose log ends before them. The error says which
   * record was refused and why.
   */
  append(run: RunId, records: Iterable<LogRecord>): Result<number, string>;
  /** Replaces the whole log of a run, all or none. */
  replace(run: RunId, records: Iterable<LogRecord>): Result<number, string>;
  /** The log of a project as stored; empty if there is none. */
  projectLog(project: ProjectId): Iterable<LogRecord>;
  /** The same as `append`, for a project. */
  appendToProject(project: ProjectId, records: Iterable<LogRecord>): Result<number, string>;
  close(): void;
}

/** `store/unusable` if pages of the file cannot be read. */
type RepairError = ErrorEnvelope<'STORE_IO_FAILED' | 'store/unusable'>;

/** Opens a database, creating it if it is missing. Fixes the schema first. */
export function openRepair({ path: file }: { readonly path: string }): Result<Repair, StoreError> {
  const connection = openConnection(file);
  if (!connection.ok) return connection;
  const database = connection.value;
  try {
    const migrated = migrate(database);
    if (migrated.ok) return ok(repairOf(database, path.dirname(file), restoreSchema(database)));
    database.close();
    return migrated;
  } catch (cause) {
    database.close();
    if (sqliteCode(cause) === undefined || !(cause instanceof Error)) throw cause;
    return err(unusable(cause.message));
  }
}

function repairOf(database: DatabaseSync, home: string, schema: RestoredSchema): Repair {
  const blobs = openBlobFiles({ disk: hostDisk, hasher: nodeHasher, home, writer: `repair-${process.pid}` });
  const json = jsonColumns(blobs);
  const tables = runTables(database, json, valueCache(), nodeHasher);
  const projects = projectRows(database, json, nodeHasher);
  const ports = { database, blobs, hasher: nodeHasher };

  /** All of `work`, or nothing. */
  function transaction<T>(work: () => T): T {
    database.exec('begin immediate');
    try {
      const done = work();
      database.exec('commit');
      return done;
    } finally {
      if (database.isTransaction) database.exec('rollback');
      tables.keys.clear();
      tables.known.clear();
    }
  }

  return {
    schema: schema.restored,
    rebuild() {
      // No effect inside a transaction.
      database.exec('pragma foreign_keys = off');
      try {
        const broken = reindexed(database);
        if (broken !== undefined) return err(unusable(broken));
        const done = transaction(() => rebuildRows(ports));
        return ok({ ...done, removed: [...schema.removed.map(name => `${name} of the schema`), ...done.removed] });
      } catch (cause) {
        const damage = thrownDamage(cause);
        if (damage !== undefined) return err(unusable((cause as Error).message));
        if (sqliteCode(cause) === undefined && !(cause instanceof StoreFault)) throw cause;
        return err(notRebuilt(cause as Error));
      } finally {
        database.exec('pragma foreign_keys = on');
      }
    },
    log: run => tables.log.records(logNumberOf(database, run) ?? -1, 0),
    append: (run, records) => take(run, records, false),
    replace: (run, records) => take(run, records, true),
    projectLog: project => projects.records(projects.find(project)?.n ?? -1, 0),
    appendToProject: (project, records) =>
      refusable(() => {
        let found = projects.find(project);
        let taken = 0;
        for (const record of records) {
          const next = takeProjectRecord(ports, projects, found, record);
          if (!next.ok) throw new StoreDamage(next.error);
          if (next.value.row.id !== project) throw new StoreDamage('it is a record of another project');
          found = next.value;
          taken += 1;
        }
        return taken;
      }),
    close: () => database.close(),
  };

  /** All of `work`, or why there is nothing of it. */
  function refusable(work: () => number): Result<number, string> {
    // No effect inside a transaction.
    database.exec('pragma foreign_keys = off');
    try {
      return ok(transaction(work));
    } catch (cause) {
      const isExpected = cause instanceof StoreDamage || cause instanceof StoreFault || sqliteCode(cause) !== undefined;
      if (!isExpected) throw cause;
      return err((cause as Error).message);
    } finally {
      database.exec('pragma foreign_keys = on');
    }
  }

  function take(run: RunId, records: Iterable<LogRecord>, isWhole: boolean): Result<number, string> {
    return refusable(() => {
      let taken = 0;
      // Rows left from lost records would conflict with the new ones.
      const n = logNumberOf(database, run);
      if (n !== undefined && isWhole) removeLog(database, n);
      else if (n !== undefined) renewRows(ports, n);
      tables.known.clear();
      const away = awayAfter(n === undefined || isWhole ? [] : tables.log.records(n, 0));
      for (const record of records) {
        const replayed = replayRows(tables, record, {
          hasher: nodeHasher,
          textOf: json.blobText,
          awayOf: () => away,
          ...defined({ n }),
        });
        if (!replayed.ok) throw new StoreDamage(replayed.error.why);
        if (replayed.value.outcome.record.id !== run) throw new StoreDamage('it is a record of another run');
        taken += 1;
      }
      const fault = away.end();
      // A log that ends early can be continued.
      if (fault !== undefined && fault.awaits === undefined)
        throw new StoreDamage(`record ${fault.record}: ${fault.what}`);
      return taken;
    });
  }
}

/** Rebuilds the indexes and returns what is still wrong with the file: rows on untrustworthy pages are useless. */
function reindexed(database: DatabaseSync): string | undefined {
  if (fileDefects(database).length === 0) return undefined;
  database.exec('reindex');
  return fileDefects(database)[0];
}

/** The body replacements that the records of a log name. */
function awayAfter(records: Iterable<LogRecord>): AwayCheck {
  const away = awayCheck();
  for (const record of records) {
    const opened = openRecord(record, nodeHasher);
    const fault = opened.ok ? away.take(opened.value) : opened.error;
    if (fault !== undefined) throw new StoreDamage(fault);
  }
  return away;
}

function notRebuilt({ message }: Error): ErrorEnvelope<'STORE_IO_FAILED'> {
  return failure('STORE_IO_FAILED', {
    message: `Nothing was repaired: ${message}.`,
    suggestion: 'Make sure that the disk is writable and not full, then repair again: it is safe to repeat.',
    retry: { kind: 'retryable_immediate' },
  });
}
