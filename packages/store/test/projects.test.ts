import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { hostDisk, nodeHasher } from '@signalbox/journal';
import { openArchive, openBlobFiles, openReader, openRepair, type Store } from '@signalbox/store';
import { seededRng } from '@signalbox/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkProjects, tablesOfProjects } from '../src/verify/check-project.ts';
import type { LogDefect } from '../src/verify/check-run.ts';
import type { ReplayPorts } from '../src/verify/replay-log.ts';
import { type Attack, columnChanges, rowChanges } from './support/attacks.ts';
import { databaseOf } from './support/database-file.ts';
import { opened, temporaryHome, temporaryStore } from './support/stores.ts';
import { committed, draftOf, projectNamed, timeAt, variedProject } from './support/varied-projects.ts';

const SOAK = process.env.SIGNALBOX_SOAK === '1';
const first = projectNamed(1);
const second = projectNamed(2);

describe('the log of a project', () => {
  it('[D370] is a chain of records with a fact and what was decided because of it', async () => {
    const store = temporaryStore();
    const row = await committed(store, first, draftOf(0, { kind: 'configured' }));
    expect(row).toEqual({ id: first, records: 1, head: row.head, createdAt: timeAt(0), updatedAt: timeAt(0) });
    await variedProject(store, second);
    expect(store.projects().map(({ id, records }) => [id, records])).toEqual([
      [first, 1],
      [second, 4],
    ]);
    const facts = [...store.projectFacts(second, 1)].map(({ header, body }) => [header.n, body.fact]);
    expect(facts).toEqual([
      [1, { kind: 'agent_requested' }],
      [2, { kind: 'agent_started' }],
      [3, { kind: 'event_received' }],
    ]);
    expect(store.project(second)?.head).toBe(store.projectRecords(second, 3, 1)[0]?.hash);
  });

  it('[D371] refuses a commit whose writer does not know the whole log, and writes nothing', async () => {
    const store = temporaryStore();
    const draft = draftOf(0, { kind: 'configured' });
    const both = await Promise.all([1, 2].map(() => store.commitToProject(draft, { project: first, records: 0 })));
    expect(both.map(done => (done.ok ? done.value.records : done.error.code))).toEqual([1, 'project/stale']);
    const odd = await store.commitToProject(draftOf(1, { lone: '\ud800' }), { project: first, records: 1 });
    expect(odd).toMatchObject({ ok: false, error: { code: 'project/refused' } });
    expect(store.project(first)?.records).toBe(1);
  });

  it('[D372] lists things newest first, as the last record has them, by agent and status and in pages', async () => {
    const store = temporaryStore();
    await variedProject(store, first);
    const list = (filter: Partial<Parameters<Store['things']>[1]>) =>
      store
        .things(first, { kind: 'event', limit: 10, ...filter })
        .map(({ id, status, record }) => [id, status, record]);
    expect(list({})).toEqual([
      ['e2', 'decision', 3],
      ['e1', 'lifecycle', 2],
    ]);
    expect(list({ kind: 'agent', agent: 'a1' })).toEqual([['a1', 'running', 2]]);
    expect(list({ status: 'lifecycle' })).toEqual([['e1', 'lifecycle', 2]]);
    expect(list({ limit: 1, before: { record: 3, index: 0 } })).toEqual([['e1', 'lifecycle', 2]]);
    expect(store.things(first, { kind: 'brief', id: 'a1', limit: 1 })[0]?.value).toEqual({ text: 'x'.repeat(70_000) });
    expect(store.things(second, { kind: 'event', limit: 1 })).toEqual([]);
  });

  it('[D373] is there after a restart, for the owner and for readers beside it', async () => {
    const home = temporaryHome();
    const store = opened(home);
    await variedProject(store, first);
    const before = store.projectRecords(first, 0, 10);
    store.close();
    const reader = openReader({ path: databaseOf(home) });
    if (!reader.ok) throw reader.error;
    expect(reader.value.projectRecords(first, 0, 10)).toEqual(before);
    expect(reader.value.keptState(first)).toEqual({ records: 4, head: before[3]?.hash, state: { v: 1 } });
    reader.value.close();
  });

  it('[D374] ignores a kept state that belongs to no record of the log', async () => {
    const store = temporaryStore();
    await variedProject(store, first);
    const [, , third] = store.projectRecords(first, 0, 10);
    store.keepState(first, { records: 4, head: third?.hash as never, state: { v: 1 } });
    expect(store.keptState(first)).toBeUndefined();
  });

  it('[D375] keeps the blobs that it names', async () => {
    const home = temporaryHome();
    const store = opened(home);
    await variedProject(store, first);
    const old = { nowMs: Date.now() + 7_200_000, without: [], texts: [] };
    expect(await store.retention.unreferenced(old)).toEqual([]);
    store.close();
  });
});

describe('a project that somebody changed', () => {
  let home: string;
  let database: DatabaseSync;
  let ports: ReplayPorts;
  const rng = seededRng(17);
  const chosen = <T>(rows: readonly T[]): readonly T[] => {
    const at = rng.below(Math.max(1, rows.length));
    return SOAK ? rows : rows.slice(at, at + 1);
  };

  beforeAll(async () => {
    home = mkdtempSync(path.join(tmpdir(), 'signalbox-project-tampering-'));
    const store = opened(home);
    await variedProject(store, first);
    await variedProject(store, second);
    store.close();
    database = new DatabaseSync(databaseOf(home));
    database.exec('pragma foreign_keys = off');
    const blobs = openBlobFiles({ disk: hostDisk, hasher: nodeHasher, home, writer: 'test' });
    ports = { database, blobs, hasher: nodeHasher };
  });
  afterAll(() => {
    database.close();
    rmSync(home, { recursive: true, force: true });
  });

  const defects = (): readonly LogDefect[] => [...checkProjects(ports)].flatMap(check => check.defects);

  function foundAfter(attack: Attack): readonly LogDefect[] | undefined {
    database.exec('begin');
    try {
      attack.apply();
      return defects();
    } catch (cause) {
      if (cause instanceof Error && /constraint failed/.test(cause.message)) return undefined;
      throw cause;
    } finally {
      database.exec('rollback');
    }
  }

  const isNamed =
    ({ table, keys, column }: Attack) =>
    (defect: LogDefect) =>
      table === 'project_records'
        ? defect.where === 'log' || defect.table === table
        : defect.where === 'log'
          ? table === 'projects' || defect.key?.startsWith('project number ') === true
          : defect.table === table &&
            keys.includes(defect.key ?? '') &&
            (column === undefined || defect.what.includes(column));

  it('[D376] is as it was committed before, and every table of the schema that names projects is compared', () => {
    expect(defects()).toEqual([]);
    const tables = database
      .prepare(
        "select name from sqlite_schema where type = 'table' and (name = 'projects' or sql like '%project integer%')",
      )
      .all();
    expect(tables.map(({ name }) => name).toSorted()).toEqual(
      [...tablesOfProjects.map(({ name }) => name), 'project_states'].toSorted(),
    );
    for (const { name, columns } of tablesOfProjects) {
      const real = database.prepare('select name from pragma_table_info(?)').all(name);
      expect(columns).toEqual(real.map(row => row.name));
    }
  });

  it('[D376] is found out by every column of every table', () => {
    let tried = 0;
    for (const attack of columnChanges(database, chosen, tablesOfProjects)) {
      const found = foundAfter(attack);
      if (found === undefined) continue;
      tried += 1;
      expect([attack.name, found.some(isNamed(attack))]).toEqual([attack.name, true]);
    }
    expect(tried).toBeGreaterThan(18);
  });

  it('[D376] is found out by a row that is deleted, added, cut off, or in the place of another', () => {
    let tried = 0;
    for (const attack of rowChanges(database, chosen, tablesOfProjects)) {
      const found = foundAfter(attack);
      if (found === undefined) continue;
      tried += 1;
      expect([attack.name, found.length > 0]).toEqual([attack.name, true]);
    }
    expect(tried).toBeGreaterThan(6);
  });

  it('[D377] is repaired from its log; a log that was changed is named and left alone', async () => {
    const copy = temporaryHome();
    const store = opened(copy);
    await variedProject(store, first);
    await variedProject(store, second);
    const log = store.projectRecords(second, 0, 10);
    store.close();
    const changed = new DatabaseSync(databaseOf(copy));
    changed.exec(`pragma foreign_keys = off;
      update things set status = 'answered' where kind = 'decision' and project = 1;
      delete from things where kind = 'event' and project = 1;
      update projects set updated_at = 'x' where n = 1;
      insert into things values (9, 'event', 'e', null, null, 0, 0);
      update project_records set header = replace(header, '"n":2', '"n":7') where project = 2 and n = 2`);
    changed.close();
    const repair = openRepair({ path: databaseOf(copy) });
    if (!repair.ok) throw repair.error;
    expect(repair.value.rebuild()).toMatchObject({
      ok: true,
      value: {
        removed: ['things of project number 9'],
        ofProjects: {
          projects: 2,
          rebuilt: [first],
          damaged: [{ project: second, defect: { record: 2 } }],
          missing: [],
        },
      },
    });
    repair.value.close();
    const archive = openArchive({ path: databaseOf(copy) });
    if (!archive.ok) throw archive.error;
    expect([...archive.value.checkProjects()].map(check => check.defects.length)).toEqual([0, 1]);
    expect(archive.value.things(first, { kind: 'decision', limit: 5 })[0]?.status).toBe('open');
    archive.value.close();

    const elsewhere = openRepair({ path: databaseOf(temporaryHome()) });
    if (!elsewhere.ok) throw elsewhere.error;
    const small = log.filter((_, n) => n === 0);
    expect(elsewhere.value.appendToProject(second, small)).toEqual({ ok: true, value: 1 });
    expect(elsewhere.value.appendToProject(second, log.slice(2))).toMatchObject({ ok: false });
    expect([...elsewhere.value.projectLog(second)]).toEqual(small);
    elsewhere.value.close();
  });
});
