import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@signalbox/model';
import { ownerId } from '@signalbox/runs';
import { acquireOwner, openArchive, openStore, type Store } from '@signalbox/store';
import { describe, expect, it } from 'vitest';
import { everyAnswer, variedRun } from '../../store/test/support/varied-runs.ts';
import { thisMachine } from '../src/machine.ts';
import { journalsAhead } from '../src/repair/journals-ahead.ts';
import { repairHome } from '../src/repair/repair-home.ts';
import { foldersToRemove, markGoing } from '../src/retention/run-folders.ts';
import { deriveJournal } from '../src/run-journal/derive-journal.ts';
import { temporaryFolder } from './temporary-folder.ts';

const SOAK = process.env.SIGNALBOX_SOAK === '1';
const RUNS = SOAK ? 200 : 5;
const PAGE = 4096;
const machine = thisMachine();

function opened(data: string): Store {
  const store = openStore({ path: path.join(data, 'db.sqlite') });
  if (!store.ok) throw new Error(store.error.message);
  return store.value;
}

async function answersOf(data: string): Promise<unknown> {
  const store = opened(data);
  const answers = await everyAnswer(store);
  store.close();
  return withoutTokens(answers);
}

/** Parts of messages are in no log. */
function withoutTokens(answers: unknown): unknown {
  return JSON.parse(
    JSON.stringify(answers, (_, value) => (Array.isArray(value) ? value.filter(one => one?.kind !== 'token') : value)),
  );
}

/** A data directory with varied runs, forks and collapsed ones among them, each with its journal. */
async function variedData(count = RUNS) {
  const data = temporaryFolder();
  const store = opened(data);
  await Promise.all(Array.from({ length: count }, (_, seed) => variedRun(store, seed)));
  const before = withoutTokens(await everyAnswer(store));
  const runs = (await store.runs({ limit: 1000 })).items.map(({ id }) => id);
  for (const run of runs) expect(await deriveJournal(data, store, run)).toMatchObject({ ok: true });
  store.close();
  return { data, before, runs };
}

function dropDatabase(data: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path.join(data, `db.sqlite${suffix}`), { force: true });
}

function change(data: string, sql: string): void {
  const database = new DatabaseSync(path.join(data, 'db.sqlite'));
  database.exec(`pragma foreign_keys = off; ${sql}`);
  database.close();
}

const repair = (data: string, more: object = {}) => repairHome({ dataDirectory: data, machine, ...more });

function fileDefectsOf(file: string): readonly string[] {
  const archive = openArchive({ path: file });
  if (!archive.ok) return [archive.error.message];
  const defects = archive.value.integrity();
  archive.value.close();
  return defects;
}

describe('repair', () => {
  it('[A330] rebuilds a database that is gone from journals and blobs, forks and collapsed runs too', async () => {
    const { data, before, runs } = await variedData();
    dropDatabase(data);
    expect([...journalsAhead(data).absent].sort()).toEqual([...runs].sort());
    const foreseen = repair(data, { dryRun: true });
    expect(foreseen).toMatchObject({ ok: true, value: { ok: true, dryRun: true, runs: 0 } });
    expect(existsSync(path.join(data, 'db.sqlite'))).toBe(false);
    const done = repair(data);
    expect(done).toMatchObject({ value: { ok: true, runs: runs.length, rebuilt: [], damaged: [], missing: [] } });
    if (done.ok && foreseen.ok) expect(done.value.restored).toEqual(foreseen.value.restored);
    expect(await answersOf(data)).toEqual(before);
    expect(journalsAhead(data, { all: true })).toEqual({ absent: [], behind: [] });
    expect(repair(data)).toMatchObject({ value: { ok: true, rebuilt: [], restored: [], removed: [] } });
  });

  it('[A330] puts a database that cannot be read aside, and names what cannot be brought back', async () => {
    const { data, runs } = await variedData();
    dropDatabase(data);
    writeFileSync(path.join(data, 'db.sqlite'), 'no database at all, but long enough to be looked at'.repeat(100));
    expect(repair(data)).toMatchObject({
      error: { code: 'store/unusable', suggestion: expect.stringContaining('--from-journals') },
    });
    for (const folder of readdirSync(path.join(data, 'blobs')))
      rmSync(path.join(data, 'blobs', folder), { recursive: true });
    const done = repair(data, { fromJournals: true });
    if (!done.ok) throw new Error(done.error.message);
    expect(done.value).toMatchObject({ ok: false, aside: 'db.sqlite.aside-1' });
    expect(done.value.damaged.length).toBeGreaterThan(0);
    expect(done.value.damaged.every(({ what }) => what.includes('Blob sha256:'))).toBe(true);
    expect(done.value.restored.length + done.value.damaged.length).toBe(runs.length);
  });

  it('[A331] brings a database that is older up to its journals, and changes none that disagrees', async () => {
    const { data, before, runs } = await variedData();
    const database = new DatabaseSync(path.join(data, 'db.sqlite'));
    database.exec('delete from records where place % 268435456 > 4');
    database.close();
    expect(repair(data)).toMatchObject({ value: { ok: true, damaged: [] } });
    expect(await answersOf(data)).toEqual(before);

    const [run = '' as RunId] = runs;
    const events = path.join(data, 'runs', run, 'events');
    const [segment = ''] = readdirSync(events);
    const text = readFileSync(path.join(events, segment), 'utf8');
    writeFileSync(path.join(events, segment), text.replace('"salt', '"sald'));
    const done = repair(data);
    expect(done).toMatchObject({ value: { ok: false, restored: [], damaged: [{ run }] } });
    expect(await answersOf(data)).toEqual(before);
  });

  it('[A332] is done by the owner of the data directory alone, and a dry run changes nothing', async () => {
    const { data } = await variedData();
    const owner = acquireOwner(data, { id: ownerId.parse(machine.ids.mint<RunId>()), clock: machine.clock });
    expect(repair(data)).toMatchObject({ ok: false, error: { code: 'store/owned' } });
    if (owner.ok) owner.value.release();
    const database = new DatabaseSync(path.join(data, 'db.sqlite'));
    database.exec("update tasks set status = 'pending'");
    database.close();
    const changed = await answersOf(data);
    const foreseen = repair(data, { dryRun: true });
    expect(await answersOf(data)).toEqual(changed);
    const done = repair(data);
    if (!done.ok || !foreseen.ok) throw new Error('not repaired');
    expect(foreseen.value.rebuilt.length).toBeGreaterThan(0);
    expect(done.value).toEqual({ ...foreseen.value, dryRun: false });
    const archive = openArchive({ path: path.join(data, 'db.sqlite') });
    if (!archive.ok) throw new Error(archive.error.message);
    expect([...archive.value.checkAll()].flatMap(({ defects }) => defects)).toEqual([]);
    archive.value.close();
  });

  it('[A1235] keeps a database that holds more than its journals, unless the loss is confirmed', async () => {
    const { data, before, runs } = await variedData(2);
    const file = path.join(data, 'db.sqlite');
    const asides = () => readdirSync(data).filter(name => name.includes('aside'));
    const lost = (run: RunId) => ({
      error: { code: 'store/unusable', message: expect.stringContaining(run), details: { lost: [{ log: run }] } },
    });
    const [run = '' as RunId] = runs;
    const folder = path.join(data, 'runs', run);
    // One run without a journal, in either kind of call.
    renameSync(folder, `${data}-journal`);
    const whole = readFileSync(file);
    expect(repair(data, { fromJournals: true })).toMatchObject(lost(run));
    expect(repair(data, { fromJournals: true, dryRun: true })).toMatchObject(lost(run));
    expect([whole.equals(readFileSync(file)), asides()]).toEqual([true, []]);
    // The log counts even where its rows are gone.
    change(data, `delete from runs where id = '${run}'`);
    expect(repair(data, { fromJournals: true })).toMatchObject(lost(run));
    expect(repair(data)).toMatchObject({ value: { ok: true } });
    // A journal that ends early.
    renameSync(`${data}-journal`, folder);
    const events = path.join(folder, 'events');
    const [segment = ''] = readdirSync(events);
    const bytes = readFileSync(path.join(events, segment));
    writeFileSync(path.join(events, segment), 'x');
    expect(repair(data, { fromJournals: true })).toMatchObject(lost(run));
    writeFileSync(path.join(events, segment), bytes);
    expect(await answersOf(data)).toEqual(before);

    // No journals at all.
    renameSync(path.join(data, 'runs'), `${data}-runs`);
    const none = { error: { code: 'store/unusable', message: expect.stringContaining('There are no journals') } };
    expect(repair(data, { fromJournals: true })).toMatchObject(none);
    expect(await answersOf(data)).toEqual(before);
    const foreseen = repair(data, { fromJournals: true, acceptsLoss: true, dryRun: true });
    expect(await answersOf(data)).toEqual(before);
    const done = repair(data, { fromJournals: true, acceptsLoss: true });
    expect(done).toMatchObject({ value: { aside: 'db.sqlite.aside-1' } });
    if (!done.ok || !foreseen.ok) throw new Error('not confirmed');
    expect(done.value.lost).toEqual(foreseen.value.lost);
    expect(done.value.lost?.map(({ log }) => log).sort()).toEqual([...runs].sort());
    // Nothing is left to lose; a file that cannot be read may hold anything.
    expect(repair(data, { fromJournals: true })).toMatchObject({ ok: true });
    dropDatabase(data);
    writeFileSync(file, 'no database at all, but long enough to be looked at'.repeat(100));
    expect(repair(data, { fromJournals: true })).toMatchObject(none);
    expect(readFileSync(file, 'utf8')).toMatch(/^no database/);
  });

  it('[A1237] says that a dropped index was restored, and that a foreign one was removed', () => {
    const data = temporaryFolder();
    opened(data).close();
    change(data, 'drop index runs_by_status; create index strange on tasks (status)');
    expect(repair(data)).toMatchObject({
      value: { ok: true, schema: ['index runs_by_status'], removed: ['index strange of the schema'] },
    });
    expect(repair(data)).not.toHaveProperty('value.schema');
  });

  it('[A1238] names what is in the place of a directory, and changes nothing', () => {
    const data = temporaryFolder();
    opened(data).close();
    for (const name of ['cache', 'blobs', 'runs', 'projects']) {
      const place = path.join(data, name);
      rmSync(place, { recursive: true, force: true });
      writeFileSync(place, '');
      for (const more of [{}, { dryRun: true }, { fromJournals: true }]) {
        expect(repair(data, more)).toMatchObject({
          error: { code: 'store/unusable', message: expect.stringContaining(`"${name}" in the data directory`) },
        });
      }
      rmSync(place);
    }
    expect(repair(data)).toMatchObject({ ok: true });
  });

  it('[A335] finds the journals of a lost database after a collection: only those of runs that were removed go', async () => {
    const { data, runs } = await variedData();
    dropDatabase(data);
    const later = Date.now() + 7_200_000;
    const nobody = () => foldersToRemove(data, () => false, new Set(), later).map(({ run }) => run);
    expect(nobody()).toEqual([]);
    markGoing(data, runs.slice(0, 1));
    expect(nobody()).toEqual(runs.slice(0, 1));
    expect(repair(data)).toMatchObject({ value: { ok: true, runs: runs.length - 1 } });
  });

  it('[A945] brings back what was in the write-ahead log of a killed owner, whatever is left of that', async () => {
    const data = temporaryFolder();
    const store = opened(data);
    const old = await variedRun(store, 1);
    store.checkpoint();
    await Promise.all([2, 3, 4].map(seed => variedRun(store, seed)));
    const before = withoutTokens(await everyAnswer(store));
    const runs = (await store.runs({ limit: 1000 })).items.map(({ id }) => id);
    for (const run of runs) expect(await deriveJournal(data, store, run)).toMatchObject({ ok: true });
    const killed = path.join(temporaryFolder(), 'killed');
    cpSync(data, killed, { recursive: true });
    store.close();
    const wal = path.join(killed, 'db.sqlite-wal');
    const log = readFileSync(wal);
    const kept = `${killed}-kept`;
    cpSync(killed, kept, { recursive: true });
    for (const [name, left] of [
      ['gone', undefined],
      ['empty', new Uint8Array()],
      ['cut short', log.subarray(0, log.length >> 1)],
      ['overwritten', Uint8Array.from(log).fill(0, log.length >> 2, log.length >> 1)],
    ] as const) {
      rmSync(killed, { recursive: true });
      cpSync(kept, killed, { recursive: true });
      chmodSync(killed, 0o700);
      rmSync(path.join(killed, 'db.sqlite-shm'), { force: true });
      if (left === undefined) rmSync(wal);
      else writeFileSync(wal, left, { mode: 0o600 });
      const { absent, behind } = journalsAhead(killed, { all: true });
      const lacking = [...absent, ...behind];
      expect([name, lacking.length > 0, lacking.includes(old)]).toEqual([name, true, false]);
      expect([name, repair(killed)]).toMatchObject([name, { value: { ok: true, damaged: [], missing: [] } }]);
      expect(await answersOf(killed)).toEqual(before);
      expect(journalsAhead(killed, { all: true })).toEqual({ absent: [], behind: [] });
    }
  });

  it('[A340] [A444] finds a page that was zeroed, and a file that is empty or cut short; journals bring all of it back', {
    timeout: 600_000,
  }, async () => {
    const { data, before } = await variedData(2);
    const file = path.join(data, 'db.sqlite');
    const whole = readFileSync(file);
    const pages = Math.floor(whole.length / PAGE);
    const attacks: (readonly [string, Uint8Array])[] = [
      ['empty', new Uint8Array()],
      ['half', whole.subarray(0, (pages >> 1) * PAGE)],
    ];
    for (let page = 0; page < pages; page += SOAK ? 1 : Math.ceil(pages / 4)) {
      attacks.push([`page ${page}`, Uint8Array.from(whole).fill(0, page * PAGE, (page + 1) * PAGE)]);
    }
    for (const [name, content] of attacks) {
      dropDatabase(data);
      writeFileSync(file, content, { mode: 0o600 });
      const done = repair(data);
      const isNamed = !done.ok && done.error.suggestion.includes('--from-journals');
      // A repair that is content leaves a file that SQLite is content with.
      if (done.ok && done.value.ok) expect([name, fileDefectsOf(file)]).toEqual([name, []]);
      const isMended = done.ok && (!done.value.ok || JSON.stringify(await answersOf(data)) === JSON.stringify(before));
      expect([name, isNamed || isMended]).toEqual([name, true]);
      expect([name, repair(data, { fromJournals: true })]).toMatchObject([name, { value: { ok: true } }]);
      expect(await answersOf(data)).toEqual(before);
    }
  });
});
