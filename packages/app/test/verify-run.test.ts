import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import { readsBodies } from '../../store/test/support/forged-logs.ts';
import { bytesFor, contentOf } from '../src/packed-file.ts';
import { verifyRun } from '../src/run-journal/verify-run.ts';
import { verifyDirectory } from '../src/verify-directory.ts';
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

  it('[A63] whose journal is being written is not said to be changed', async () => {
    const { data, run, journal } = await ended(work);
    const other = new DatabaseSync(path.join(journal, '.lock'));
    other.exec('begin exclusive');
    expect(await verifyRun(data, run)).toMatchObject({ ok: false, error: { code: 'SESSION_LOCKED' } });
    other.close();
    expect(await verifyRun(data, run)).toMatchObject({ ok: true, value: { ok: true } });
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
