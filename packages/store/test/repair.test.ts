import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openRepair } from '@signalbox/store';
import { expect, it } from 'vitest';
import { namesIn } from '../src/retention/blob-names.ts';
import { tablesOfRuns } from '../src/verify/row-differences.ts';
import { databaseOf } from './support/database-file.ts';
import { readsBodies } from './support/forged-logs.ts';
import { opened, temporaryHome } from './support/stores.ts';
import { everyAnswer, variedRun } from './support/varied-runs.ts';

const RUNS = process.env.SIGNALBOX_SOAK === '1' ? 200 : 8;

/** A directory with varied runs, and everything that a reader answers about them. */
async function variedHome() {
  const home = temporaryHome();
  const store = opened(home);
  await Promise.all(Array.from({ length: RUNS }, (_, seed) => variedRun(store, seed)));
  const before = await everyAnswer(store);
  store.close();
  return { home, before };
}

/** Does something to the database behind our back. */
function attacked(home: string, ...statements: readonly string[]): void {
  const database = readsBodies(new DatabaseSync(databaseOf(home)));
  database.exec('pragma foreign_keys = off');
  for (const sql of statements) database.exec(sql);
  database.close();
}

function rebuilt(home: string) {
  const repair = openRepair({ path: databaseOf(home) });
  if (!repair.ok) throw new Error(repair.error.message);
  const report = repair.value.rebuild();
  repair.value.close();
  if (!report.ok) throw new Error(report.error.message);
  return report.value;
}

async function answersOf(home: string) {
  const store = opened(home);
  const answers = await everyAnswer(store);
  store.close();
  return answers;
}

it('[D85] answers as before once every row but the log was dropped and rebuilt', async () => {
  const { home, before } = await variedHome();
  const database = new DatabaseSync(databaseOf(home));
  const names = tablesOfRuns(database).map(({ name }) => name);
  database.close();
  attacked(
    home,
    ...names
      .filter(name => name !== 'records')
      .map(name => `delete from ${name} ${name === 'stream' ? "where kind not in ('token', 'thinking')" : ''}`),
  );
  expect((await answersOf(home)) as object).toEqual({ runs: [] });
  const report = rebuilt(home);
  expect(report).toMatchObject({ damaged: [], removed: [], missing: [] });
  expect(report.rebuilt).toHaveLength(report.runs);
  expect(await answersOf(home)).toEqual(before);
  const nothing = { rebuilt: [], damaged: [], removed: [], missing: [] };
  expect(rebuilt(home)).toEqual({ runs: report.runs, ...nothing, ofProjects: { projects: 0, ...nothing } });
});

it('[D85] puts rows right that were changed, swapped or added, and blobs that only rows name', async () => {
  const { home, before } = await variedHome();
  attacked(
    home,
    `update runs set id = id || 'x' where n = 1`,
    `update runs set id = (select id from runs where n = 2) || 'y' where n = 3`,
    `update tasks set result = '"forged"', status = 'done'`,
    `update decisions set status = 'open' where place % 2 = 0`,
    'update records set seq = seq + 7',
    'delete from artifacts where place % 3 = 0',
    `insert into run_tags (run, tag) values (1, 'forged'), (999, 'stray')`,
  );
  expect(removeRowBlobs(home)).toBeGreaterThan(0);
  const report = rebuilt(home);
  expect(report).toMatchObject({ damaged: [], removed: ['run_tags of run number 999'], missing: [] });
  expect(await answersOf(home)).toEqual(before);
});

/** Deletes the blobs that no record names. */
function removeRowBlobs(home: string): number {
  const database = readsBodies(new DatabaseSync(databaseOf(home), { readOnly: true }));
  const texts = database.prepare('select header || body_text(body) as text from records').all();
  database.close();
  const named = new Set(texts.flatMap(({ text }) => [...namesIn(text)]));
  const files = readdirSync(`${home}/blobs`, { recursive: true, encoding: 'utf8' }).filter(file => {
    const name = path.basename(file);
    return name.length === 64 && !named.has(name);
  });
  for (const file of files) rmSync(`${home}/blobs/${file}`);
  return files.length;
}

it('[D86] names a run whose log does not hold, and leaves it as it is', async () => {
  const { home } = await variedHome();
  attacked(
    home,
    `update records set body = replace(body_text(body), 'a', 'b') where place = 268435456 + 3`,
    'delete from usage',
  );
  const report = rebuilt(home);
  expect(report.damaged).toMatchObject([{ defect: { where: 'log', record: 3 } }]);
  expect(report.rebuilt).not.toContain(report.damaged[0]?.run);
  const database = new DatabaseSync(databaseOf(home));
  expect(database.prepare('select count(*) as rows from usage where run = 1').get()).toEqual({ rows: 0 });
  expect(Number(database.prepare('select count(*) as rows from usage where run > 1').get()?.rows)).toBeGreaterThan(0);
  database.close();
});

it('[D86] names a log that lost its end, and continues it where its records are had elsewhere', async () => {
  const { home, before } = await variedHome();
  const source = openRepair({ path: databaseOf(home) });
  if (!source.ok) throw new Error(source.error.message);
  const run = (before as { runs: { id: never }[] }).runs.at(-1)?.id as never;
  const records = [...source.value.log(run)];
  source.value.close();
  attacked(home, `delete from records where place between 268435456 + ${records.length - 2} and 268435456 * 2 - 1`);
  const defect = { where: 'log', record: records.length - 2, isCutShort: true };
  expect(rebuilt(home)).toMatchObject({ rebuilt: [], damaged: [{ run, defect }] });
  const repair = openRepair({ path: databaseOf(home) });
  if (!repair.ok) throw new Error(repair.error.message);
  expect(repair.value.append(run, records.slice(-2))).toEqual({ ok: true, value: 2 });
  repair.value.close();
  expect(rebuilt(home)).toMatchObject({ rebuilt: [], damaged: [] });
  expect(await answersOf(home)).toEqual(before);
});

it('[D87] takes the records of a run that is not there, or the rest of one that is, all or none', async () => {
  const { home, before } = await variedHome();
  const source = openRepair({ path: databaseOf(home) });
  if (!source.ok) throw new Error(source.error.message);
  const runs = (before as { runs: { id: never }[] }).runs.map(({ id }) => id).reverse();
  const logs = runs.map(run => ({ run, records: [...source.value.log(run)] }));
  source.value.close();
  for (const suffix of ['', '-wal', '-shm']) rmSync(databaseOf(home) + suffix, { force: true });

  const repair = openRepair({ path: databaseOf(home) });
  if (!repair.ok) throw new Error(repair.error.message);
  for (const { run, records } of logs) {
    const half = records.length >> 1;
    if (half === 0) {
      expect(repair.value.append(run, records)).toEqual({ ok: true, value: 1 });
      continue;
    }
    expect(repair.value.append(run, records.slice(half + 1))).toMatchObject({ ok: false });
    expect(repair.value.append(run, records.slice(0, half))).toEqual({ ok: true, value: half });
    expect(repair.value.append(run, records.slice(half + 1))).toMatchObject({ ok: false });
    expect(repair.value.append(run, records.slice(half))).toEqual({ ok: true, value: records.length - half });
  }
  repair.value.close();
  const withoutTokens = (answers: unknown) =>
    JSON.parse(
      JSON.stringify(answers, (_, value) =>
        Array.isArray(value) ? value.filter(one => one?.kind !== 'token') : value,
      ),
    );
  expect(withoutTokens(await answersOf(home))).toEqual(withoutTokens(before));
});
