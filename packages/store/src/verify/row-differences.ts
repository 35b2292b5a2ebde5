import type { DatabaseSync } from 'node:sqlite';
import { firstPlaceOf, lastPlaceOf } from '../runs/places.ts';
import type { Cell, Row } from '../sqlite/row-codec.ts';

/** A table that follows from the log, and how to find the rows of one run in it. */
export interface TableOfRuns {
  readonly name: string;
  readonly key: readonly string[];
  readonly columns: readonly string[];
  /** Whether rows are found by their places; otherwise by the run's number. */
  readonly byPlace: boolean;
  readonly where: string;
  readonly parameters: (run: number) => readonly number[];
}

export interface Difference {
  readonly table: string;
  readonly key: string;
  readonly what: string;
  /** The cells of the key, if the log has the row. */
  readonly cells?: readonly Cell[];
}

/**
 * Every table of the schema, so that a new one is compared from the start. Foreign tables that do not refer to runs are left to the schema
 * comparison.
 */
export function tablesOfRuns(database: DatabaseSync): readonly TableOfRuns[] {
  const names = database.prepare(
    "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name",
  );
  const info = database.prepare('select name, pk from pragma_table_info(?) order by cid');
  return names.all().flatMap(({ name }) => {
    const all = info.all(String(name)).map(row => ({ column: String(row.name), pk: Number(row.pk) }));
    const columns = all.map(({ column }) => column);
    const isOfRuns = name === 'runs' || columns.includes('run') || columns.includes('place');
    if (!isOfRuns || !/^[a-z_]+$/.test(String(name))) return [];
    const key = all.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
    return { name: String(name), columns, key: key.map(({ column }) => column), ...selection(String(name), columns) };
  });
}

type Selection = Pick<TableOfRuns, 'byPlace' | 'where' | 'parameters'>;

function selection(name: string, columns: readonly string[]): Selection {
  if (name === 'runs') return { byPlace: false, where: 'n = ?', parameters: run => [run] };
  const isStream = name === 'stream';
  // Message parts are not facts: they are in no record.
  if (columns.includes('run')) {
    return {
      byPlace: false,
      where: isStream ? "run = ? and kind not in ('token', 'thinking')" : 'run = ?',
      parameters: run => [run],
    };
  }
  return {
    byPlace: true,
    where: 'place between ? and ?',
    parameters: run => [firstPlaceOf(run), lastPlaceOf(run)],
  };
}

/** The rows of a run, ordered by key. Integers are bigints, so that numbers of any size are read exactly. */
export function rowsOf({ name, key, where, parameters }: TableOfRuns, run: number, database: DatabaseSync) {
  const rows = database.prepare(`select * from ${name} where ${where} order by ${key.join(', ')}`);
  rows.setReadBigInts(true);
  return rows.iterate(...parameters(run));
}

/** Differences from the schema of the migrations. */
export function* schemaDifferences(expected: DatabaseSync, found: DatabaseSync): Generator<Difference> {
  const [wanted, there] = [expected, found].map(schemaOf) as [
    ReadonlyMap<string, unknown>,
    ReadonlyMap<string, unknown>,
  ];
  for (const name of new Set([...wanted.keys(), ...there.keys()])) {
    if (wanted.get(name) === there.get(name)) continue;
    const what = !there.has(name) ? 'is missing' : wanted.has(name) ? 'was changed' : 'is not part of the schema';
    yield { table: 'sqlite_schema', key: name, what: `it ${what}` };
  }
}

function schemaOf(database: DatabaseSync): ReadonlyMap<string, unknown> {
  const rows = database.prepare(
    "select type || ' ' || name as name, sql from sqlite_schema where name not like 'sqlite_%'",
  );
  return new Map(rows.all().map(({ name, sql }) => [String(name), sql]));
}

/** Rows of a run that differ from the expected ones: changed, missing or extra. */
export function* differences(
  table: TableOfRuns,
  run: number,
  expected: DatabaseSync,
  found: DatabaseSync,
): Generator<Difference> {
  const { name, key } = table;
  // Compares the log by its bodies: compression is not a fact and differs between compressor versions.
  const columns = table.columns.filter(column => !LOGS.includes(name) || column !== 'body');
  const wanted = rowsOf(table, run, expected);
  const there = rowsOf(table, run, found);
  const keyOf = (row: Row) => key.map(column => whole(row[column])).join(' ');
  const cellsOf = (row: Row) => key.map(column => row[column] as Cell);
  const [missing, extra] = [new Map<string, Row>(), new Map<string, Row>()];

  function* compare(at: string, want: Row, have: Row): Generator<Difference> {
    for (const column of columns) {
      if (isSame(want[column], have[column])) continue;
      const what = `${column} is ${shown(have[column])}; the log says ${shown(want[column])}`;
      yield { table: name, key: at, what, cells: cellsOf(want) };
    }
  }

  try {
    for (;;) {
      const [want, have] = [wanted.next(), there.next()];
      if (want.done === true && have.done === true) break;
      if (want.done !== true) {
        const at = keyOf(want.value);
        const same = have.done !== true && keyOf(have.value) === at ? have.value : extra.get(at);
        if (same === undefined) missing.set(at, want.value);
        else yield* compare(at, want.value, same);
        extra.delete(at);
        if (same === have.value) continue;
      }
      if (have.done !== true) {
        const at = keyOf(have.value);
        const same = missing.get(at);
        if (same === undefined) extra.set(at, have.value);
        else yield* compare(at, same, have.value);
        missing.delete(at);
      }
    }
  } finally {
    // An unfinished statement keeps its table locked.
    wanted.return?.();
    there.return?.();
  }
  for (const [at, row] of missing) yield { table: name, key: at, what: 'the row is missing', cells: cellsOf(row) };
  for (const at of extra.keys()) yield { table: name, key: at, what: 'no record of the log wrote this row' };
}

/** Tables whose bodies may be compressed. */
const LOGS = ['records', 'project_records'];

function isSame(a: unknown, b: unknown): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  return a === b;
}

const MAX_SHOWN = 80;

function whole(cell: unknown): string {
  if (cell instanceof Uint8Array) return Buffer.from(cell).toString('hex');
  return typeof cell === 'string' ? JSON.stringify(cell) : String(cell);
}

function shown(cell: unknown): string {
  const text = whole(cell);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}
