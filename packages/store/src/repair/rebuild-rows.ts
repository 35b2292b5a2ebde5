import type { DatabaseSync } from 'node:sqlite';
import { Bug, type RunId } from '@signalbox/model';
import { StoreFault } from '../sqlite/json-column.ts';
import type { Cell } from '../sqlite/row-codec.ts';
import { blobsOfRows, checkRun, checkRuns, type LogDefect } from '../verify/check-run.ts';
import { logNumberOf } from '../verify/log-numbers.ts';
import { type ReplayedLog, type ReplayPorts, replayLog } from '../verify/replay-log.ts';
import { rowsOf, type TableOfRuns, tablesOfRuns } from '../verify/row-differences.ts';
import { STRAY_KEY, strayRows } from '../verify/stray-rows.ts';

export interface RebuildReport {
  readonly runs: number;
  /** Runs whose rows were not what their logs come to. They are now. */
  readonly rebuilt: readonly RunId[];
  /** Runs whose logs do not hold. They were left as they are. */
  readonly damaged: readonly Defective[];
  /** Rows of run numbers that have no log: they were removed, and are named by their table. */
  readonly removed: readonly string[];
  /** What is still wrong, and no log can bring back: blobs. */
  readonly missing: readonly Defective[];
}

export interface Defective {
  readonly run: RunId;
  readonly defect: LogDefect;
}

/**
 * Writes the rows of every run anew that are not what its log comes to, in the open transaction.
 *
 * P1  A log is never changed. A run whose log does not hold is named, and left as it is.
 * P2  All rows that are wrong go before the first one is written: what one run should have may lie under another.
 * P3  What was written is checked before the caller commits. Until then rows may refer to runs that are not there yet: the
 *     caller switches the check of foreign keys off.
 */
export function rebuildRows(ports: ReplayPorts): RebuildReport {
  const { database } = ports;
  const checks = [...checkRuns(ports)];
  const damaged = checks.flatMap(({ run, defects }) => {
    const defect = defects.find(({ where }) => where === 'log');
    return defect === undefined ? [] : [{ run, defect }];
  });
  const left = new Set(damaged.map(({ run }) => run));
  const wrong = checks.filter(({ run, defects }) => !left.has(run) && defects.length > 0);
  const numbers = wrong.map(({ run }) => logNumberOf(database, run) as number);
  const tables = tablesOfRuns(database);

  const removed = removeStrays(database, left);
  for (const n of numbers) for (const table of tables) dropRows(database, table, n);
  for (const n of numbers) copyRows(ports, tables, n);

  const missing = wrong.flatMap(({ run }) =>
    (checkRun(ports, run)?.defects ?? []).map((defect): Defective => ({ run, defect })),
  );
  const unmended = missing.find(({ defect }) => defect.where !== 'blob');
  if (unmended !== undefined) throw new Bug(`run ${unmended.run} is not what was written: ${unmended.defect.what}`);
  if (database.prepare('pragma foreign_key_check').get() !== undefined) throw new Bug('a row refers to no run');
  const stillWrong = (run: RunId) => missing.filter(one => one.run === run).length;
  const rebuilt = wrong.filter(({ run, defects }) => defects.length > stillWrong(run)).map(({ run }) => run);
  return { runs: checks.length, rebuilt, damaged, removed, missing };
}

/** Writes the rows of one log anew, whatever is there. The check of foreign keys is off. */
export function renewRows(ports: ReplayPorts, n: number): void {
  const tables = tablesOfRuns(ports.database);
  for (const table of tables) dropRows(ports.database, table, n);
  copyRows(ports, tables, n);
}

/** Removes a log and its rows. The check of foreign keys is off. */
export function removeLog(database: DatabaseSync, n: number): void {
  for (const table of tablesOfRuns(database)) {
    // Parts of messages go too: what was taken out of the log may be in them.
    const { name, where, parameters } = table.name === 'stream' ? { ...table, where: 'run = ?' } : table;
    database.prepare(`delete from ${name} where ${where}`).run(...parameters(n));
  }
}

/** Rows of numbers that have no log. A run whose log is gone keeps its row, for somebody to see. */
function removeStrays(database: DatabaseSync, kept: ReadonlySet<unknown>): readonly string[] {
  const ids = database.prepare('select id from runs where n = ?');
  const strays = strayRows(database).flatMap(({ table, key }) => {
    if (table === undefined) return [];
    const n = Number(key?.slice(STRAY_KEY.length));
    const id = ids.get(n)?.id;
    return kept.has(id) ? [] : [{ table, n }];
  });
  const tables = tablesOfRuns(database);
  for (const { table: name, n } of strays) {
    const table = tables.find(one => one.name === name);
    if (table === undefined) continue;
    // Parts of messages go too: there is no run that they belong to.
    const { where, parameters } = name === 'stream' ? { ...table, where: 'run = ?' } : table;
    database.prepare(`delete from ${name} where ${where}`).run(...parameters(n));
  }
  return strays.map(({ table, n }) => `${table} of ${STRAY_KEY}${n}`);
}

function dropRows(database: DatabaseSync, { name, where, parameters }: TableOfRuns, n: number): void {
  if (name !== 'records') database.prepare(`delete from ${name} where ${where}`).run(...parameters(n));
}

function copyRows(ports: ReplayPorts, tables: readonly TableOfRuns[], n: number): void {
  const replay = replayLog(ports, n);
  try {
    copyReplayed(ports, tables, n, replay);
  } finally {
    replay.database.close();
  }
}

type Replayed = Pick<ReplayedLog, 'database' | 'made'>;

function copyReplayed(ports: ReplayPorts, tables: readonly TableOfRuns[], n: number, replay: Replayed): void {
  for (const table of tables) {
    if (table.name === 'records') copySeqs(ports.database, replay, table, n);
    else insertRows(ports.database, replay, table, n);
    restoreBlobs(ports, replay, table, n);
  }
}

/** Puts the rows that a log was replayed to in the places of those that are there. The log itself stays. */
export function replaceRows(ports: ReplayPorts, n: number, replay: Replayed): void {
  const tables = tablesOfRuns(ports.database);
  for (const table of tables) dropRows(ports.database, table, n);
  copyReplayed(ports, tables, n, replay);
}

function insertRows(database: DatabaseSync, replay: Replayed, table: TableOfRuns, n: number): void {
  const { name, columns } = table;
  // A part of a message that lies where a chunk belongs is none.
  const orReplace = name === 'stream' ? 'or replace' : '';
  const insert = database.prepare(
    `insert ${orReplace} into ${name} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
  );
  for (const row of rowsOf(table, n, replay.database)) insert.run(...columns.map(column => row[column] as Cell));
}

/** The log itself stays; the number of a record's first event follows from it. */
function copySeqs(database: DatabaseSync, replay: Replayed, table: TableOfRuns, n: number): void {
  const update = database.prepare('update records set seq = ?1 where place = ?2 and seq <> ?1');
  for (const { seq, place } of rowsOf(table, n, replay.database)) update.run(seq as Cell, place as Cell);
}

/** Contents that only rows name can be made again. */
function restoreBlobs({ blobs }: ReplayPorts, replay: Replayed, table: TableOfRuns, n: number): void {
  for (const name of blobsOfRows(table, n, replay.database)) {
    const content = replay.made.get(name);
    const put = content === undefined ? undefined : blobs.put(content);
    if (put?.ok === false) throw new StoreFault(put.error);
  }
}
