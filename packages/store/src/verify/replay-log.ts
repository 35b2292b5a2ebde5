import { DatabaseSync } from 'node:sqlite';
import { type Digest, defined, EMPTY_HEAD, err, type Hasher, ok, type Result } from '@signalbox/model';
import {
  type AwayCheck,
  awayCheck,
  type LogRecord,
  mentionedBlobs,
  neededBlobs,
  openRecord,
  type RecordHeader,
  type TakenAway,
} from '@signalbox/runs';
import type { BlobFiles } from '../blobs/blob-files.ts';
import { migrate } from '../migrations/migrate.ts';
import { recordOf } from '../runs/log-rows.ts';
import { firstPlaceOf, lastPlaceOf } from '../runs/places.ts';
import { replayRows } from '../runs/replay-rows.ts';
import { type RunTables, runTables } from '../runs/run-tables.ts';
import { valueCache } from '../runs/value-cache.ts';
import { type JsonColumns, jsonColumns, StoreDamage, StoreFault } from '../sqlite/json-column.ts';

export interface ReplayPorts {
  readonly database: DatabaseSync;
  readonly blobs: BlobFiles;
  readonly hasher: Hasher;
}

/** The rows that a log results in, in separate tables. */
export interface ReplayedLog {
  /** In-memory tables, under the same number. */
  readonly database: DatabaseSync;
  readonly records: number;
  readonly events: number;
  readonly head: Digest;
  /** Every head that the log has had. */
  readonly heads: ReadonlySet<string>;
  /** Blobs that the records name, each with the last record naming it. */
  readonly names: ReadonlyMap<Digest, RecordHeader>;
  /** Contents that rows refer to by name, created by the replay. */
  readonly made: ReadonlyMap<Digest, Uint8Array>;
  /** What was collapsed or redacted, and by which records. */
  readonly taken: readonly TakenAway[];
  /** The first record that does not follow; later ones are not read. */
  readonly fault?: { readonly record: number; readonly what: string; readonly isCutShort?: true };
}

/** Called after each record, with the tables it was replayed into. */
export type OnReplayed = (header: RecordHeader, tables: DatabaseSync) => void;

/**
 * Replays the log with a number, by the code that wrote its rows. Writes nothing to the database and no blob: contents that rows refer to
 * stay in memory. The caller closes the tables.
 */
export function replayLog(ports: ReplayPorts, n: number, onReplayed?: OnReplayed): ReplayedLog {
  const { hasher } = ports;
  const { database, made, json, tables } = memoryTables(ports);
  const away = awayCheck();
  const heads = new Set<string>([EMPTY_HEAD]);
  const names = new Map<Digest, RecordHeader>();
  let head: Digest = EMPTY_HEAD;
  let [records, events] = [0, 0];

  function take(record: LogRecord): Result<void, string> {
    const replayed = replayRows(tables, record, { hasher, textOf: json.blobText, awayOf: () => away, n });
    if (!replayed.ok) return err(replayed.error.why);
    const { record: opened } = replayed.value;
    const { header } = opened;
    events += header.events;
    for (const name of [...neededBlobs(opened), ...mentionedBlobs(opened.body)]) names.set(name, header);
    onReplayed?.(header, database);
    return ok(undefined);
  }

  let fault: ReplayedLog['fault'];
  for (const record of recordsOf(ports.database, n)) {
    if (fault !== undefined) {
      const opened = openRecord(record, hasher);
      if (opened.ok) away.take(opened.value);
      continue;
    }
    const taken =
      record.place === firstPlaceOf(n) + records ? tried(() => take(record)) : err(`record ${records} is missing`);
    if (!taken.ok) {
      fault = { record: records, what: taken.error };
      continue;
    }
    head = record.hash;
    heads.add(head);
    records += 1;
  }
  fault = firstOf(fault, awayFault(away, records));
  const { taken } = away;
  return { database, records, events, head, heads, names, made, taken, ...defined({ fault }) };
}

/** A changed body may be why a later record does not follow. */
function firstOf(fault: ReplayedLog['fault'], other: ReplayedLog['fault']): ReplayedLog['fault'] {
  if (fault === undefined || other === undefined) return fault ?? other;
  return other.record < fault.record ? other : fault;
}

/** A replaced body needs the record that says so. If the log ends before that record, it lost its end. */
function awayFault(away: AwayCheck, records: number): ReplayedLog['fault'] {
  const fault = away.end();
  if (fault?.awaits === undefined) return fault;
  const what = `it is missing: record ${fault.awaits} replaced the body of record ${fault.record}`;
  return { record: records, what, isCutShort: true };
}

/** In-memory tables beside the existing blobs. */
export interface MemoryTables {
  readonly database: DatabaseSync;
  readonly tables: RunTables;
  readonly json: JsonColumns;
  /** Contents that rows refer to by name and that are not written yet. */
  readonly made: ReadonlyMap<Digest, Uint8Array>;
  /** Adds a content to `made`. */
  readonly putBytes: (content: Uint8Array) => Digest;
}

export function memoryTables({ blobs, hasher }: Pick<ReplayPorts, 'blobs' | 'hasher'>): MemoryTables {
  const made = new Map<Digest, Uint8Array>();
  const database = new DatabaseSync(':memory:');
  migrate(database);
  const putBytes = (content: Uint8Array) => {
    const name = hasher(content);
    made.set(name, content);
    return name;
  };
  const json = jsonColumns({
    put: content => ok(putBytes(content)),
    get(name) {
      const found = made.get(name);
      return found === undefined ? blobs.get(name) : ok(found);
    },
    forget: () => {},
  });
  return { database, tables: runTables(database, json, valueCache(), hasher), json, made, putBytes };
}

/** A failed replay is reported as a fault of its record. */
function tried(take: () => Result<void, string>): Result<void, string> {
  try {
    return take();
  } catch (cause) {
    if (cause instanceof StoreDamage || cause instanceof StoreFault) return err(cause.message);
    if (cause instanceof Error && 'errcode' in cause) return err(`its rows are refused: ${cause.message}`);
    throw cause;
  }
}

function* recordsOf(database: DatabaseSync, n: number): Generator<LogRecord & { readonly place: number }> {
  const rows = database.prepare(
    'select place, header, body, hash from records where place between ? and ? order by place',
  );
  for (const row of rows.iterate(firstPlaceOf(n), lastPlaceOf(n))) yield { place: Number(row.place), ...recordOf(row) };
}
