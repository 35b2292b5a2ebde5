import { existsSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { closeToOthers, sqliteCode } from '@signalbox/journal';
import type { FindKind } from '@signalbox/model';

/** Raised with every change of the schema or of what is indexed: an index of another version is made again. */
const VERSION = 1;

const schema = `
  -- A log is a run or a session; \`mark\` says how far it is indexed.
  create table logs (id text primary key, run text, name text, records integer not null, mark text not null) strict, without rowid;
  create table entries (
    n integer primary key,
    log text not null,
    kind text not null,
    key text not null,
    run text,
    session text,
    node text,
    artifact text,
    at text not null,
    unique (log, kind, key)
  ) strict;
  -- \`tags\` has the kind and the run, so that a search of one kind or run looks at nothing else.
  create virtual table words using fts5(title, body, tags, tokenize = "unicode61 remove_diacritics 2", prefix = '2 3');
  -- Removed text leaves nothing behind in the index.
  insert into words (words, rank) values ('secure-delete', 1);
  pragma user_version = ${VERSION};
`;

/** The file is a cache that any process may write: one that waits for another waits at most this long. */
const WAIT_MS = 5_000;

/** Opens the index for writing, and makes it again if it is damaged or of another version. Throws SQLite's errors. */
export function openSearchFile(file: string): DatabaseSync {
  try {
    return opened(file);
  } catch (cause) {
    if (!isDamaged(cause)) throw cause;
    removeSearchFile(file);
    return opened(file);
  }
}

/** Opens it for reading; undefined if there is no index of this version. */
export function readSearchFile(file: string): DatabaseSync | undefined {
  if (!existsSync(file)) return undefined;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true, timeout: WAIT_MS });
    if (versionOf(database) === VERSION) return database;
  } catch (cause) {
    if (sqliteCode(cause) === undefined) throw cause;
  }
  database?.close();
  return undefined;
}

export function removeSearchFile(file: string): void {
  for (const part of [file, `${file}-wal`, `${file}-shm`]) rmSync(part, { force: true });
}

function opened(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: WAIT_MS });
  try {
    if (file !== ':memory:') for (const part of [file, `${file}-wal`, `${file}-shm`]) closeToOthers(part);
    database.exec(
      'pragma journal_mode = wal; pragma synchronous = off; pragma secure_delete = on; pragma temp_store = memory',
    );
    if (versionOf(database) === VERSION) return database;
    database.exec('begin immediate');
    if (versionOf(database) !== VERSION) {
      for (const table of ['words', 'entries', 'logs']) database.exec(`drop table if exists ${table}`);
      database.exec(schema);
    }
    database.exec('commit');
    return database;
  } catch (cause) {
    database.close();
    throw cause;
  }
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('pragma user_version').get()?.user_version);
}

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

function isDamaged(cause: unknown): boolean {
  const code = sqliteCode(cause);
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

/** The words of an entry that no text has. */
export function kindTag(kind: FindKind): string {
  return `k${kind}`;
}

export function runTag(run: string): string {
  return `r${run.replaceAll('-', '')}`;
}
