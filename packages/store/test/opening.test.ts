import { once } from 'node:events';
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { openStore } from '@signalbox/store';
import { describe, expect, it, onTestFinished } from 'vitest';
import { at, frame, signal, startRun } from '../../runs/test/builders.ts';
import {
  FIRST_VERSION,
  type Migration,
  migrate,
  migrations,
  SCHEMA_VERSION,
  schemaVersion,
} from '../src/migrations/migrate.ts';
import { ALL_AT } from '../src/runs/interval-rows.ts';
import {
  ARTIFACT_PAGE,
  ORPHANS,
  RUN_DECISIONS,
  RUN_LIST,
  SPENT_BY_RUN,
  STATUS_DECISIONS,
  UNDER_WAY,
} from '../src/runs/run-reader.ts';
import { isAtLeast, openConnection } from '../src/sqlite/connection.ts';
import { databaseOf } from './support/database-file.ts';
import { opened, temporaryHome, temporaryStore } from './support/stores.ts';
import { diskBroke, watchedDatabase } from './support/watched-database.ts';

function openedDatabase(home: string): DatabaseSync {
  const connection = openConnection(databaseOf(home));
  if (!connection.ok) throw new Error(connection.error.message);
  onTestFinished(() => {
    if (connection.value.isOpen) connection.value.close();
  });
  return connection.value;
}

/** Holds a database until it is told to let go. */
const HOLDER = `
  const { DatabaseSync } = require('node:sqlite');
  const { parentPort, workerData: { path, flag } } = require('node:worker_threads');
  const database = new DatabaseSync(path);
  database.exec('pragma locking_mode = exclusive; begin exclusive; rollback; begin exclusive');
  parentPort.postMessage('held');
  Atomics.wait(flag, 0, 0);
  database.close();
`;

describe('opening a store', () => {
  it('[D1] makes every COMMIT durable, checks foreign keys, and waits for no lock', () => {
    const watched = watchedDatabase();
    temporaryStore({ connect: watched.connect });
    const pragma = (name: string) => Object.values(watched.database().prepare(`pragma ${name}`).get() ?? {})[0];
    expect(
      Object.fromEntries(
        ['journal_mode', 'synchronous', 'foreign_keys', 'busy_timeout', 'fullfsync', 'checkpoint_fullfsync'].map(
          name => [name, pragma(name)],
        ),
      ),
    ).toEqual({
      journal_mode: 'wal',
      synchronous: 2,
      foreign_keys: 1,
      busy_timeout: 0,
      fullfsync: 1,
      checkpoint_fullfsync: 1,
    });
  });

  it('[A773] waits for a process that holds the file, and for none after that', async () => {
    const home = temporaryHome();
    opened(home).close();
    const path = databaseOf(home);
    const flag = new Int32Array(new SharedArrayBuffer(4));
    const holder = new Worker(HOLDER, { eval: true, workerData: { path, flag } });
    onTestFinished(() => void holder.terminate());
    await once(holder, 'message');
    let connected: DatabaseSync | undefined;
    const connection = openConnection(path, place => {
      connected = new DatabaseSync(place, { timeout: 0 });
      // From here on, the holder lets go: the first statement still meets its lock.
      Atomics.store(flag, 0, 1);
      Atomics.notify(flag, 0);
      return connected;
    });
    expect(connection.ok ? '' : connection.error.message).toBe('');
    expect(connected?.prepare('pragma busy_timeout').get()).toEqual({ timeout: 0 });
    connected?.close();
  });

  it('[D70] leaves nothing of it readable for others, whatever the umask and whatever it was before', () => {
    const umask = process.umask(0);
    onTestFinished(() => void process.umask(umask));
    const home = temporaryHome();
    const modes = () =>
      Object.fromEntries(readdirSync(home).map(name => [name, (statSync(`${home}/${name}`).mode & 0o777).toString(8)]));
    const closed = { 'db.sqlite': '600', 'db.sqlite-wal': '600', 'db.sqlite-shm': '600' };
    openedDatabase(home);
    expect(modes()).toEqual(closed);
    for (const name of Object.keys(closed)) chmodSync(`${home}/${name}`, 0o644);
    openedDatabase(home);
    expect(modes()).toEqual(closed);
  });

  it('[D1] refuses an SQLite whose log is not sound', () => {
    const versions = ['3.51.2', '3.51.3', '3.51.10', '3.52.0', '4.0.0', '3.9.0', '2.99.99'];
    expect(versions.map(version => isAtLeast(version, '3.51.3'))).toEqual([
      false,
      true,
      true,
      true,
      true,
      false,
      false,
    ]);
    const old = openConnection(databaseOf(temporaryHome()), path => {
      const database = new DatabaseSync(path);
      database.function('sqlite_version', () => '3.45.1');
      return database;
    });
    expect(old).toMatchObject({ error: { code: 'store/unusable', message: expect.stringContaining('3.45.1') } });
  });

  it('[D1] refuses a file that is not ours, and leaves it as it is', () => {
    const home = temporaryHome();
    const foreign = new DatabaseSync(databaseOf(home));
    foreign.exec('create table bookmarks (url text)');
    foreign.close();
    expect(openStore({ path: databaseOf(home) })).toMatchObject({ error: { code: 'store/unusable' } });
    const still = new DatabaseSync(databaseOf(home));
    expect(still.prepare('select name from sqlite_schema').all()).toEqual([{ name: 'bookmarks' }]);
    still.close();

    const other = temporaryHome();
    writeFileSync(databaseOf(other), 'not a database, whatever its name says'.repeat(200));
    expect(openStore({ path: databaseOf(other) })).toMatchObject({ error: { code: 'store/unusable' } });
    expect(openStore({ path: databaseOf(`${other}/missing`) })).toMatchObject({ error: { code: 'store/unusable' } });
  });
});

describe('the schema', () => {
  it('[D2] of an older database is brought to the newest step by step', async () => {
    for (let steps = 0; steps < migrations.length; steps++) {
      const home = temporaryHome();
      const database = openedDatabase(home);
      migrate(database, migrations.slice(0, steps));
      expect(schemaVersion(database)).toBe(steps === 0 ? 0 : FIRST_VERSION + steps);
      database.close();
      const store = opened(home);
      const writer = await startRun(store);
      await writer.write({ at: at(), frame: frame(0), events: [signal('works')] });
      store.close();
      expect(schemaVersion(openedDatabase(home))).toBe(SCHEMA_VERSION);
    }
  });

  it('[D2] of before runs had a log is refused, and not touched', () => {
    const home = temporaryHome();
    const database = openedDatabase(home);
    database.exec('create table events (a integer); pragma user_version = 6');
    database.close();
    expect(openStore({ path: databaseOf(home) })).toMatchObject({
      error: { code: 'store/older', details: { found: 6 } },
    });
    expect(schemaVersion(openedDatabase(home))).toBe(6);
  });

  it('[D2] that a newer program made is refused, and not touched', () => {
    const home = temporaryHome();
    opened(home).close();
    const database = openedDatabase(home);
    database.exec(`pragma user_version = ${SCHEMA_VERSION + 1}`);
    database.close();
    expect(openStore({ path: databaseOf(home) })).toMatchObject({
      error: { code: 'store/newer', details: { found: SCHEMA_VERSION + 1, known: SCHEMA_VERSION } },
    });
    expect(schemaVersion(openedDatabase(home))).toBe(SCHEMA_VERSION + 1);
  });

  it('[D2] keeps the last good version when a step fails', () => {
    const database = openedDatabase(temporaryHome());
    const good: Migration = { name: 'good', sql: 'create table good (a integer)' };
    const bad: Migration = { name: 'bad', sql: 'create table bad (a integer); insert into nowhere values (1)' };
    expect(() => migrate(database, [good, bad])).toThrow('nowhere');
    expect(schemaVersion(database)).toBe(FIRST_VERSION + 1);
    expect(database.prepare('select name from sqlite_schema').all()).toEqual([{ name: 'good' }]);
  });

  it('[D11] lets a run be collected by range deletes: every table finds the rows of a run by an index', () => {
    const watched = watchedDatabase();
    temporaryStore({ connect: watched.connect });
    const database = watched.database();
    const tablesWith = (column: string) =>
      database
        .prepare(
          `select m.name from sqlite_schema m join pragma_table_info(m.name) c on c.name = ? where m.type = 'table'`,
        )
        .all(column)
        .map(row => String(row.name));
    const rows = [
      ...tablesWith('run').map(table => [table, 'run = 1']),
      ...tablesWith('place').map(table => [table, 'place between 1 and 2']),
      ...tablesWith('project').map(table => [table, 'project = 1']),
    ].filter(([table], index, all) => all.findIndex(([other]) => other === table) === index);
    const tables = database
      .prepare(`select name from sqlite_schema where type = 'table' and name not in ('runs', 'projects')`)
      .all();
    expect(rows.map(([table]) => table).sort()).toEqual(tables.map(row => row.name).sort());
    for (const [table, ofRun] of rows) {
      const plan = database.prepare(`explain query plan delete from ${table} where ${ofRun}`).all();
      expect(`${table}: ${plan.map(step => step.detail)}`).toContain(`${table}: SEARCH`);
    }
  });

  it('[D37] finds the versions of a key by an index that keeps them apart', () => {
    const watched = watchedDatabase();
    temporaryStore({ connect: watched.connect });
    const database = watched.database();
    const last = 'select max(version) from artifacts where run = 1 and key = 2 and version is not null';
    const [step] = database.prepare(`explain query plan ${last}`).all();
    expect(step?.detail).toContain('artifacts_by_key');
    const indexes = database.prepare(`select name, "unique" from pragma_index_list('artifacts')`).all();
    expect(indexes).toContainEqual({ name: 'artifacts_by_key', unique: 1 });
  });

  it('[D351] moves commits into the database at a checkpoint, and keeps them in the log if the disk refuses', async () => {
    const watched = watchedDatabase();
    const store = temporaryStore({ connect: watched.connect });
    const { run } = await startRun(store);
    const bytes = () => statSync(databaseOf(store.home)).size;
    const pages = () => Object.values(watched.database().prepare('pragma page_count').get() ?? {})[0];
    const { exec } = watched.database();
    watched.database().exec = () => {
      throw diskBroke();
    };
    store.checkpoint();
    expect(bytes()).toBeLessThan(Number(pages()) * 4096);
    watched.database().exec = exec;
    store.checkpoint();
    expect(bytes()).toBe(Number(pages()) * 4096);
    expect(await store.run(run)).toMatchObject({ id: run });
  });

  it('[D386] reads pages of runs and of artifacts in their order by an index', () => {
    const watched = watchedDatabase();
    temporaryStore({ connect: watched.connect });
    const planOf = (sql: string) =>
      watched
        .database()
        .prepare(`explain query plan ${sql}`)
        .all()
        .map(step => String(step.detail));
    expect(planOf(RUN_LIST)).toContain('SCAN runs USING INDEX runs_by_creation');
    expect(planOf(RUN_LIST).filter(detail => detail.includes('TEMP B-TREE'))).toEqual([]);
    expect(planOf(ARTIFACT_PAGE)).toContain('SCAN artifacts USING INDEX artifacts_by_time');
    // Only artifacts of one time are sorted.
    expect(planOf(ARTIFACT_PAGE).filter(detail => detail.includes('TEMP B-TREE'))).toEqual([
      'USE TEMP B-TREE FOR LAST 2 TERMS OF ORDER BY',
    ]);
  });

  it('[D400] finds the decisions of a run without looking at other runs', () => {
    const watched = watchedDatabase();
    temporaryStore({ connect: watched.connect });
    const plan = watched.database().prepare(`explain query plan ${RUN_DECISIONS}`).all();
    expect(plan.map(step => String(step.detail)).filter(detail => /decisions|runs/.test(detail))).toEqual([
      'SEARCH runs USING INTEGER PRIMARY KEY (rowid=?)',
      expect.stringMatching(/^SEARCH decisions USING INDEX .* \(run=\?\)$/),
      // The place of the decision that a page begins after.
      expect.stringMatching(/^SEARCH decisions USING INDEX .* \(id=\?\)$/),
      'SEARCH runs USING INTEGER PRIMARY KEY (rowid=?)',
    ]);
  });

  it('[D395] finds open decisions without looking at closed ones', () => {
    const watched = watchedDatabase();
    temporaryStore({ connect: watched.connect });
    const plan = watched.database().prepare(`explain query plan ${STATUS_DECISIONS}`).all();
    expect(plan.map(step => String(step.detail)).filter(detail => /decisions/.test(detail))).toEqual([
      'SEARCH decisions USING INDEX decisions_by_status (status=?)',
      expect.stringMatching(/^SEARCH decisions USING INDEX .* \(id=\?\)$/),
    ]);
  });

  it('[D396] finds the tasks of a run that are under way without looking at those that ended', () => {
    const watched = watchedDatabase();
    temporaryStore({ connect: watched.connect });
    const plan = watched.database().prepare(`explain query plan ${UNDER_WAY}`).all();
    const [first, ...others] = plan.map(step => String(step.detail)).filter(detail => / tasks /.test(detail));
    expect(first).toBe('SEARCH tasks USING INDEX tasks_under_way (run=?)');
    // The place of the task that a page begins after.
    expect(others).toEqual([expect.stringMatching(/^SEARCH tasks USING COVERING INDEX .* \(run=\? AND id=\?\)$/)]);
  });

  it('[D1300] adds up what runs spent since a moment from an index alone', () => {
    const watched = watchedDatabase();
    temporaryStore({ connect: watched.connect });
    const plan = watched.database().prepare(`explain query plan ${SPENT_BY_RUN}`).all();
    expect(plan.map(step => String(step.detail))).toContain('SEARCH usage USING COVERING INDEX usage_by_time (at>?)');
  });

  it('[D19] lets a frame be read by index seeks, and orphans without looking at tasks that ended', () => {
    const watched = watchedDatabase();
    temporaryStore({ connect: watched.connect });
    const planOf = (sql: string) =>
      watched
        .database()
        .prepare(`explain query plan ${sql}`)
        .all()
        .map(step => String(step.detail));
    // One seek to the first key; then per key one to the next, one to its last whole value, one to read the rows from there on.
    expect(planOf(ALL_AT).filter(detail => /intervals/.test(detail))).toEqual([
      'SEARCH intervals USING PRIMARY KEY (run=? AND space=?)',
      'SEARCH intervals USING PRIMARY KEY (run=? AND space=? AND key>?)',
      'SEARCH intervals USING PRIMARY KEY (run=? AND space=? AND key=? AND from_frame>? AND from_frame<?)',
      'SEARCH intervals USING PRIMARY KEY (run=? AND space=? AND key=? AND from_frame<?)',
    ]);
    expect(planOf(ORPHANS).filter(detail => / tasks /.test(detail))).toEqual([
      expect.stringContaining('USING INDEX tasks_under_way'),
    ]);
  });
});
