import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { bodyOfCell } from '../runs/body-cell.ts';
import { firstPlaceOf, lastPlaceOf } from '../runs/places.ts';
import { neededPart } from './blob-names.ts';

/** All rows of one run in every table, keyed by run or by place. */
export interface AllRows {
  /** The size of its rows, without indexes. */
  bytesOf(run: number): number;
  /** One range delete per table. */
  remove(run: number): void;
  /** Every value of every row that may name a blob. */
  values(run: number): Iterable<unknown>;
  /** The same of all projects. */
  projectValues(): Iterable<unknown>;
}

const placed = ['records', 'frames'];

export function allRows(database: DatabaseSync): AllRows {
  const tables = tablesOfRuns(database).map(table => ({ table, where: 'run = ?1', of: (run: number) => [run] }));
  const places = placed.map(table => ({
    table,
    where: 'place between ?1 and ?2',
    of: (run: number) => [firstPlaceOf(run), lastPlaceOf(run)],
  }));
  const own = { table: 'runs', where: 'n = ?1', of: (run: number) => [run] };
  // The run itself comes last: the others refer to it.
  const all = [...places, ...tables, own].map(({ table, where, of }) => {
    const lengths = columnsOf(database, table).map(column => `coalesce(length("${column}"), 0)`);
    return {
      table,
      of,
      weigh: database.prepare(`select coalesce(sum(${lengths.join(' + ')}), 0) as bytes from ${table} where ${where}`),
      select: database.prepare(`select * from ${table} where ${where}`),
      drop: database.prepare(`delete from ${table} where ${where}`),
    };
  });
  const projectRecords = database.prepare('select header, body from project_records');
  const projectStates = database.prepare('select state from project_states');
  return {
    *projectValues() {
      for (const { header, body } of projectRecords.iterate()) yield `${String(header)} ${bodyOfCell(body)}`;
      for (const { state } of projectStates.iterate()) yield state;
    },
    bytesOf: run => all.reduce((sum, { weigh, of }) => sum + Number(weigh.get(...of(run))?.bytes), 0),
    remove(run) {
      for (const { drop, of } of all) drop.run(...of(run));
    },
    *values(run) {
      for (const { select, of, table } of all) yield* valuesOf(select, of(run), table);
    },
  };
}

function* valuesOf(select: StatementSync, parameters: readonly number[], table: string): Generator<unknown> {
  for (const row of select.iterate(...parameters)) {
    if (table !== 'records') yield* Object.values(row);
    else yield neededPart({ header: String(row.header), body: bodyOfCell(row.body) });
  }
}

function tablesOfRuns(database: DatabaseSync): readonly string[] {
  return database
    .prepare(`
      select distinct tables.name as name from sqlite_schema as tables, pragma_foreign_key_list(tables.name) as key
      where tables.type = 'table' and key."table" = 'runs' and key."from" = 'run'`)
    .all()
    .map(({ name }) => String(name));
}

function columnsOf(database: DatabaseSync, table: string): readonly string[] {
  return database
    .prepare('select name from pragma_table_info(?)')
    .all(table)
    .map(({ name }) => String(name));
}
