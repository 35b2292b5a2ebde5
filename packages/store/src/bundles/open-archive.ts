import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { hostDisk, nodeHasher } from '@signalbox/journal';
import { type Digest, ok, type Result, type RunId } from '@signalbox/model';
import {
  type ArchivePart,
  type Blobs,
  type ProjectReader,
  type RunArchive,
  type RunReader,
  streamChunk,
} from '@signalbox/runs';
import { openBlobFiles } from '../blobs/blob-files.ts';
import { projectReader } from '../fleet/project-log.ts';
import { projectRows } from '../fleet/project-rows.ts';
import { preparedTables } from '../runs/prepared-tables.ts';
import { runReader } from '../runs/run-reader.ts';
import type { RunTables } from '../runs/run-tables.ts';
import { fileDefects } from '../sqlite/connection.ts';
import { type JsonColumns, jsonColumns, StoreDamage } from '../sqlite/json-column.ts';
import { openReadConnection, type ReadError } from '../sqlite/read-connection.ts';
import { checkProjects, type ProjectCheck } from '../verify/check-project.ts';
import { checkRun, checkRuns, type LogCheck, type LogDefect } from '../verify/check-run.ts';
import { logNumberOf } from '../verify/log-numbers.ts';
import { strayRows, unlistedRows } from '../verify/stray-rows.ts';

/** A consistent view of all runs at one moment, while others may keep writing. */
export type Archive = RunArchive &
  RunReader &
  ProjectReader &
  Pick<Blobs, 'get'> & {
    /** The text of a blob; throws if it cannot be read. */
    textOf(blob: Digest): string;
    /** Checks that all rows of a run follow from its log; undefined if there is neither a log nor a row of it. */
    check(run: RunId): LogCheck | undefined;
    /** Checks every run that has a log, or a row without one. */
    checkAll(): Iterable<LogCheck>;
    /** Checks every project that has a log, or rows without one. */
    checkProjects(): Iterable<ProjectCheck>;
    /** Rows of run numbers that have no log. */
    strays(): readonly LogDefect[];
    /** The strays that belong to no listed run. */
    unlisted(): readonly LogDefect[];
    /** Defects that SQLite finds in its file; empty if it is intact. */
    integrity(): readonly string[];
    close(): void;
  };

/** Reads a data directory beside its owner, as of one moment. */
export function openArchive({ path: file }: { readonly path: string }): Result<Archive, ReadError> {
  const connection = openReadConnection(file);
  if (!connection.ok) return connection;
  const database = connection.value;
  const blobs = openBlobFiles({ disk: hostDisk, hasher: nodeHasher, home: path.dirname(file), writer: 'nobody' });
  const json = jsonColumns(blobs);
  const tables = preparedTables(database, json);
  if (!tables.ok) return tables;
  database.exec('begin');
  return ok({
    ...runReader(database, tables.value),
    ...runArchive(database, json, tables.value),
    ...projectReader(projectRows(database, json, nodeHasher)),
    records: async (run, from, limit) => [...tables.value.log.records(logNumberOf(database, run) ?? -1, from, limit)],
    get: async name => blobs.get(name),
    textOf: json.blobText,
    check: run => checkRun({ database, blobs, hasher: nodeHasher }, run),
    checkAll: () => checkRuns({ database, blobs, hasher: nodeHasher }),
    checkProjects: () => checkProjects({ database, blobs, hasher: nodeHasher }),
    strays: () => strayRows(database),
    unlisted: () => unlistedRows(database),
    integrity: () => fileDefects(database),
    close() {
      database.exec('rollback');
      database.close();
    },
  });
}

function runArchive(database: DatabaseSync, json: JsonColumns, tables: RunTables): RunArchive {
  const deltas = database.prepare(
    `select * from stream where run = ? and kind in ('token', 'thinking') order by task, idx`,
  );

  function* deltasOf(n: number) {
    for (const { task, idx, kind, payload, at } of deltas.iterate(n)) {
      const parsed = streamChunk.safeParse({ task, index: idx, kind, payload: json.readPlain(payload, 'a chunk'), at });
      if (!parsed.success) throw new StoreDamage('a chunk is damaged');
      yield parsed.data;
    }
  }

  return {
    *archived(run: RunId, part: ArchivePart) {
      const n = logNumberOf(database, run) ?? -1;
      yield* (part === 'records' ? tables.log.records(n, 0) : deltasOf(n)) as Iterable<never>;
    },
  };
}
