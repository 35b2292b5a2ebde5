import type { DatabaseSync } from 'node:sqlite';
import { Bug, type RunId } from '@signalbox/model';
import { StoreFault } from '../sqlite/json-column.ts';
import type { Cell } from '../sqlite/row-codec.ts';
import { blobsOfRows, checkRun, checkRuns, type LogDefect } from '../verify/check-run.ts';
import { logNumberOf } from '../verify/log-numbers.ts';
import { type ReplayedLog, type ReplayPorts, replayLog } from '../verify/replay-log.ts';
import { rowsOf, type TableOfRuns, tablesOfRuns } from '../verify/row-differences.ts';
import { STRAY_KEY, strayRows } from '../verify/stray-rows.ts';
import { type ProjectRebuild, rebuildProjects } from './rebuild-projects.ts';

export interface RebuildReport {
  readonly runs: number;
  /** Runs whose rows differed from their logs and were fixed. */
  readonly rebuilt: readonly RunId[];
  /** Runs with damaged logs, left untouched. */
  readonly damaged: readonly Defective[];
  /** Rows of run numbers without a log, by table; they were removed. */
  readonly removed: readonly string[];
  /** Defects that no log can repair: blobs. */
  readonly missing: readonly Defective[];
  /** The same for projects. */
  readonly ofProjects: ProjectRebuild;
}

interface Defective {
  readonly run: RunId;
  readonly defect: LogDefect;
}

/**
 * Rewrites the rows of every run that differ from its log, in the open transaction.
 *
 * P1  A log is never changed. A run with a damaged log is named and left untouched.
 * P2  All wrong rows are deleted before the first is written: rows of one run may sit where another's belong.
 * P3  The result is checked before the caller commits. Until then rows may refer to runs that do not exist yet, so the caller switches off
 *     foreign key checks.
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
  const ofProjects = rebuildProjects(ports);
  if (database.prepare('pragma foreign_key_check').get() !== undefined)
    throw new Bug('a row refers to no run or project');
  const stillWrong = (run: RunId) => missing.filter(one => one.run === run).length;
  const rebuilt = wrong.filter(({ run, defects }) => defects.length > stillWrong(run)).map(({ run }) => run);
  return { runs: checks.length, rebuilt, damaged, removed: [...removed, ...ofProjects.removed], missing, ofProjects };
}

/** Rewrites the rows of one log. Foreign key checks must be off. */
export function renewRows(ports: ReplayPorts, n: number): void {
  const tables = tablesOfRuns(ports.database);
  for (const table of tables) dropRows(ports.database, table, n);
  copyRows(ports, tables, n);
}

/** Removes a log and its rows. Foreign key checks must be off. */
export function removeLog(database: DatabaseSync, n: number): void {
  for (const table of tablesOfRuns(database)) {
    // Message parts are deleted too: they may contain what was redacted from the log.
    const { name, where, parameters } = table.name === 'stream' ? { ...table, where: 'run = ?' } : table;
    database.prepare(`delete from ${name} where ${where}`).run(...parameters(n));
  }
}

/** Removes rows of numbers without a log. A run whose log is gone keeps its row, so that people can see it. */
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
    // Message parts are deleted too: they belong to no run.
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

/** Replaces the stored rows with the replayed ones. The log stays. */
export function replaceRows(ports: ReplayPorts, n: number, replay: Replayed): void {
  const tables = tablesOfRuns(ports.database);
  for (const table of tables) dropRows(ports.database, table, n);
  copyReplayed(ports, tables, n, replay);
}

function insertRows(database: DatabaseSync, replay: Replayed, table: TableOfRuns, n: number): void {
  const { name, columns } = table;
  // A message part stored in the place of a chunk is not valid.
  const orReplace = name === 'stream' ? 'or replace' : '';
  const insert = database.prepare(
    `insert ${orReplace} into ${name} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
  );
  for (const row of rowsOf(table, n, replay.database)) insert.run(...columns.map(column => row[column] as Cell));
}

/** The log stays; the `seq` of a record's first event is derived from it. */
function copySeqs(database: DatabaseSync, replay: Replayed, table: TableOfRuns, n: number): void {
  const update = database.prepare('update records set seq = ?1 where place = ?2 and seq <> ?1');
  for (const { seq, place } of rowsOf(table, n, replay.database)) update.run(seq as Cell, place as Cell);
}

/** Contents that only rows name can be recreated. */
function restoreBlobs({ blobs }: ReplayPorts, replay: Replayed, table: TableOfRuns, n: number): void {
  for (const name of blobsOfRows(table, n, replay.database)) {
    const content = replay.made.get(name);
    const put = content === undefined ? undefined : blobs.put(content);
    if (put?.ok === false) throw new StoreFault(put.error);
  }
}
