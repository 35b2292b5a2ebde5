import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { hostDisk, nodeHasher, sqliteCode } from '@signalbox/journal';
import { type Digest, type ErrorEnvelope, err, ok, type Result } from '@signalbox/model';
import {
  type Blobs,
  type Commit,
  createFeed,
  type ProjectLog,
  type RunFeed,
  type RunReader,
  type RunRestore,
} from '@signalbox/runs';
import { openBlobFiles } from './blobs/blob-files.ts';
import { restoreRuns } from './bundles/restore-runs.ts';
import { projectLog } from './fleet/project-log.ts';
import { projectRows } from './fleet/project-rows.ts';
import { migrate } from './migrations/migrate.ts';
import { withoutCollected } from './retention/collected-frames.ts';
import { type RetentionStore, retentionStore } from './retention/retention-store.ts';
import { commitRows } from './runs/commit-rows.ts';
import { groupCommit } from './runs/group-commit.ts';
import { runReader } from './runs/run-reader.ts';
import { runTables } from './runs/run-tables.ts';
import { valueCache } from './runs/value-cache.ts';
import { openConnection, unusable } from './sqlite/connection.ts';
import { jsonColumns } from './sqlite/json-column.ts';
import { type TakenAwayStore, takenAwayStore } from './taken-away/taken-away-store.ts';

/** All data about runs, in one SQLite file and the blobs beside it. */
export type Store = Commit &
  RunReader &
  RunFeed &
  Blobs &
  RunRestore &
  ProjectLog & {
    readonly retention: RetentionStore;
    readonly takenAway: TakenAwayStore;
    /** Call after a blob was removed. */
    forgetBlob(name: Digest): void;
    /** Moves commits from the write-ahead log into the database, as closing does, so that closing has less to do. */
    checkpoint(): void;
    close(): void;
  };

export interface StoreOptions {
  /** The database file, in the data directory; `blobs/` is beside it. */
  readonly path: string;
  /** Opens the file. Tests pass a database that fails like a disk. */
  readonly connect?: (path: string) => DatabaseSync;
}

export type StoreError = ErrorEnvelope<'store/unusable' | 'store/newer' | 'store/older'>;

/** Only the owner of the data directory opens its store: one process writes. */
export function openStore({ path: file, connect }: StoreOptions): Result<Store, StoreError> {
  const connection = openConnection(file, connect);
  if (!connection.ok) return connection;
  const database = connection.value;
  const fault = migrationFault(database);
  if (fault !== undefined) {
    database.close();
    return err(fault);
  }

  const blobs = openBlobFiles({
    disk: hostDisk,
    hasher: nodeHasher,
    home: path.dirname(file),
    writer: String(process.pid),
  });
  const cache = valueCache();
  const json = jsonColumns(blobs);
  const tables = runTables(database, json, cache, nodeHasher);
  const ports = { hasher: nodeHasher, salt: randomSalts(), putText: json.putText };
  const feed = createFeed();
  const group = groupCommit({
    database,
    apply: (writes, guard) => commitRows(tables, writes, guard, ports),
    tell: feed.tell,
    onBegin: cache.begin,
    onRollback() {
      cache.rollback();
      tables.keys.clear();
      tables.known.clear();
    },
  });

  const forget = () => {
    cache.clear();
    tables.keys.clear();
    tables.known.clear();
  };

  const takenAway = takenAwayStore({
    database,
    tables,
    log: tables.log,
    blobs,
    json,
    hasher: nodeHasher,
    seal: ports,
    forget,
    tell(notices) {
      group.tellAll();
      feed.tell(notices);
    },
  });

  const retention = retentionStore({
    weighLog: takenAway.weighCollapse,
    database,
    tables,
    home: path.dirname(file),
    forget,
    forgetBlob: blobs.forget,
  });

  return ok({
    forgetBlob: blobs.forget,
    ...restoreRuns({ database, tables, json, hasher: nodeHasher, forget }),
    retention,
    takenAway,
    ...projectLog(projectRows(database, json, nodeHasher), group, ports),
    commit: group.commit,
    subscribe(run, listener) {
      group.tellAll();
      const end = feed.subscribe(run, listener);
      return () => {
        group.tellAll();
        end();
      };
    },
    ...withoutCollected(runReader(database, tables), database),
    async put(contents) {
      const names: Digest[] = [];
      for (const content of contents) {
        const name = blobs.put(content);
        if (!name.ok) return name;
        names.push(name.value);
      }
      return ok(names);
    },
    get: async name => blobs.get(name),
    checkpoint() {
      try {
        database.exec('pragma wal_checkpoint(passive)');
      } catch (cause) {
        // The disk refuses: commits stay in the log.
        if (sqliteCode(cause) === undefined) throw cause;
      }
    },
    close() {
      group.close();
      if (database.isOpen) database.close();
    },
  });
}

/** 96-bit salts, generated in batches. */
function randomSalts(): () => string {
  const BYTES = 12;
  let drawn = Buffer.alloc(0);
  return () => {
    if (drawn.length < BYTES) drawn = randomBytes(BYTES * 256);
    const salt = drawn.subarray(0, BYTES).toString('base64url');
    drawn = drawn.subarray(BYTES);
    return salt;
  };
}

function migrationFault(database: DatabaseSync): StoreError | undefined {
  try {
    const migrated = migrate(database);
    return migrated.ok ? undefined : migrated.error;
  } catch (cause) {
    if (sqliteCode(cause) === undefined || !(cause instanceof Error)) throw cause;
    return unusable(cause.message);
  }
}
