/**
 * The search index: a cache beside the database, which follows from logs and journals and can be deleted at any time (T3).
 *
 * S1  Nothing waits for it: it is written behind the commits, in transactions of its own, by whichever process searches or serves.
 * S2  `logs` says how far each run and session is indexed. What a transaction indexes and how far it got are one.
 * S3  A log that was rewritten, or is gone, is forgotten whole: no removed text stays in the index.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { FindKind, FindQuery } from '@signalbox/model';
import { type Found, findIn } from './find-in-index.ts';
import { kindTag, openSearchFile, runTag } from './search-schema.ts';

/** How far a run or a session is indexed. */
interface IndexedLog {
  readonly records: number;
  readonly mark: string;
}

export interface SearchEntry {
  readonly kind: FindKind;
  /** Unique within its log and kind. */
  readonly key: string;
  readonly title: string;
  readonly body: string;
  readonly at: string;
  readonly run?: string | undefined;
  readonly session?: string | undefined;
  readonly node?: string | undefined;
  readonly artifact?: string | undefined;
  /** Adds the body to that of the entry with the same key, instead of replacing it. */
  readonly isMore?: boolean | undefined;
}

export interface LogToIndex extends IndexedLog {
  readonly id: string;
  /** How far it was indexed when its entries were read. */
  readonly from: number;
  readonly run?: string | undefined;
  readonly name?: string | undefined;
  readonly entries: readonly SearchEntry[];
}

export interface SearchIndex {
  logs(): ReadonlyMap<string, IndexedLog>;
  /** Writes the entries and how far they reach. False if another process was faster: read again. */
  put(log: LogToIndex): boolean;
  /** The same for several in one transaction, in order. Returns the ids of those to read again. */
  putAll(logs: readonly LogToIndex[]): ReadonlySet<string>;
  forget(log: string): void;
  find(query: FindQuery): Found;
  close(): void;
}

/** More than this is not searched. */
const MOST_TEXT = 16_000;

/** In a file, or in memory at `:memory:`. Throws SQLite's errors. */
export function openSearchIndex({ path }: { readonly path: string }): SearchIndex {
  const database = openSearchFile(path);
  const allLogs = database.prepare('select id, records, mark from logs');
  const recordsOf = database.prepare('select records from logs where id = ?');
  const putLog = database.prepare(
    `insert into logs (id, run, name, records, mark) values (?, ?, ?, ?, ?)
     on conflict (id) do update set run = excluded.run, name = excluded.name, records = excluded.records, mark = excluded.mark`,
  );
  const known = database.prepare('select n from entries where log = ? and kind = ? and key = ?');
  const addEntry = database.prepare(
    'insert into entries (log, kind, key, run, session, node, artifact, at) values (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const moveEntry = database.prepare('update entries set node = coalesce(?, node), at = ? where n = ?');
  const addWords = database.prepare('insert into words (rowid, title, body, tags) values (?, ?, ?, ?)');
  const setWords = database.prepare('update words set title = ?, body = ? where rowid = ?');
  const wordsOf = database.prepare('select title, body from words where rowid = ?');
  const dropWords = database.prepare('delete from words where rowid in (select n from entries where log = ?)');
  const dropEntries = database.prepare('delete from entries where log = ?');
  const dropLog = database.prepare('delete from logs where id = ?');

  function write(log: string, entry: SearchEntry): void {
    const { kind, key, run = null, session = null, node = null, artifact = null, at, isMore = false } = entry;
    const [title, body] = [entry.title.slice(0, MOST_TEXT), entry.body.slice(0, MOST_TEXT)];
    const row = known.get(log, kind, key);
    if (row === undefined) {
      const { lastInsertRowid } = addEntry.run(log, kind, key, run, session, node, artifact, at);
      addWords.run(lastInsertRowid, title, body, tagsOf(kind, run));
      return;
    }
    const n = Number(row.n);
    const before = wordsOf.get(n);
    const old = String(before?.body ?? '');
    const whole = !isMore ? body : old.includes(body) ? old : `${old}\n${body}`.slice(0, MOST_TEXT);
    if (isMore && whole === old && title === before?.title) return;
    moveEntry.run(node, at, n);
    setWords.run(isMore && title === '' ? String(before?.title ?? '') : title, whole, n);
  }

  function isPut({ id, from, run, name, records, mark, entries }: LogToIndex): boolean {
    if (Number(recordsOf.get(id)?.records ?? 0) !== from) return false;
    for (const entry of entries) write(id, entry);
    putLog.run(id, run ?? null, name ?? null, records, mark);
    return true;
  }

  return {
    logs: () =>
      new Map(
        allLogs.all().map(({ id, records, mark }) => [String(id), { records: Number(records), mark: String(mark) }]),
      ),
    put: log => inTransaction(database, () => isPut(log)),
    putAll: logs => inTransaction(database, () => new Set(logs.flatMap(log => (isPut(log) ? [] : log.id)))),
    forget: log =>
      inTransaction(database, () => {
        dropWords.run(log);
        dropEntries.run(log);
        dropLog.run(log);
      }),
    find: query => findIn(database, query),
    close: () => database.close(),
  };
}

function tagsOf(kind: FindKind, run: string | null): string {
  return run === null ? kindTag(kind) : `${kindTag(kind)} ${runTag(run)}`;
}

function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('begin immediate');
  try {
    const done = work();
    database.exec('commit');
    return done;
  } catch (cause) {
    if (database.isTransaction) database.exec('rollback');
    throw cause;
  }
}
