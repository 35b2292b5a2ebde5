import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Digest, RunId } from '@signalbox/model';
import { everyRun, type RunRecord } from '@signalbox/runs';
import { openStore, type Store } from '@signalbox/store';
import { seededRng } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { sized } from '../../../test/sized.ts';
import { isSameLog, logChanges, logOf, resealed, writeLog } from '../../store/test/support/forged-logs.ts';
import { importedCopy } from '../../store/test/support/imported-copy.ts';
import { redact, secretRun } from '../../store/test/support/secret-runs.ts';
import { variedRun } from '../../store/test/support/varied-runs.ts';
import { checkDeep } from '../src/doctor/deep-checks.ts';
import { thisMachine } from '../src/machine.ts';
import { bytesFor, contentOf } from '../src/packed-file.ts';
import { journalsAhead } from '../src/repair/journals-ahead.ts';
import { repairHome } from '../src/repair/repair-home.ts';
import { journalLength } from '../src/repair/run-journals.ts';
import { verifyRunReplay } from '../src/replay/verify-replay.ts';
import { drainUnowned } from '../src/run-journal/drain-unowned.ts';
import { createJournalWriter } from '../src/run-journal/journal-writer.ts';
import { verifyRun } from '../src/run-journal/verify-run.ts';
import { killedRuns } from './support/killed-runs.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** One of so many lines and records is changed, besides the last. */
const [LINES, RECORDS] = sized([40, 120], [5, 12], [1, 1]);
const KILLED = sized(2, 10, 240);
/** One of so many segments of a journal is changed, besides the first and the last. */
const SEGMENTS = sized(5, 1, 1);
/** One of so many changes is made to a line or a record that is chosen. */
const CHANGES = sized(3, 1, 1);

const rng = seededRng(15);
const HOURS = { timeout: 8 * 3_600_000 };

/** Runs that used everything between them; the first one is also what is sampled. */
const KINDS: Readonly<Record<string, (store: Store) => Promise<RunId>>> = {
  plain: store => variedRun(store, 1),
  collapsed: store => variedRun(store, 2),
  'collapsed, with large values': store => variedRun(store, 6),
  async redacted(store) {
    const { run } = await secretRun(store);
    redact(store, run);
    return run;
  },
  imported: async store => importedCopy(store, await variedRun(store, 2)),
  async 'a fork whose parent is gone'(store) {
    const parent = await variedRun(store, 2);
    const [fork] = await store.children(parent);
    expect(store.retention.remove([parent])).toMatchObject({ ok: true });
    if (fork === undefined) throw new Error('there is no fork');
    return fork.id;
  },
};
const kinds = Object.entries(KINDS).map(([name, make]) => ({ name, make }));

/** A run with its journal in several segments. */
async function journaled(make: (store: Store) => Promise<RunId>) {
  const data = temporaryFolder();
  const opened = openStore({ path: path.join(data, 'db.sqlite') });
  if (!opened.ok) throw new Error(opened.error.message);
  const store = opened.value;
  const run = await make(store);
  const few = { records: (id: RunId, from: number, limit: number) => store.records(id, from, Math.min(limit, 7)) };
  const { records = 0 } = (await store.run(run)) ?? {};
  const writer = createJournalWriter(data, few);
  while (journalLength(data, run) < records) expect(await writer.write([run])).toEqual([]);
  store.close();
  const verified = await verifyRun(data, run);
  if (!verified.ok) throw new Error(verified.error.message);
  expect(verified.value).toMatchObject({ ok: true });
  return { data, run, records: verified.value.records, head: verified.value.head };
}

/** Every change that can be made to the lines of a file. */
function* lineChanges(text: string): Generator<readonly [name: string, changed: string]> {
  const lines = text.trimEnd().split('\n');
  const joined = (some: readonly string[]) => some.map(line => `${line}\n`).join('');
  for (const [at, line] of lines.entries()) {
    if (at !== lines.length - 1 && rng.below(LINES) > 0) continue;
    const middle = line.length >> 1;
    const digit = line.slice(0, middle).search(/\d[^\d]*$/);
    yield [
      `line ${at} changed`,
      joined(lines.with(at, `${line.slice(0, digit)}${(Number(line[digit]) + 1) % 10}${line.slice(digit + 1)}`)),
    ];
    yield [`line ${at} deleted`, joined(lines.toSpliced(at, 1))];
    yield [`line ${at} twice`, joined(lines.toSpliced(at, 0, line))];
    yield [`a line before line ${at}`, joined(lines.toSpliced(at, 0, '{"v":1,"kind":"run.record"}'))];
    if (at > 0) yield [`line ${at} swapped`, joined(lines.with(at, lines[at - 1] as string).with(at - 1, line))];
    yield [`cut off before line ${at}`, joined(lines.slice(0, at))];
    yield [`cut off in line ${at}`, joined(lines.slice(0, at)) + line.slice(0, middle)];
  }
}

describe('a journal that somebody changed', () => {
  it.each(kinds)(
    '[A333] is found out by every line of every file, one that is cut short too: $name',
    HOURS,
    async ({ make }) => {
      const { data, run } = await journaled(make);
      const journal = path.join(data, 'runs', run);
      const copy = path.join(data, 'copy');
      cpSync(journal, copy, { recursive: true });
      const files = ['manifest.jsonl', ...readdirSync(path.join(journal, 'events')).map(name => `events/${name}`)];
      expect(files.length).toBeGreaterThan(1);
      const missed: string[] = [];
      let tried = 0;
      for (const [at, file] of files.entries()) {
        if (at > 1 && at < files.length - 1 && rng.below(SEGMENTS) > 0) continue;
        for (const [name, changed] of lineChanges(Buffer.from(contentOf(path.join(copy, file))).toString())) {
          if (rng.below(CHANGES) > 0) continue;
          tried += 1;
          writeFileSync(path.join(journal, file), bytesFor(file, Buffer.from(changed)));
          const report = await verifyRun(data, run);
          const { ok, defects = [] } = report.ok ? report.value : { ok: false };
          const isNamed = !ok && (!report.ok || defects.some(({ where }) => where === 'journal'));
          if (!isNamed) missed.push(`${file}: ${name}`);
          rmSync(journal, { recursive: true });
          cpSync(copy, journal, { recursive: true });
        }
      }
      expect(missed).toEqual([]);
      expect(tried).toBeGreaterThan(sized(2, 10, 10));
    },
  );

  it('[A333] that is gone is missed, one that was never written is said to be behind, and a run that only it knows is lost', async () => {
    const { data, run, records } = await journaled(store => variedRun(store, 1));
    rmSync(path.join(data, 'runs', run), { recursive: true });
    expect(await verifyRun(data, run)).toMatchObject({
      value: { ok: false, defects: [{ where: 'journal', what: `it has 0 records, and had ${records}` }] },
    });
    const deep = await checkDeep(data);
    expect(deep.find(({ name }) => name === 'run journals')).toMatchObject({
      status: 'fail',
      found: expect.stringContaining(`has 0 records but had ${records}`),
    });
    rmSync(path.join(data, 'cache'), { recursive: true });
    expect(await verifyRun(data, run)).toMatchObject({ value: { ok: true, behind: records } });
    expect(existsSync(path.join(data, 'runs', run))).toBe(false);
    expect(await drainUnowned(data, run)).toBe(true);
    expect(await verifyRun(data, run)).toMatchObject({ value: { ok: true, journal: { events: records } } });
    const database = new DatabaseSync(path.join(data, 'db.sqlite'));
    database.exec('pragma foreign_keys = off; delete from records; delete from runs');
    database.close();
    expect(await verifyRun(data, run)).toMatchObject({
      value: {
        ok: false,
        defects: [{ where: 'log', what: expect.stringContaining(`its journal has ${records} records`) }],
      },
    });
  });
});

it('[A547] a journal that is a link or a pipe keeps nobody waiting: a start, a check and a repair go on, and name it', async () => {
  for (const replace of [
    (file: string) => symlinkSync('/dev/zero', file),
    (file: string) => execFileSync('mkfifo', [file]),
    (file: string) => mkdirSync(file),
  ]) {
    const { data, run } = await journaled(store => variedRun(store, 1));
    const manifest = path.join(data, 'runs', run, 'manifest.jsonl');
    rmSync(manifest);
    replace(manifest);
    expect(journalsAhead(data)).toEqual({ absent: [], behind: [] });
    expect(hasDefect(await verifyRun(data, run), 'journal')).toBe(true);
    expect((await checkDeep(data)).some(({ status }) => status === 'fail')).toBe(true);
    expect(repairHome({ dataDirectory: data, machine: thisMachine() })).toMatchObject({ ok: true });
  }
});

it('[A547] a file in the place of all journals is reported by a check, and ends neither that nor a start', async () => {
  const { data, run } = await journaled(store => variedRun(store, 1));
  rmSync(path.join(data, 'runs'), { recursive: true });
  writeFileSync(path.join(data, 'runs'), '');
  expect(journalsAhead(data)).toEqual({ absent: [], behind: [] });
  expect(hasDefect(await verifyRun(data, run), 'journal')).toBe(true);
  expect((await checkDeep(data)).some(({ status }) => status === 'fail')).toBe(true);
});

describe('honest runs', () => {
  it('[A587] whose owners were killed, resumed or not, are not said to be changed', HOURS, async () => {
    const folder = temporaryFolder();
    const died = await killedRuns(folder, KILLED, seededRng(587));
    expect(died).toBeGreaterThan(sized(0, 0, 10));
    const data = path.join(folder, 'data');
    const opened = openStore({ path: path.join(data, 'db.sqlite') });
    if (!opened.ok) throw new Error(opened.error.message);
    const runs: RunRecord[] = [];
    for await (const run of everyRun(opened.value)) runs.push(run);
    opened.value.close();
    expect(runs.length).toBeGreaterThanOrEqual(sized(1, 1, 200));
    const check = async () => {
      for (const { id, records, frames, origin } of runs) {
        expect(await verifyRun(data, id)).toMatchObject({ value: { ok: true, records } });
        if (frames === 0 || origin !== undefined) continue;
        expect(await verifyRunReplay(data, id, { machine: thisMachine() })).toMatchObject({ value: { ok: true } });
      }
      expect((await checkDeep(data)).filter(({ status }) => status === 'fail')).toEqual([]);
    };
    // As they were left, and once their journals are whole.
    await check();
    for (const { id } of runs) expect(await drainUnowned(data, id)).toBe(true);
    await check();
    for (const { id, records } of runs) expect(journalLength(data, id)).toBe(records);
  });
});

describe('a log that was changed, sealed again, and whose tables follow it', () => {
  it.each(kinds)('[A334] is found out by its journal, and by a head that was noted: $name', HOURS, async ({ make }) => {
    const { data, run, head } = await journaled(make);
    const file = path.join(data, 'db.sqlite');
    const copy = path.join(data, 'copy');
    cpSync(path.join(data, 'runs'), copy, { recursive: true });
    const attacker = () => new DatabaseSync(file);
    const first = attacker();
    const n = Number(first.prepare('select n from runs where id = ?').get(run)?.n);
    const honest = logOf(first, n);
    first.close();
    const missed: string[] = [];
    let followed = 0;
    const isChosen = (at: number) => at === honest.length - 1 || rng.below(RECORDS) === 0;
    for (const { name, changed } of logChanges(honest, isChosen)) {
      const forged = resealed(changed);
      if (isSameLog(forged, honest) || (followed > 0 && rng.below(CHANGES) > 0)) continue;
      const database = attacker();
      writeLog(database, n, forged);
      database.close();
      // The tables are made to follow, without a journal that would say otherwise.
      for (const name of ['runs', 'cache']) rmSync(path.join(data, name), { recursive: true, force: true });
      const repaired = repairHome({ dataDirectory: data, machine: thisMachine() });
      if (repaired.ok && repaired.value.damaged.length === 0) {
        followed += 1;
        expect(await verifyRun(data, run)).toMatchObject({ value: { ok: true } });
        const noted = await verifyRun(data, run, head as Digest);
        // A record added at the end has the noted head in its past, and the journal does not have it yet.
        const isAdded = forged.length > honest.length && isSameLog(forged.slice(0, honest.length), honest);
        if (isAdded) continue;
        if (!hasDefect(noted, 'expected head')) missed.push(`${name}: head`);
      }
      rmSync(path.join(data, 'runs'), { recursive: true, force: true });
      cpSync(copy, path.join(data, 'runs'), { recursive: true });
      const report = await verifyRun(data, run);
      if (!hasDefect(report, 'journal') && !hasDefect(report, 'log')) missed.push(`${name}: journal`);
    }
    expect(missed).toEqual([]);
    expect(followed).toBeGreaterThan(0);
  });
});

function hasDefect(report: Awaited<ReturnType<typeof verifyRun>>, where: string): boolean {
  return report.ok && (report.value.defects ?? []).some(defect => defect.where === where);
}
