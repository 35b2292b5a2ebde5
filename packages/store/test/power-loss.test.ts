import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RunId } from '@signalbox/model';
import { openArchive } from '@signalbox/store';
import { seededRng } from '@signalbox/testkit';
import { expect, it } from 'vitest';
import { sized } from '../../../test/sized.ts';
import { at, newRun, signal, startRun } from '../../runs/test/builders.ts';
import { databaseOf } from './support/database-file.ts';
import { opened, temporaryHome } from './support/stores.ts';
import { variedRun } from './support/varied-runs.ts';

/**
 * SQLite syncs its write-ahead log before a commit is answered, and its database before it begins that log again. So what a power cut
 * may leave between two commits is: any of the sectors that were written to the log since, with the database of before; or all of
 * the log, with any of the sectors of the database that were written since.
 */
const SECTOR = 512;
const SOAK = process.env.SIGNALBOX_SOAK === '1';
/** How many ways of cutting each commit are tried: none of its sectors, all of them, and some. */
const TRIES = sized(3, 3, 12);
/** How many commits go by without a cut, unless the log was begun again. */
const APART = sized(6, 3, 1);
const HOURS = { timeout: 8 * 3_600_000 };

interface Image {
  readonly database: Buffer;
  readonly log: Buffer;
  /** How many records each run had, all of them acknowledged. */
  readonly records: ReadonlyMap<RunId, number>;
}

it(
  '[D340] a power cut between any two commits loses nothing that was acknowledged, and leaves no half of a commit',
  HOURS,
  async () => {
    const rng = seededRng(340);
    const noise = () => Buffer.from(rng.bytes(45_000)).toString('base64');
    const home = temporaryHome();
    const store = opened(home);
    const images: Image[] = [];
    const take = async () => {
      const records = new Map((await store.runs({ limit: 200 })).items.map(run => [run.id, run.records] as const));
      images.push({ database: readFileSync(databaseOf(home)), log: readFileSync(`${databaseOf(home)}-wal`), records });
    };
    const { write } = await startRun(store, newRun());
    await take();
    for (let n = 0; n < (SOAK ? 200 : 16); n++) {
      if (n % 8 === 4) await variedRun(store, n);
      // Some are so large that the log is soon begun again, and cannot be compressed.
      else
        await write({
          at: at(),
          events: Array.from({ length: n % 3 === 0 ? 14 : 1 }, (_, of) => signal(`${n} ${of}`, noise())),
        });
      await take();
    }
    store.close();
    expect(images.some(({ log }, index) => !sameStart(log, images[index - 1]?.log ?? log))).toBe(true);

    const blobs = path.join(home, 'blobs');
    for (const [index, after] of images.entries()) {
      const before = images[index - 1];
      if (before === undefined || (index % APART > 0 && sameStart(before.log, after.log))) continue;
      for (let attempt = 0; attempt < TRIES; attempt++) {
        const keeps = attempt === 0 ? () => false : attempt === 1 ? () => true : () => rng.below(2) === 0;
        check(
          before,
          { log: mixed(before.log, after.log, keeps, rng.below(SECTOR)), database: before.database },
          blobs,
        );
        if (sameStart(before.log, after.log)) {
          check(after, { log: after.log, database: mixed(before.database, after.database, keeps, 0) }, blobs);
        }
      }
    }
  },
);

/** Whether the log was not begun again: it has the same header. */
function sameStart(one: Buffer, other: Buffer): boolean {
  return one.subarray(0, 32).equals(other.subarray(0, 32));
}

/** The old contents with some of the sectors written since. One of them may be torn. */
function mixed(before: Buffer, after: Buffer, keeps: () => boolean, torn: number): Buffer {
  const mixed = Buffer.alloc(Math.max(before.length, after.length));
  before.copy(mixed);
  let end = before.length;
  for (let sector = 0; sector < after.length; sector += SECTOR) {
    const part = after.subarray(sector, sector + SECTOR);
    if (!keeps() || part.equals(mixed.subarray(sector, sector + part.length))) continue;
    part.copy(mixed, sector);
    end = Math.max(end, sector + part.length);
  }
  return mixed.subarray(0, Math.max(before.length, end - (end > before.length ? torn : 0)));
}

function check(acknowledged: Image, left: Pick<Image, 'database' | 'log'>, blobs: string): void {
  const home = temporaryHome();
  if (existsSync(blobs)) symlinkSync(blobs, path.join(home, 'blobs'));
  writeFileSync(databaseOf(home), left.database);
  writeFileSync(`${databaseOf(home)}-wal`, left.log);
  // The owner that starts next writes; others only read.
  const store = opened(home);
  store.close();
  const archive = openArchive({ path: path.join(databaseOf(home)) });
  if (!archive.ok) throw new Error(archive.error.message);
  const checks = [...archive.value.checkAll()];
  expect(archive.value.integrity()).toEqual([]);
  expect(checks.flatMap(({ defects }) => defects)).toEqual([]);
  const found = new Map(checks.map(({ run: id, records }) => [id, records]));
  for (const [id, records] of acknowledged.records) expect(found.get(id) ?? 0).toBeGreaterThanOrEqual(records);
  archive.value.close();
  rmSync(home, { recursive: true });
}
