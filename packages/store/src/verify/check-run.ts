import { DatabaseSync } from 'node:sqlite';
import { type Digest, EMPTY_HEAD, type Hasher, ok, type RunId } from '@signalbox/model';
import { type LogRecord, mentionedBlobs, neededBlobs, openRecord } from '@signalbox/runs';
import type { BlobFiles } from '../blobs/blob-files.ts';
import { migrate } from '../migrations/migrate.ts';
import { firstPlaceOf, lastPlaceOf, PLACES } from '../runs/places.ts';
import { replayRows } from '../runs/replay-rows.ts';
import { runTables } from '../runs/run-tables.ts';
import { valueCache } from '../runs/value-cache.ts';
import { blobOf, jsonColumns, StoreDamage, StoreFault } from '../sqlite/json-column.ts';
import { differences, tablesOfRuns } from './row-differences.ts';

/** Where a run is not what its log says. */
export interface LogDefect {
  readonly where: 'log' | 'table' | 'blob';
  /** The number of the record that is wrong. */
  readonly record?: number;
  readonly table?: string;
  /** The row that is wrong, by its key. */
  readonly key?: string;
  readonly what: string;
}

/** What a run is, and whether everything that shows it follows from its log. */
export interface LogCheck {
  readonly run: RunId;
  readonly records: number;
  readonly events: number;
  readonly head: Digest;
  /** Every head that the log ever had. */
  readonly heads: ReadonlySet<string>;
  /** None where the run is as it was committed. A log that is broken is not compared with the tables. */
  readonly defects: readonly LogDefect[];
}

export interface CheckPorts {
  readonly database: DatabaseSync;
  readonly blobs: BlobFiles;
  readonly hasher: Hasher;
}

/** The first defects are told; there may be more. */
const MAX_DEFECTS = 20;

/**
 * Checks a run: the chain of its log, every row of every table against what the records come to, and every blob that they name.
 * The records are replayed into tables of their own, by the code that wrote the rows. Undefined where there is no such log.
 */
export function checkRun(ports: CheckPorts, run: RunId): LogCheck | undefined {
  const { database, blobs } = ports;
  const numbers = logNumbersOf(database, run);
  const [n] = numbers;
  if (n === undefined) return undefined;
  const replay = openReplay(ports);
  const heads = new Set<string>([EMPTY_HEAD]);
  const defects: LogDefect[] = [];
  const names = new Set<Digest>();
  let head: Digest = EMPTY_HEAD;
  let [records, events] = [0, 0];
  try {
    if (numbers.length > 1)
      defects.push({ where: 'log', what: `${numbers.length} logs say that they are of run ${run}` });
    for (const record of recordsOf(database, n)) {
      const fault =
        record.place === firstPlaceOf(n) + records ? replay.take(record, n) : `record ${records} is missing`;
      if (typeof fault === 'string') {
        defects.push({ where: 'log', record: records, what: fault });
        break;
      }
      head = record.hash;
      heads.add(head);
      records += 1;
      events += fault.events;
      for (const name of fault.names) names.add(name);
    }
    if (defects.length === 0) {
      for (const table of tablesOfRuns(database)) {
        for (const difference of differences(table, n, replay.database, database)) {
          defects.push({ where: 'table', ...difference });
          if (defects.length >= MAX_DEFECTS) break;
        }
      }
    }
    for (const name of names) {
      const content = defects.length < MAX_DEFECTS ? blobs.get(name) : ok(undefined);
      if (!content.ok) defects.push({ where: 'blob', key: name, what: content.error.message });
    }
  } finally {
    replay.database.close();
  }
  return { run, records, events, head, heads, defects };
}

/** The numbers of the logs that say they are of a run: one, unless somebody changed them. */
export function logNumbersOf(database: DatabaseSync, run: RunId): readonly number[] {
  const first = database.prepare(
    `select distinct place / ${PLACES} as n from records where place % ${PLACES} = 0 and header ->> '$.log' = ?`,
  );
  return first.all(run).map(row => Number(row.n));
}

function* recordsOf(database: DatabaseSync, n: number): Generator<LogRecord & { readonly place: number }> {
  const rows = database.prepare(
    'select place, header, body, hash from records where place between ? and ? order by place',
  );
  for (const { place, header, body, hash } of rows.iterate(firstPlaceOf(n), lastPlaceOf(n))) {
    yield { place: Number(place), header: String(header), body: String(body), hash: blobOf(hash as Uint8Array) };
  }
}

interface Replay {
  readonly database: DatabaseSync;
  /** Says what is wrong with the record, or what it told and which blobs it names. */
  take(record: LogRecord, n: number): string | { readonly events: number; readonly names: readonly Digest[] };
}

/** Tables in memory. What goes into blobs is named as always, and not written. */
function openReplay({ blobs, hasher }: CheckPorts): Replay {
  const database = new DatabaseSync(':memory:');
  migrate(database);
  const json = jsonColumns({
    put: content => ok(hasher(content)),
    get: name => blobs.get(name),
    forget: () => {},
  });
  const tables = runTables(database, json, valueCache(), hasher);
  return {
    database,
    take(record, n) {
      try {
        const replayed = replayRows(tables, record, { hasher, textOf: json.blobText, n });
        if (!replayed.ok) return replayed.error.why;
        const opened = openRecord(record, hasher, json.blobText);
        if (!opened.ok) return opened.error;
        const { header, body } = opened.value;
        return { events: header.events, names: [...neededBlobs(opened.value), ...mentionedBlobs(body)] };
      } catch (cause) {
        if (cause instanceof StoreDamage || cause instanceof StoreFault) return cause.message;
        if (cause instanceof Error && 'errcode' in cause) return `its rows are refused: ${cause.message}`;
        throw cause;
      }
    },
  };
}
