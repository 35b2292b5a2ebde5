import type { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@signalbox/model';
import { openHeader } from '@signalbox/runs';
import { PLACES } from '../runs/places.ts';
import type { Row } from '../sqlite/row-codec.ts';
import type { TableOfRuns } from './row-differences.ts';

/** A log in the table of records. */
export interface NumberedLog {
  readonly n: number;
  /** The run that its first record names; undefined if that is unreadable. */
  readonly run: RunId | undefined;
}

/** All logs by number: one seek each. */
export function allLogs(database: DatabaseSync): readonly NumberedLog[] {
  const header = database.prepare('select header from records where place >= ? order by place limit 1');
  return numbersIn(database, { name: 'records', byPlace: true }).map(n => ({
    n,
    run: runNamedBy(header.get(n * PLACES)?.header),
  }));
}

function runNamedBy(header: unknown): RunId | undefined {
  const opened = openHeader(String(header));
  return opened.ok ? opened.value.log : undefined;
}

/** The number of a run's log: the one in its row, unless that log belongs to another run. */
export function logNumberOf(database: DatabaseSync, run: RunId): number | undefined {
  const n = rowNumberOf(database, run);
  const first = database.prepare('select header from records where place = ?');
  if (n !== undefined && runNamedBy(first.get(n * PLACES)?.header) === run) return n;
  return allLogs(database).find(log => log.run === run)?.n ?? n;
}

/** The runs that have a log, and those whose row has no readable one. */
export function runsOf(database: DatabaseSync): readonly RunId[] {
  const logs = allLogs(database).filter(({ run }) => run !== undefined);
  const numbers = new Set(logs.map(({ n }) => n));
  const rows = database.prepare('select n, id from runs order by n');
  rows.setReadBigInts(true);
  const others = rows.all().flatMap(({ n, id }) => (numbers.has(Number(n)) ? [] : [id as RunId]));
  return [...new Set([...logs.map(({ run }) => run as RunId), ...others])];
}

/** The number of a run in the table of runs. */
export function rowNumberOf(database: DatabaseSync, run: RunId): number | undefined {
  const rows = database.prepare('select n from runs where id = ?');
  rows.setReadBigInts(true);
  const found = rows.get(run);
  return found === undefined ? undefined : Number(found.n);
}

/** The run numbers in a table: one seek each. */
export function numbersIn(database: DatabaseSync, { name, byPlace }: Pick<TableOfRuns, 'name' | 'byPlace'>): number[] {
  const column = byPlace ? 'place' : name === 'runs' ? 'n' : 'run';
  const after = database.prepare(`select min(${column}) as next from ${name} where ${column} >= ?`);
  after.setReadBigInts(true);
  const found: number[] = [];
  let least = FIRST;
  for (;;) {
    const next = (after.get(least) as Row | undefined)?.next;
    if (typeof next !== 'bigint') return found;
    const n = byPlace ? floored(next) : next;
    found.push(Number(n));
    if (n >= LAST) return found;
    least = byPlace ? (n + 1n) * BigInt(PLACES) : n + 1n;
  }
}

const FIRST = -(2n ** 63n);
/** Signalbox writes nothing beyond it; an attacker may. */
const LAST = 2n ** 35n - 2n;

function floored(place: bigint): bigint {
  const n = place / BigInt(PLACES);
  return place < 0n && n * BigInt(PLACES) !== place ? n - 1n : n;
}
