import type { DatabaseSync } from 'node:sqlite';
import { type Digest, EMPTY_HEAD, type RunId } from '@signalbox/model';
import { openHeader, type TakenAway } from '@signalbox/runs';
import { firstPlaceOf } from '../runs/places.ts';
import { blobOf } from '../sqlite/json-column.ts';
import { allLogs, type NumberedLog, rowNumberOf, runsOf } from './log-numbers.ts';
import { type ReplayedLog, type ReplayPorts, replayLog } from './replay-log.ts';
import {
  type Difference,
  differences,
  rowsOf,
  schemaDifferences,
  type TableOfRuns,
  tablesOfRuns,
} from './row-differences.ts';
import { placeOf, withWriters } from './row-writers.ts';

/** A place where a run differs from its log. */
export interface LogDefect {
  readonly where: 'log' | 'table' | 'blob';
  /** The number of the damaged record, or of the one that wrote the expected value. */
  readonly record?: number;
  /** The run's version after that record. */
  readonly version?: number;
  readonly table?: string;
  /** The key of the row. */
  readonly key?: string;
  readonly what: string;
  /** The log is valid as far as it goes, but its end is missing. */
  readonly isCutShort?: true;
}

/** A run, and whether all its rows follow from its log. */
export interface LogCheck {
  readonly run: RunId;
  readonly records: number;
  readonly events: number;
  readonly head: Digest;
  /** Every head that the log has had. */
  readonly heads: ReadonlySet<string>;
  /** What was collapsed or redacted, from the records that say so. */
  readonly taken: readonly TakenAway[];
  /** Empty if the run is as committed. A broken log is not compared with the tables. */
  readonly defects: readonly LogDefect[];
}

/** Reports only the first defects; there may be more. */
const MAX_DEFECTS = 20;

/**
 * Checks a run: the chain of its log, every row of every table against its records, and every blob that records and rows name. Undefined if
 * the run has neither a log nor a row.
 */
export function checkRun(
  ports: ReplayPorts,
  run: RunId,
  logs: readonly NumberedLog[] = allLogs(ports.database),
): LogCheck | undefined {
  const { database } = ports;
  const numbers = logs.flatMap(log => (log.run === run ? [log.n] : []));
  const row = rowNumberOf(database, run);
  const [n = row] = numbers;
  if (n === undefined) return undefined;
  const check = checkLog(ports, run, n);
  const misplaced = misplacedLog(run, numbers, row);
  return misplaced === undefined ? check : { ...check, defects: [{ where: 'log', what: misplaced }, ...check.defects] };
}

export function* checkRuns(ports: ReplayPorts): Generator<LogCheck> {
  const byRun = Map.groupBy(allLogs(ports.database), ({ run }) => run);
  for (const run of runsOf(ports.database)) {
    const check = checkRun(ports, run, byRun.get(run) ?? []);
    if (check !== undefined) yield check;
  }
}

function misplacedLog(run: RunId, numbers: readonly number[], row: number | undefined): string | undefined {
  const [n] = numbers;
  if (numbers.length > 1) return `${numbers.length} logs claim to belong to run ${run}`;
  if (n === undefined || row === undefined || n === row) return undefined;
  return `its log has the number ${n}, its row the number ${row}`;
}

/** Checks the log with a number. */
function checkLog(ports: ReplayPorts, run: RunId, n: number): LogCheck {
  const replay = replayLog(ports, n);
  try {
    const { records, events, head, heads, taken } = replay;
    return { run, records, events, head, heads, taken, defects: defectsOf(ports, replay, run, n) };
  } finally {
    replay.database.close();
  }
}

function defectsOf(ports: ReplayPorts, replay: ReplayedLog, run: RunId, n: number): readonly LogDefect[] {
  const { fault, names, head } = replay;
  if (fault !== undefined) return [{ where: 'log', ...fault, ...versionAt(ports.database, n, fault.record) }];
  if (head === EMPTY_HEAD) return [{ where: 'log', what: `run ${run} has no log` }];
  const missing = cutShort(ports.database, replay, run, n);
  const defects: LogDefect[] = missing === undefined ? [] : [{ where: 'log', ...missing }];
  const differing: Difference[] = [];
  const blobs = new Set(names.keys());
  for (const difference of tableDifferences(ports.database, replay, n, blobs)) {
    differing.push(difference);
    if (defects.length + differing.length >= MAX_DEFECTS) break;
  }
  defects.push(...withWriters(ports, n, differing));
  for (const name of blobs) {
    if (defects.length >= MAX_DEFECTS) break;
    const content = ports.blobs.get(name);
    if (!content.ok)
      defects.push({ where: 'blob', key: name, what: content.error.message, ...placeOf(names.get(name)) });
  }
  return defects;
}

/** The version of a record, if its header is readable. */
function versionAt(database: DatabaseSync, run: number, n: number): Pick<LogDefect, 'version'> {
  const row = database.prepare('select header from records where place = ?').get(firstPlaceOf(run) + n);
  const header = row === undefined ? undefined : openHeader(String(row.header));
  return header?.ok === true ? { version: header.value.version } : {};
}

/** The row of a run stores the length of its log: a log that is shorter, and had another head then, lost its end. */
function cutShort(
  database: DatabaseSync,
  { records, heads }: ReplayedLog,
  run: RunId,
  n: number,
): Omit<LogDefect, 'where'> | undefined {
  const further = database.prepare(
    'select cast(records as text) as records, head from runs where n = ? and id = ? and records > ?',
  );
  const row = further.get(n, run, records);
  if (row === undefined || heads.has(String(row.head))) return undefined;
  const what = `it is missing: the row of the run says that there are ${row.records} records`;
  return { record: records, what, isCutShort: true };
}

function* tableDifferences(
  database: DatabaseSync,
  replay: ReplayedLog,
  n: number,
  blobs: Set<Digest>,
): Generator<Difference> {
  yield* schemaDifferences(replay.database, database);
  // The run first: it says how long the log was.
  const tables = tablesOfRuns(replay.database).toSorted(
    (a, b) => Number(b.name === 'runs') - Number(a.name === 'runs'),
  );
  for (const table of tables) {
    yield* differences(table, n, replay.database, database);
    for (const name of blobsOfRows(table, n, replay.database)) blobs.add(name);
  }
}

/** Blobs that rows name with 32 bytes. */
export function* blobsOfRows(table: TableOfRuns, n: number, database: DatabaseSync): Generator<Digest> {
  if (table.name === 'records') return;
  for (const row of rowsOf(table, n, database)) {
    for (const cell of Object.values(row)) if (cell instanceof Uint8Array && cell.length === 32) yield blobOf(cell);
  }
}
