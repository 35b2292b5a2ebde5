import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import { at, newRun, signal, startRun } from '../../runs/test/builders.ts';
import { readsBodies } from '../../store/test/support/forged-logs.ts';
import { checkDeep } from '../src/doctor/deep-checks.ts';
import { thisMachine } from '../src/machine.ts';
import { bytesFor, contentOf } from '../src/packed-file.ts';
import { writeNote } from '../src/redact/taking-note.ts';
import { repairHome } from '../src/repair/repair-home.ts';
import { createJournalThread } from '../src/run-journal/journal-thread.ts';
import { verifyRun } from '../src/run-journal/verify-run.ts';
import { verifyDirectory } from '../src/verify-directory.ts';
import { storeIn } from './retention/support.ts';
import { openTestHost, planText, type TestHost } from './support/open-host.ts';
import { temporaryFolder } from './temporary-folder.ts';

const opened: TestHost[] = [];
afterEach(async () => {
  for (const host of opened.splice(0)) await host.close();
});

async function ended(body: string) {
  const folder = temporaryFolder();
  const host = await openTestHost(folder, { threads: { threads: 1 } });
  opened.push(host);
  const run = await host.start('plan', planText(body));
  await host.end(run);
  await host.close();
  opened.pop();
  const data = path.join(folder, 'data');
  return { data, run, journal: path.join(data, 'runs', run) };
}

const work = '<Task id="a" run={() => 1} /><Task id="b" run={() => 2} />';

describe('a run', () => {
  it('[A62] that ended or waits has its journal, in files that anyone can check', async () => {
    for (const body of [work, `${work}<Human id="ask" prompt="?" />`]) {
      const { data, run, journal } = await ended(body);
      const before = verifyDirectory(journal);
      expect(before).toMatchObject({ ok: true, value: { ok: true, health: 'healthy', sessionId: run } });
      const report = await verifyRun(data, run);
      expect(report).toMatchObject({ ok: true, value: { ok: true, run, journal: { ok: true, health: 'healthy' } } });
      if (report.ok && before.ok) expect(report.value.records).toBe(before.value.events);
    }
  });

  it('[A542] is verified by reading alone: its journal has no lock, and one that is written again is waited for', async () => {
    const { data, run, journal } = await ended(work);
    const files = () => readdirSync(data, { recursive: true, encoding: 'utf8' }).sort();
    // SQLite keeps these two beside a database that somebody reads.
    const before = files().filter(name => !/-(wal|shm)$/.test(name));
    expect(before).not.toContain(path.join('runs', run, '.lock'));
    expect(await verifyRun(data, run)).toMatchObject({ ok: true, value: { ok: true } });
    expect(files().filter(name => !/-(wal|shm)$/.test(name))).toEqual(before);
    writeNote(data, { v: 1, kind: 'collapse', runs: [run] });
    rmSync(path.join(journal, 'manifest.jsonl'));
    expect(await verifyRun(data, run)).toMatchObject({ error: { retry: { kind: 'retryable_after_ms' } } });
  });

  it('[A543] that goes on is not said to be changed: its journal follows its log while both are read', async () => {
    const data = temporaryFolder();
    const store = storeIn(data);
    const { run, write } = await startRun(store, newRun());
    const thread = createJournalThread({ dataDirectory: data });
    let isOver = false;
    const going = (async () => {
      for (let n = 0; !isOver; n++) {
        await write({ at: at(), events: [signal(`s${n}`)] });
        if (n % 3 === 0) await thread.write([run]);
      }
    })();
    for (let turn = 0; turn < 30; turn++) {
      expect(await verifyRun(data, run)).toMatchObject({ value: { ok: true } });
      await new Promise(resolve => setImmediate(resolve));
    }
    isOver = true;
    await going;
    await thread.close();
    store.close();
  });

  it.each([
    'create table evil (x)',
    'create table "a table" (run integer)',
    "create table evil2 (run text primary key); insert into evil2 values ('x')",
    'create view evil as select 1',
    'create trigger evil after insert on records begin select 1; end',
    'create index evil on tasks (status)',
    'alter table tasks add column evil text',
    'alter table tasks rename column status to evil',
    'alter table runs drop column phase',
    'drop index runs_by_status',
    'drop table stream',
    'drop table intervals',
    'pragma foreign_keys = off; drop table runs',
    'alter table records add column evil text',
  ])('[A546] is said to be changed, or not to be readable, where the schema was changed: %s', async sql => {
    const data = temporaryFolder();
    const store = storeIn(data);
    const { run } = await startRun(store, newRun());
    store.close();
    const database = new DatabaseSync(path.join(data, 'db.sqlite'));
    try {
      database.exec(sql);
    } catch (error) {
      // SQLite itself refuses to drop a column that an index needs.
      database.exec('drop index runs_by_status');
      expect(sql, String(error)).toContain('drop column');
    }
    database.close();
    const report = await verifyRun(data, run);
    expect(report.ok ? report.value.ok : report.error.code).toBe(report.ok ? false : 'store/unusable');
    const checks = await checkDeep(data);
    expect(checks.some(check => check.status === 'fail')).toBe(true);
    const repaired = repairHome({ dataDirectory: data, machine: thisMachine() });
    expect(repaired).toMatchObject({ ok: true, value: { ok: true, damaged: [], missing: [] } });
    if (!repaired.ok) throw new Error(repaired.error.message);
    const { removed, schema = [] } = repaired.value;
    // What was put back is not said to be removed.
    expect(removed.length > 0).toBe(sql.startsWith('create'));
    expect(schema.length > 0).toBe(!sql.startsWith('create'));
    expect(await verifyRun(data, run)).toMatchObject({ value: { ok: true, records: 1 } });
  });

  it('[A63] is found to be changed: a record, a row, its journal, or a head that was noted', async () => {
    const { data, run, journal } = await ended(work);
    const noted = await verifyRun(data, run);
    const head = noted.ok ? noted.value.head : '';
    expect(await verifyRun(data, run, head)).toMatchObject({ value: { ok: true } });
    const other = `sha256:${'1'.repeat(64)}`;
    const defects = async (expectHead?: string) => {
      const report = await verifyRun(data, run, expectHead);
      if (!report.ok) throw new Error(report.error.message);
      return report.value.defects?.map(({ where, record, table }) => [where, table ?? record]) ?? [];
    };
    expect(await defects(other)).toEqual([['expected head', undefined]]);
    expect(await verifyRun(data, run, 'nonsense')).toMatchObject({ ok: false, error: { code: 'command/usage' } });

    const database = readsBodies(new DatabaseSync(path.join(data, 'db.sqlite')));
    const change = (sql: string) => database.exec(sql);
    change('update records set body = replace(body_text(body), \'"result":1\', \'"result":7\')');
    expect(await defects()).toEqual([['log', expect.any(Number)]]);
    change('update records set body = replace(body_text(body), \'"result":7\', \'"result":1\')');
    expect(await defects()).toEqual([]);
    change(`update runs set head = '${other}'`);
    expect(await defects()).toEqual([['table', 'runs']]);
    change(`update runs set head = '${head}'`);
    change(`update tasks set result = '99' where node = 'a'`);
    expect(await verifyRun(data, run)).toMatchObject({
      value: { ok: false, defects: [{ table: 'tasks', what: 'result is "99"; the log says "1"' }] },
    });
    change(`update tasks set result = '1' where node = 'a'`);
    expect(await defects()).toEqual([]);
    database.close();

    const [segment = ''] = readdirSync(path.join(journal, 'events'));
    const file = path.join(journal, 'events', segment);
    const content = Buffer.from(contentOf(file)).toString();
    expect(content).toContain('"running\\"');
    writeFileSync(file, bytesFor(file, Buffer.from(content.replace('"running\\"', '"Running\\"'))));
    expect(await defects()).toEqual([['journal', undefined]]);
    expect(existsSync(file)).toBe(true);
  });
});
