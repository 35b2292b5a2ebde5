import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { hostDisk, nodeHasher } from '@signalbox/journal';
import type { RunId } from '@signalbox/model';
import { openBlobFiles } from '@signalbox/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namesIn } from '../src/retention/blob-names.ts';
import { allRows } from '../src/retention/run-rows-of-all-tables.ts';
import { firstPlaceOf, lastPlaceOf, PLACES } from '../src/runs/places.ts';
import { checkRun, type LogDefect, strayRows } from '../src/verify/check-run.ts';
import type { ReplayPorts } from '../src/verify/replay-log.ts';
import { type Attack, columnChanges, rowChanges } from './support/attacks.ts';
import { databaseOf } from './support/database-file.ts';
import { logChanges, logOf, resealed, writeLog } from './support/forged-logs.ts';
import { opened } from './support/stores.ts';
import { variedRun } from './support/varied-runs.ts';

const SOAK = process.env.SIGNALBOX_SOAK === '1';

/** Runs with everything: one that is plain, one that is kept and collapsed, one with large values, and their forks. */
let home: string;
let database: DatabaseSync;
let ports: ReplayPorts;
const ids = new Map<number, RunId>();

beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'signalbox-tampering-'));
  const store = opened(home);
  for (const seed of [1, 2, 6]) await variedRun(store, seed);
  store.close();
  database = new DatabaseSync(databaseOf(home));
  database.exec('pragma foreign_keys = off');
  const blobs = openBlobFiles({ disk: hostDisk, hasher: nodeHasher, home, writer: 'test' });
  ports = { database, blobs, hasher: nodeHasher };
  for (const { n, id } of database.prepare('select n, id from runs').all()) ids.set(Number(n), id as RunId);
});
afterAll(() => {
  database.close();
  rmSync(home, { recursive: true, force: true });
});

/** What is found wrong with runs after an attack, which is then undone. */
function foundAfter(attack: () => void, runs: Iterable<number>): readonly LogDefect[] {
  database.exec('begin');
  try {
    attack();
    return [...new Set(runs)]
      .flatMap(n => checkRun(ports, ids.get(n) as RunId)?.defects ?? [])
      .concat(strayRows(database));
  } finally {
    database.exec('rollback');
  }
}

function missedOf(attacks: Iterable<Attack>): { readonly tried: number; readonly missed: readonly string[] } {
  const missed: string[] = [];
  let tried = 0;
  for (const { name, table, keys, runs, apply } of attacks) {
    tried += 1;
    const defects = foundAfter(
      apply,
      runs.filter(n => ids.has(n)),
    );
    if (!defects.some(defect => isNamed(defect, table, keys)))
      missed.push(`${name}: ${JSON.stringify(defects.slice(0, 2))}`);
  }
  return { tried, missed };
}

function isNamed({ where, table, key = '' }: LogDefect, attacked: string, keys: readonly string[]): boolean {
  if (attacked === 'records' && where === 'log') return true;
  return table === attacked && (keys.includes(key) || key.startsWith('run '));
}

/** One in the middle, unless everything is tried. */
function chosen<T>(rows: readonly T[]): readonly T[] {
  return SOAK ? rows : rows.slice(rows.length >> 1, (rows.length >> 1) + 1);
}

describe('a database that somebody changed', () => {
  it('[D80] is as it was committed before', () => {
    expect(foundAfter(() => {}, ids.keys())).toEqual([]);
    const counts = database.prepare("select name from sqlite_schema where type = 'table'").all();
    for (const { name } of counts) {
      expect([name, database.prepare(`select count(*) as rows from ${name}`).get()?.rows]).not.toEqual([name, 0]);
    }
  });

  it('[D80] is found out by every column of every table', { timeout: 600_000 }, () => {
    const { tried, missed } = missedOf(columnChanges(database, chosen));
    expect(missed).toEqual([]);
    expect(tried).toBeGreaterThan(100);
  });

  it('[D80] is found out by a row that is deleted, added, or in the place of another', { timeout: 600_000 }, () => {
    const { tried, missed } = missedOf(rowChanges(database, chosen));
    expect(missed).toEqual([]);
    expect(tried).toBeGreaterThan(30);
  });
});

describe('a log that somebody changed', () => {
  it('[D81] is found out, whichever record was changed, deleted, added, moved or cut off', { timeout: 600_000 }, () => {
    const missed: string[] = [];
    for (const n of ids.keys()) {
      for (const [name, changed] of logChanges(logOf(database, n), SOAK)) {
        const defects = foundAfter(() => writeLog(database, n, changed), [n]);
        // A log that is cut off is whole: the row of its run says that there was more.
        const isNamed = defects.some(({ where, table }) => where === 'log' || table === 'runs');
        if (!isNamed) missed.push(`run ${n}: ${name}`);
      }
    }
    expect(missed).toEqual([]);
  });

  it('[D82] and sealed again does not have the head that was noted', { timeout: 600_000 }, () => {
    const missed: string[] = [];
    for (const [n, run] of ids) {
      const noted = checkRun(ports, run)?.head ?? '';
      for (const [name, changed] of logChanges(logOf(database, n), SOAK)) {
        database.exec('begin');
        writeLog(database, n, resealed(changed));
        const check = checkRun(ports, run);
        database.exec('rollback');
        // A record that was added at the end leaves the head that was noted: only the tables know.
        if (check === undefined || (check.heads.has(noted) && check.defects.length === 0))
          missed.push(`run ${n}: ${name}`);
      }
    }
    expect(missed).toEqual([]);
  });

  it('[D81] has one place, and its run one log', () => {
    const [[n, run]] = ids as unknown as [[number, RunId]];
    const moved = `update records set place = place + ${50 * PLACES} where place between ${firstPlaceOf(n)} and ${lastPlaceOf(n)}`;
    expect(foundAfter(() => database.exec(moved), [n])).toContainEqual({
      where: 'log',
      what: `its log has the number ${n + 50}, its row the number ${n}`,
    });
    const copied = `insert into records select place + ${50 * PLACES}, seq, header, body, hash from records
      where place between ${firstPlaceOf(n)} and ${lastPlaceOf(n)}`;
    expect(foundAfter(() => database.exec(copied), [n])).toContainEqual({
      where: 'log',
      what: `2 logs say that they are of run ${run}`,
    });
    const gone = `delete from records where place between ${firstPlaceOf(n)} and ${lastPlaceOf(n)}`;
    expect(foundAfter(() => database.exec(gone), [n])).toContainEqual({ where: 'log', what: `run ${run} has no log` });
  });
});

describe('a blob that somebody changed', () => {
  it('[D84] is found out and named, whichever it is: another byte, or none', () => {
    const files = readdirSync(path.join(home, 'blobs'), { recursive: true, encoding: 'utf8' })
      .map(file => path.join(home, 'blobs', file))
      .filter(file => statSync(file).isFile());
    const named = new Set(
      [...ids.keys()].flatMap(n => [...allRows(database).values(n)]).flatMap(value => [...namesIn(value)]),
    );
    const live = files.filter(file => named.has(path.basename(file)));
    expect(live.length).toBeGreaterThan(5);
    for (const file of chosenBlobs(live)) {
      const content = readFileSync(file);
      const damaged = Uint8Array.from(content);
      damaged[content.length >> 1] = (damaged[content.length >> 1] ?? 0) ^ 1;
      for (const change of [() => writeFileSync(file, damaged), () => rmSync(file)]) {
        change();
        expect(JSON.stringify(foundAfter(() => {}, ids.keys()))).toContain(path.basename(file));
        writeFileSync(file, content);
      }
    }
    expect(foundAfter(() => {}, ids.keys())).toEqual([]);
  });
});

function chosenBlobs(files: readonly string[]): readonly string[] {
  return SOAK ? files : files.filter((_, index) => index % 4 === 0);
}

describe('a schema that somebody changed', () => {
  it.each([
    ['a table more', 'create table secrets (place integer primary key)', 'table secrets'],
    ['a trigger', 'create trigger t after insert on tasks begin delete from usage; end', 'trigger t'],
    ['an index less', 'drop index runs_by_status', 'index runs_by_status'],
    ['a column more', 'alter table tasks add column note text', 'table tasks'],
  ])('[D80] is found out: %s', (_name, sql, key) => {
    expect(foundAfter(() => database.exec(sql), [1])).toContainEqual(
      expect.objectContaining({ where: 'table', table: 'sqlite_schema', key }),
    );
  });
});

describe('honest runs', () => {
  it('[D83] are not said to be changed', { timeout: 600_000 }, async () => {
    const elsewhere = mkdtempSync(path.join(tmpdir(), 'signalbox-honest-'));
    try {
      const store = opened(elsewhere);
      await Promise.all(Array.from({ length: SOAK ? 200 : 20 }, (_, seed) => variedRun(store, 10 + seed)));
      store.close();
      const honest = new DatabaseSync(databaseOf(elsewhere), { readOnly: true });
      const blobs = openBlobFiles({ disk: hostDisk, hasher: nodeHasher, home: elsewhere, writer: 'test' });
      const found = honest
        .prepare('select id from runs')
        .all()
        .flatMap(
          ({ id }) =>
            checkRun({ database: honest, blobs, hasher: nodeHasher }, id as RunId)?.defects ?? [
              { where: 'log' as const, what: 'gone' },
            ],
        );
      expect([...found, ...strayRows(honest)]).toEqual([]);
      honest.close();
    } finally {
      rmSync(elsewhere, { recursive: true, force: true });
    }
  });
});
