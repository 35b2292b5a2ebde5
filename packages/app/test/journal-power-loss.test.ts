import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Disk } from '@signalbox/journal';
import type { RunId } from '@signalbox/model';
import type { LogRecord, RunReader } from '@signalbox/runs';
import { interceptedDisk, type LossyDisk, lossyDisk, seededRng } from '@signalbox/testkit';
import { expect, it } from 'vitest';
import { at, newRun, signal, startRun } from '../../runs/test/builders.ts';
import { journalOfRun } from '../src/run-journal/derive-journal.ts';
import { createJournalWriter } from '../src/run-journal/journal-writer.ts';
import { verifyRun } from '../src/run-journal/verify-run.ts';
import { openWrittenLengths } from '../src/run-journal/written-lengths.ts';
import { storeIn } from './retention/support.ts';
import { temporaryFolder } from './temporary-folder.ts';

const SOAK = process.env.SIGNALBOX_SOAK === '1';
const HOURS = { timeout: 8 * 3_600_000 };
/** How many records the log has when its journal is written, each time. */
const LENGTHS = [1, 4, 5, 12] as const;
const RECORDS = 12;

interface Log {
  readonly data: string;
  readonly run: RunId;
  readonly store: ReturnType<typeof storeIn>;
  readonly records: readonly LogRecord[];
}

async function committedLog(): Promise<Log> {
  const data = temporaryFolder();
  const store = storeIn(data);
  const { run, write } = await startRun(store, newRun());
  for (let n = 1; n < RECORDS; n++)
    await write({ at: at(), events: [signal(`${n}`, 'x'.repeat(n % 3 === 0 ? 900 : 9))] });
  return { data, run, store, records: await store.records(run, 0, 100) };
}

/** A disk on which the data directory is, and nothing in it. */
function emptyDisk(data: string): LossyDisk {
  const disk = lossyDisk();
  const names = data.split('/').filter(name => name !== '');
  for (const [index] of names.entries()) disk.makeDirectory(`/${names.slice(0, index + 1).join('/')}`);
  return disk.copy();
}

/** Writes the journal while the log grows, until the power goes off. Returns what was answered as written, and whether it went off. */
async function writeUntil({ data, run, store }: Log, disk: Disk, operations: number) {
  let done = 0;
  const failing = interceptedDisk(disk, (_operation, _path, work) => {
    if (done >= operations) throw new Error('the power is off');
    done += 1;
    return work();
  });
  let known = 0;
  const growing: Pick<RunReader, 'records'> = {
    records: (id, from, limit) => store.records(id, from, Math.max(0, Math.min(limit, known - from))),
  };
  const writer = createJournalWriter(data, growing, () => false, failing);
  let written = 0;
  for (known of LENGTHS) if ((await writer.write([run])).length === 0) written = known;
  return { written, isOver: done < operations };
}

/** Sets of effects that a power cut may leave: none, all, and others; in a soak all of them where they are few. */
function* survivorsOf(
  disk: LossyDisk,
  below: (limit: number) => number,
): Generator<readonly [survivors: Set<number>, torn?: number | undefined]> {
  const pending = disk.pending();
  const all = pending.map((_, index) => index);
  const lastWrite = pending.findLast(({ kind }) => kind === 'write');
  const torn = () => (lastWrite === undefined ? undefined : below(lastWrite.bytes));
  yield [new Set()];
  yield [new Set(all)];
  yield [new Set(all), torn()];
  if (SOAK && all.length <= 6) {
    for (let bits = 1; bits < 2 ** all.length - 1; bits++) yield [new Set(all.filter(index => (bits >> index) & 1))];
  } else {
    for (let n = 0; n < (SOAK ? 40 : 1); n++) yield [new Set(all.filter(() => below(2) === 0)), torn()];
  }
}

/** The first defect after a power cut; undefined if there is none. */
async function violation(log: Log, disk: LossyDisk, written: number): Promise<string | undefined> {
  const { data, run, store, records } = log;
  const held = () => {
    const read = journalOfRun(data, run, undefined, disk).read();
    return read.ok ? read.value.events().map(({ data: { header, body } }) => `${header} ${body}`) : read.error.message;
  };
  const expected = records.map(({ header, body }) => `${header} ${body}`);
  const noted = openWrittenLengths(data, 'journaled', disk).of(run) ?? 0;
  const left = held();
  if (typeof left === 'string') return `the journal cannot be read: ${left}`;
  if (left.length < Math.max(written, noted)) return `${left.length} records are left of ${written}, ${noted} noted`;
  if (left.some((record, n) => record !== expected[n])) return 'a record is another';
  copyOut(disk, data);
  const verified = await verifyRun(data, run);
  if (!verified.ok || !verified.value.ok) return `it is said to be changed: ${JSON.stringify(verified)}`;
  const next = createJournalWriter(data, store, () => false, disk);
  const behind = await next.behind();
  if (left.length < records.length && !behind.includes(run)) return 'the next process does not know that it is behind';
  if ((await next.write(behind)).length > 0) return 'the next process cannot write it';
  if (held().length !== records.length) return 'the next process does not write all of it';
  return (await next.behind()).length === 0 ? undefined : 'it stays behind';
}

/** Puts the files of the data directory on the disk of this machine. */
function copyOut(disk: Disk, data: string): void {
  for (const name of ['runs', 'cache']) rmSync(path.join(data, name), { recursive: true, force: true });
  const visit = (place: string): void => {
    for (const name of disk.list(place)) {
      const file = path.join(place, name);
      const bytes = disk.read(file);
      if (typeof bytes !== 'string') writeFileSync(file, bytes);
      else {
        mkdirSync(file);
        visit(file);
      }
    }
  };
  visit(data);
}

/** Cuts the power after every so many operations until something is wrong. */
async function search(log: Log, stride: number, disk = (real: LossyDisk): Disk => real) {
  const rng = seededRng(586);
  const below = (limit: number) => rng.below(Math.max(1, limit));
  let cuts = 0;
  for (let operations = 0, isOver = false; !isOver; operations += stride) {
    const lossy = emptyDisk(log.data);
    const ended = await writeUntil(log, disk(lossy), operations);
    isOver = ended.isOver;
    for (const [survivors, torn] of survivorsOf(lossy, below)) {
      cuts += 1;
      const found = await violation(log, lossy.afterPowerCut(survivors, torn), ended.written);
      if (found !== undefined)
        return { cuts, found: `after ${operations} operations, left ${[...survivors]}: ${found}` };
    }
  }
  return { cuts };
}

it(
  '[A586] a power cut while journals are written loses no record that was answered as written, and the next process writes the rest',
  HOURS,
  async () => {
    const log = await committedLog();
    const { cuts, found } = await search(log, SOAK ? 1 : 5);
    expect(found).toBeUndefined();
    expect(cuts).toBeGreaterThan(30);
    log.store.close();
  },
);

it('[A586] what is not synced is found out', HOURS, async () => {
  const log = await committedLog();
  const forgetful = (disk: LossyDisk): Disk => ({
    ...disk,
    open: (file, mode) => ({ ...disk.open(file, mode), sync: () => undefined }),
  });
  expect((await search(log, 1, forgetful)).found).toMatch(/records are left|cannot be read/);
  log.store.close();
});
