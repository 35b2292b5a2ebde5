import type { DatabaseSync } from 'node:sqlite';
import type { LogDefect } from './check-run.ts';
import { allLogs, numbersIn } from './log-numbers.ts';
import { tablesOfRuns } from './row-differences.ts';

/** Rows of run numbers without a log, and logs without a run: no commit wrote them. */
export function strayRows(database: DatabaseSync): readonly LogDefect[] {
  return strays(database).map(({ defect }) => defect);
}

/** The same without rows of listed runs: those are defects of their runs. */
export function unlistedRows(database: DatabaseSync): readonly LogDefect[] {
  const listed = new Set(numbersIn(database, { name: 'runs', byPlace: false }));
  return strays(database).flatMap(({ n, defect }) => (listed.has(n) ? [] : [defect]));
}

/** How a defect names rows of a run with no other name. */
export const STRAY_KEY = 'run number ';

function strays(database: DatabaseSync): readonly { readonly n: number; readonly defect: LogDefect }[] {
  const logs = allLogs(database);
  const numbers = new Set(logs.map(({ n }) => n));
  const named = new Set(numbersIn(database, { name: 'runs', byPlace: false }));
  const key = (n: number) => `${STRAY_KEY}${n}`;
  const nameless = logs
    .filter(({ n, run }) => run === undefined && !named.has(n))
    .map(({ n }) => ({ n, defect: { where: 'log' as const, key: key(n), what: NAMELESS } }));
  const rows = tablesOfRuns(database).flatMap(table =>
    numbersIn(database, table)
      .filter(n => !numbers.has(n))
      .map(n => ({
        n,
        defect: { where: 'table' as const, table: table.name, key: key(n), what: 'no log has these rows' },
      })),
  );
  return [...nameless, ...rows];
}

const NAMELESS = 'a first record cannot be read, and no row says which run it belongs to';
