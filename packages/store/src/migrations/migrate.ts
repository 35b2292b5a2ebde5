import type { DatabaseSync } from 'node:sqlite';
import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import { runsAndEvents } from './0001-runs-and-events.ts';
import { framesAndTasks } from './0002-frames-and-tasks.ts';
import { decisionsArtifactsUsage } from './0003-decisions-artifacts-usage.ts';
import { streams } from './0004-streams.ts';
import { startsOfRuns } from './0005-starts-of-runs.ts';
import { artifactVersions } from './0008-artifact-versions.ts';

/** One step of the schema. A step that was released is never edited: what changes is a new one. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** In order: the schema of version n is what the first n steps made. */
export const migrations: readonly Migration[] = [
  runsAndEvents,
  framesAndTasks,
  decisionsArtifactsUsage,
  streams,
  startsOfRuns,
  artifactVersions,
];

/** The number of the newest step. */
export const SCHEMA_VERSION = migrations.length;

/** Brings a database to the newest version, step by step, each in a transaction of its own. Throws what SQLite throws. */
export function migrate(
  database: DatabaseSync,
  steps: readonly Migration[] = migrations,
): Result<{ readonly from: number; readonly to: number }, ErrorEnvelope<'store/newer'>> {
  const from = schemaVersion(database);
  if (from > steps.length) return err(newer(from, steps.length));
  for (let version = from; version < steps.length; version++) {
    try {
      database.exec(`begin immediate; ${steps[version]?.sql}; pragma user_version = ${version + 1}; commit`);
    } catch (cause) {
      if (database.isTransaction) database.exec('rollback');
      throw cause;
    }
  }
  return ok({ from, to: steps.length });
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
