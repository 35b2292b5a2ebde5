import type { DatabaseSync } from 'node:sqlite';
import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import { logAndRuns } from './0001-log-and-runs.ts';
import { framesAndTasks } from './0002-frames-and-tasks.ts';
import { decisionsArtifactsUsage } from './0003-decisions-artifacts-usage.ts';
import { streams } from './0004-streams.ts';
import { projects } from './0005-projects.ts';
import { listsOfRuns } from './0006-lists-of-runs.ts';
import { usageByTime } from './0007-usage-by-time.ts';

/** One step of the schema. Never edit a released step: add a new one. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** In order: each step raises the schema version by one. */
export const migrations: readonly Migration[] = [
  logAndRuns,
  framesAndTasks,
  decisionsArtifactsUsage,
  streams,
  projects,
  listsOfRuns,
  usageByTime,
];

/** Databases from before the log have versions up to 6 and cannot be migrated: they lack the data. */
export const FIRST_VERSION = 100;

/** The version of the newest step. */
export const SCHEMA_VERSION = FIRST_VERSION + migrations.length;

/** Migrates a database to the newest version, each step in its own transaction. Throws SQLite's errors. */
export function migrate(
  database: DatabaseSync,
  steps: readonly Migration[] = migrations,
): Result<{ readonly from: number; readonly to: number }, ErrorEnvelope<'store/newer' | 'store/older'>> {
  const from = schemaVersion(database);
  const to = FIRST_VERSION + steps.length;
  if (from > to) return err(newer(from, to));
  if (from > 0 && from < FIRST_VERSION) return err(beforeTheLog(from));
  for (let version = Math.max(from, FIRST_VERSION); version < to; version++) {
    try {
      const { sql } = steps[version - FIRST_VERSION] as Migration;
      database.exec(`begin immediate; ${sql}; pragma user_version = ${version + 1}; commit`);
    } catch (cause) {
      if (database.isTransaction) database.exec('rollback');
      throw cause;
    }
  }
  return ok({ from, to });
}

export function beforeTheLog(found: number): ErrorEnvelope<'store/older'> {
  return failure('store/older', {
    message: `The database has schema version ${found}, from before runs had a log; this program cannot read it.`,
    suggestion: 'Open it with the version that wrote it, or use another data directory: --data-dir DIRECTORY.',
    details: { found, known: SCHEMA_VERSION },
  });
}

export function schemaVersion(database: DatabaseSync): number {
  return Number(database.prepare('pragma user_version').get()?.user_version);
}

export function newer(found: number, known: number): ErrorEnvelope<'store/newer'> {
  return failure('store/newer', {
    message: `The database has schema version ${found}; this program knows ${known}.`,
    suggestion: 'Open it with the version of Signalbox that wrote it, or a newer one.',
    details: { found, known },
  });
}
