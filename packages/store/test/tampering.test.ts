import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deflateRawSync } from 'node:zlib';
import { hostDisk, nodeHasher } from '@signalbox/journal';
import type { RunId } from '@signalbox/model';
import { openBlobFiles } from '@signalbox/store';
import { seededRng } from '@signalbox/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sized } from '../../../test/sized.ts';
import { namesIn } from '../src/retention/blob-names.ts';
import { allRows } from '../src/retention/run-rows-of-all-tables.ts';
import { firstPlaceOf, lastPlaceOf, PLACES } from '../src/runs/places.ts';
import { checkRun, type LogDefect } from '../src/verify/check-run.ts';
import type { ReplayPorts } from '../src/verify/replay-log.ts';
import { strayRows, unlistedRows } from '../src/verify/stray-rows.ts';
import { type Attack, columnChanges, rowChanges } from './support/attacks.ts';
import { databaseOf } from './support/database-file.ts';
import { isSameLog, logChanges, logOf, resealed, writeLog } from './support/forged-logs.ts';
import { importedCopy } from './support/imported-copy.ts';
import { redact, secretRun } from './support/secret-runs.ts';
import { opened } from './support/stores.ts';
import { projectNamed, variedProject } from './support/varied-projects.ts';
import { variedRun } from './support/varied-runs.ts';

const SOAK = process.env.SIGNALBOX_SOAK === '1';
const HOURS = { timeout: 8 * 3_600_000 };

/**
 * Runs with everything: plain with a sub-plan, kept and collapsed, with large values, forked, redacted, imported, and a fork whose
 * parent is gone.
 */
let home: string;
let database: DatabaseSync;
let ports: ReplayPorts;
const ids = new Map<number, RunId>();

beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'signalbox-tampering-'));
  const store = opened(home);
  for (const seed of [1, 2, 6]) await variedRun(store, seed);
  await variedProject(store, projectNamed(1));
  redact(store, (await secretRun(store)).run);
  await importedCopy(store, await variedRun(store, 4));
  expect(store.retention.remove([await variedRun(store, 3)])).toMatchObject({ ok: true });
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

/** The defects of runs after an attack, which is then undone. */
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
  for (const attack of attacks) {
    // The schema refuses some attacks.
    if (!isPossible(attack)) continue;
    tried += 1;
    const defects = foundAfter(
      attack.apply,
      attack.runs.filter(n => ids.has(n)),
    );
    if (!defects.some(defect => isNamed(defect, attack)))
      missed.push(`${attack.name}: ${JSON.stringify(defects.slice(0, 2))}`);
  }
  return { tried, missed };
}

function isPossible({ apply }: Attack): boolean {
  database.exec('begin');
  try {
    apply();
    return true;
  } catch (cause) {
    if (cause instanceof Error && /constraint failed/.test(cause.message)) return false;
    throw cause;
  } finally {
    database.exec('rollback');
  }
}

/** Table and key are named; of a value that changed also the version that wrote it, and what is expected. */
function isNamed(defect: LogDefect, { table: attacked, keys, column }: Attack): boolean {
  const { where, table, key = '', version = 0, what } = defect;
  if (attacked === 'records' && where === 'log') return true;
  if (table !== attacked) return false;
  if (key.startsWith('run number ')) return true;
  return (
    keys.includes(key) &&
    (column === undefined || (version > 0 && what.startsWith(`${column} is `) && what.includes('; the log says ')))
  );
}

const rng = seededRng(14);

/** One, unless everything is tried. */
function chosen<T>(rows: readonly T[]): readonly T[] {
  const at = rng.below(Math.max(1, rows.length));
  return SOAK ? rows : rows.slice(at, at + 1);
}

/** One of so many records, and the last, unless everything is tried. */
function someOf(records: readonly unknown[]): (at: number) => boolean {
  return at => at === records.length - 1 || rng.below(sized(40, 5, 1)) === 0;
}

describe('a database that somebody changed', () => {
  it('[D80] is as it was committed before', () => {
    expect(foundAfter(() => {}, ids.keys())).toEqual([]);
    const counts = database.prepare("select name from sqlite_schema where type = 'table'").all();
    for (const { name } of counts) {
      expect([name, database.prepare(`select count(*) as rows from ${name}`).get()?.rows]).not.toEqual([name, 0]);
      for (const { name: column } of database.prepare('select name from pragma_table_info(?)').all(String(name))) {
        const used = database.prepare(`select count("${column}") as used from ${name}`).get()?.used;
        expect([name, column, used]).not.toEqual([name, column, 0]);
      }
    }
  });

  it('[D80] [D321] is found out by every column of every table, and who wrote what is expected is named', HOURS, () => {
    const { tried, missed } = missedOf(columnChanges(database, chosen));
    expect(missed).toEqual([]);
    expect(tried).toBeGreaterThan(100);
  });

  it('[D80] is found out by a row that is deleted, added, cut off, or in the place of another', HOURS, () => {
    const { tried, missed } = missedOf(rowChanges(database, chosen));
    expect(missed).toEqual([]);
    expect(tried).toBeGreaterThan(30);
  });

  it('[D320] is found out by rows of a run that neither a log nor the list of runs knows', () => {
    const table =
      'insert into usage select 900, call, node, task, provider, model, 1, 1, 1, 1, 1, 1, at from usage limit 1';
    database.exec('begin');
    database.exec(table);
    const found = unlistedRows(database);
    database.exec('rollback');
    expect(found).toEqual([{ where: 'table', table: 'usage', key: 'run number 900', what: 'no log has these rows' }]);
    // A run that is listed and lost its log is a defect of its own.
    const [[n]] = ids as unknown as [[number]];
    const gone = `delete from records where place between ${firstPlaceOf(n)} and ${lastPlaceOf(n)}`;
    database.exec('begin');
    database.exec(gone);
    const [strays, unlisted] = [strayRows(database), unlistedRows(database)];
    database.exec('rollback');
    expect([strays.length > 0, unlisted]).toEqual([true, []]);
  });
});

describe('a log that somebody changed', () => {
  it(
    '[D81] is found out, whichever record was changed, deleted, added, moved or cut off, and the record is named',
    HOURS,
    () => {
      const missed: string[] = [];
      for (const n of ids.keys()) {
        const log = logOf(database, n);
        for (const { name, changed, record } of logChanges(log, someOf(log))) {
          const defects = foundAfter(() => writeLog(database, n, changed), [n]);
          const first = changed.length === 0 ? undefined : record;
          if (!defects.some(defect => defect.where === 'log' && defect.record === first))
            missed.push(`run ${n}, ${name}: ${JSON.stringify(defects.slice(0, 2))}`);
        }
      }
      expect(missed).toEqual([]);
    },
  );

  it('[D82] and sealed again does not have the head that was noted', HOURS, () => {
    const missed: string[] = [];
    for (const [n, run] of ids) {
      const noted = checkRun(ports, run)?.head ?? '';
      const log = logOf(database, n);
      for (const { name, changed } of logChanges(log, someOf(log))) {
        const forged = resealed(changed);
        if (isSameLog(forged, log)) continue;
        database.exec('begin');
        writeLog(database, n, forged);
        const check = checkRun(ports, run);
        database.exec('rollback');
        // A record that was added at the end leaves the head that was noted: only the tables know.
        if (check === undefined || (check.heads.has(noted) && check.defects.length === 0))
          missed.push(`run ${n}, ${name}`);
      }
    }
    expect(missed).toEqual([]);
  });

  it('[D220] is as it was committed, however its bodies are compressed', () => {
    const put = database.prepare('update records set body = ? where place = ?');
    const [n = 0] = ids.keys();
    expect(
      foundAfter(() => {
        for (const [index, { body }] of logOf(database, n).entries()) put.run(body, firstPlaceOf(n) + index);
      }, [n]),
    ).toEqual([]);
  });

  it('[D221] is found out by a compressed body of which a byte was changed, added or cut off, and names its record', () => {
    const [n = 0] = ids.keys();
    const place = firstPlaceOf(n) + 2;
    const body = Buffer.from(
      database.prepare('select body from records where place = ?').get(place)?.body as Uint8Array,
    );
    const put = database.prepare('update records set body = ? where place = ?');
    const bomb = Buffer.concat([body.subarray(0, 1), deflateRawSync(Buffer.alloc(1 << 26, '[')), body]);
    const changes = [
      ...[0, 1, body.length >> 1, body.length - 1].map(at =>
        body.map((byte, index) => (index === at ? byte ^ 0xff : byte)),
      ),
      body.subarray(0, -1),
      Buffer.concat([body, body]),
      bomb,
    ];
    for (const changed of changes) {
      const [defect, ...others] = foundAfter(() => put.run(changed, place), [n]);
      expect(defect).toMatchObject({ where: 'log', record: 2, what: 'its body is not the one that its header names' });
      expect(others).toEqual([]);
    }
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
      what: `2 logs claim to belong to run ${run}`,
    });
    const gone = `delete from records where place between ${firstPlaceOf(n)} and ${lastPlaceOf(n)}`;
    expect(foundAfter(() => database.exec(gone), [n])).toContainEqual({ where: 'log', what: `run ${run} has no log` });
  });
});

describe('a blob that somebody changed', () => {
  it(
    '[D84] is found out and named, whichever it is: another byte, one more, some less, another content, or none',
    HOURS,
    () => {
      const files = readdirSync(path.join(home, 'blobs'), { recursive: true, encoding: 'utf8' })
        .map(file => path.join(home, 'blobs', file))
        .filter(file => statSync(file).isFile());
      const named = new Map(
        [...ids.keys()].map(n => [n, new Set([...allRows(database).values(n)].flatMap(value => [...namesIn(value)]))]),
      );
      const runsOf = (file: string) => [...ids.keys()].filter(n => named.get(n)?.has(path.basename(file)));
      const live = files.filter(file => runsOf(file).length > 0);
      expect(live.length).toBeGreaterThan(5);
      for (const [index, file] of live.entries()) {
        if (index > 0 && rng.below(sized(8, 4, 1)) > 0) continue;
        const content = readFileSync(file);
        const other = readFileSync(live[(index + 1) % live.length] as string);
        const changes: readonly (() => void)[] = [
          () => writeFileSync(file, content.with(content.length >> 1, (content[content.length >> 1] ?? 0) ^ 1)),
          () => writeFileSync(file, Buffer.concat([content, Buffer.from(' ')])),
          () => writeFileSync(file, content.subarray(0, content.length >> 1)),
          () => writeFileSync(file, other),
          () => writeFileSync(file, ''),
          () => rmSync(file),
        ];
        for (const change of changes) {
          change();
          expect(JSON.stringify(foundAfter(() => {}, runsOf(file)))).toContain(path.basename(file));
          writeFileSync(file, content);
        }
      }
      expect(foundAfter(() => {}, ids.keys())).toEqual([]);
    },
  );
});

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
  it('[D83] are not said to be changed', HOURS, async () => {
    const elsewhere = mkdtempSync(path.join(tmpdir(), 'signalbox-honest-'));
    try {
      const store = opened(elsewhere);
      await Promise.all(Array.from({ length: sized(8, 20, 200) }, (_, seed) => variedRun(store, 10 + seed)));
      for (let copies = 0; copies < sized(1, 2, 10); copies++) redact(store, (await secretRun(store)).run);
      await importedCopy(store, await variedRun(store, 300));
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
