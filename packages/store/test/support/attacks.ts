import type { DatabaseSync } from 'node:sqlite';
import { PLACES } from '../../src/runs/places.ts';
import { type TableOfRuns, tablesOfRuns } from '../../src/verify/row-differences.ts';

type Cell = null | bigint | number | string | Uint8Array;
type Row = Record<string, Cell>;

/** Something that somebody does to the database behind our back. */
export interface Attack {
  readonly name: string;
  readonly table: string;
  /** The rows that were touched, by their keys as a defect names them, before and after. */
  readonly keys: readonly string[];
  /** The numbers of the runs whose rows were touched. */
  readonly runs: readonly number[];
  /** The column that was changed, where the row is still the one that it was. */
  readonly column?: string;
  apply(): void;
}

/** Which of the rows are attacked. */
export type Chosen = <T>(rows: readonly T[]) => readonly T[];

interface Column {
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly isKey: boolean;
}

/** Every column of every table, for the rows that `chosen` lets through: another value, none where one was, one where none was. */
export function* columnChanges(
  database: DatabaseSync,
  chosen: Chosen,
  tables = tablesOfRuns(database),
): Generator<Attack> {
  for (const table of tables) {
    const rows = factsIn(database, table);
    for (const column of columnsOf(database, table)) {
      const [without, having] = [true, false].map(isNull => rows.filter(row => (row[column.name] === null) === isNull));
      for (const row of [...chosen(having ?? []), ...chosen(without ?? [])]) {
        for (const value of chosen(otherValues(column, row[column.name] ?? null))) {
          const changed = { ...row, [column.name]: value };
          yield {
            name: `${table.name} ${keyOf(table, row)}: ${column.name} becomes ${shown(value)}`,
            table: table.name,
            keys: [keyOf(table, row), keyOf(table, changed)],
            runs: [numberOf(table, row), numberOf(table, changed)],
            ...(!table.key.includes(column.name) && { column: column.name }),
            apply: () => replace(database, table, [row], [changed]),
          };
        }
      }
    }
  }
}

/** A row of every table that is deleted, one that is added, two that change places, and rows that are cut off. */
export function* rowChanges(
  database: DatabaseSync,
  chosen: Chosen,
  tables = tablesOfRuns(database),
): Generator<Attack> {
  for (const table of tables) {
    const rows = factsIn(database, table);
    const columns = columnsOf(database, table);
    const attack = (word: string, before: readonly Row[], after: readonly Row[]): Attack => ({
      name: `${table.name}: ${word} ${[...before, ...after].map(row => keyOf(table, row)).join(', ')}`,
      table: table.name,
      keys: [...before, ...after].map(row => keyOf(table, row)),
      runs: [...before, ...after].map(row => numberOf(table, row)),
      apply: () => replace(database, table, before, after),
    });
    for (const row of chosen(rows)) {
      yield attack('delete', [row], []);
      const rest = rows.slice(rows.indexOf(row)).filter(other => numberOf(table, other) === numberOf(table, row));
      if (rest.length > 1) yield attack('cut off from', rest, []);
      yield attack('insert', [], [withOtherKey(columns, row)]);
      const other = rows[(rows.indexOf(row) + 1) % rows.length] as Row;
      const swapped = [keyed(table, row, other), keyed(table, other, row)];
      const isSwap = swapped.some(one => !rows.some(there => isSameRow(one, there)));
      if (isSwap) yield attack('swap', [row, other], swapped);
    }
  }
}

/** Rows that follow from logs; parts of messages do not. */
function factsIn(database: DatabaseSync, { name, key }: TableOfRuns): readonly Row[] {
  const where = name === 'stream' ? "where kind not in ('token', 'thinking')" : '';
  const rows = database.prepare(`select * from ${name} ${where} order by ${key.join(', ')}`);
  rows.setReadBigInts(true);
  return rows.all() as Row[];
}

function columnsOf(database: DatabaseSync, { name }: TableOfRuns): readonly Column[] {
  const unique = database.prepare(
    `select distinct columns.name as name from pragma_index_list(?) as list, pragma_index_info(list.name) as columns
     where list."unique" = 1`,
  );
  const keys = new Set(unique.all(name).map(row => row.name));
  return database
    .prepare('select name, type, "notnull" as not_null, pk from pragma_table_info(?)')
    .all(name)
    .map(row => ({
      name: String(row.name),
      type: String(row.type).toLowerCase(),
      isNullable: row.not_null === 0 && row.pk === 0,
      isKey: row.pk !== 0 || keys.has(row.name as never),
    }));
}

/** Values that the column takes and that are not the one it has. */
function otherValues({ name, type, isNullable }: Column, value: Cell): readonly Cell[] {
  const none = isNullable && value !== null ? [null] : [];
  if (typeof value === 'bigint') {
    // A place moves within its run, and to a run that has no log.
    if (name === 'place') return [value + 1000n, value + 1000n * BigInt(PLACES)];
    return [value + 1000n, 2n ** 62n, ...none];
  }
  if (value instanceof Uint8Array) return [flipped(value), ...(type === 'any' ? ['"text"', 1n] : [new Uint8Array()])];
  if (typeof value === 'string') return [`${value} `, `x${value}`, ...(type === 'any' ? [1n] : ['']), ...none];
  return type === 'integer' ? [1n] : type === 'any' ? ['1', 1n] : ['x'];
}

function flipped(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[0] = (copy[0] ?? 0) ^ 1;
  return copy;
}

function withOtherKey(columns: readonly Column[], row: Row): Row {
  const copy = { ...row };
  for (const { name, isKey } of columns) {
    const value = row[name];
    if (!isKey || ((name === 'run' || name === 'project') && columns.filter(column => column.isKey).length > 1))
      continue;
    if (typeof value === 'bigint') copy[name] = value + 500n;
    if (typeof value === 'string') copy[name] = `${value}x`;
  }
  return copy;
}

/** The row under the key of another. */
function keyed({ key }: TableOfRuns, row: Row, other: Row): Row {
  return { ...row, ...Object.fromEntries(key.map(name => [name, other[name] as Cell])) };
}

function replace(
  database: DatabaseSync,
  { name, key }: TableOfRuns,
  before: readonly Row[],
  after: readonly Row[],
): void {
  const drop = database.prepare(`delete from ${name} where ${key.map(column => `${column} = ?`).join(' and ')}`);
  for (const row of before) drop.run(...key.map(column => row[column] as Cell));
  for (const row of after) {
    const columns = Object.keys(row);
    database
      .prepare(`insert into ${name} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`)
      .run(...Object.values(row));
  }
}

function numberOf({ name, byPlace }: TableOfRuns, row: Row): number {
  if (name === 'runs' || name === 'projects') return Number(row.n);
  if (row.project !== undefined) return Number(row.project);
  return byPlace ? Number((row.place as bigint) / BigInt(PLACES)) : Number(row.run);
}

function keyOf({ key }: TableOfRuns, row: Row): string {
  return key
    .map(column => (typeof row[column] === 'string' ? JSON.stringify(row[column]) : String(row[column])))
    .join(' ');
}

function isSameRow(a: Row, b: Row): boolean {
  return Object.keys(a).every(name => shown(a[name] ?? null) === shown(b[name] ?? null));
}

function shown(value: Cell): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
