import { nodeHasher, verifyJournal, zstdPacking } from '@signalbox/journal';
import {
  factDraft,
  factSchema,
  type LossyDisk,
  lossyDisk,
  memoryLocks,
  openFacts,
  TEST_SESSION,
} from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';

const HOME = 'home';
const directory = `${HOME}/sessions/${TEST_SESSION}`;
const FIRST = `${directory}/events/00000000-00000001.jsonl`;
const SECOND = `${directory}/events/00000002-00000002.jsonl`;

const packed = (disk: LossyDisk) => openFacts({ disk, locks: memoryLocks(), home: HOME, packing: zstdPacking }).journal;
const plain = (disk: LossyDisk) => openFacts({ disk, locks: memoryLocks(), home: HOME }).journal;
const checked = (disk: LossyDisk, packing?: typeof zstdPacking) =>
  verifyJournal({ disk, hasher: nodeHasher, schema: factSchema, directory, packing });
const verified = (disk: LossyDisk) => checked(disk, zstdPacking);

/** Two appends, each by its own journal. */
async function journal(first: typeof packed, second: typeof packed): Promise<LossyDisk> {
  const disk = lossyDisk();
  disk.makeDirectory(HOME);
  const [one, two] = [first(disk), second(disk)];
  await one.withLock(witness => one.append(witness, { events: [factDraft(1), factDraft(2)] }));
  await two.withLock(witness => two.append(witness, { events: [factDraft(3)] }));
  return disk.copy();
}

function bytesOf(disk: LossyDisk, file: string): Uint8Array {
  const bytes = disk.read(file);
  if (typeof bytes !== 'object') throw new Error(`${file} is ${bytes}`);
  return bytes;
}

function replaced(disk: LossyDisk, path: string, bytes: Uint8Array): LossyDisk {
  const changed = disk.copy();
  const file = changed.open(path, 'create');
  file.write(bytes);
  file.close();
  return changed;
}

describe('a journal with compressed segments', () => {
  it('[J60] holds the same events, the same manifest and the same head as one with plain segments, or with both', async () => {
    const disks = await Promise.all([journal(plain, plain), journal(packed, packed), journal(plain, packed)]);
    expect(disks.map(disk => disk.list(`${directory}/events`).toSorted())).toEqual([
      ['00000000-00000001.jsonl', '00000002-00000002.jsonl'],
      ['00000000-00000001.jsonl.zst', '00000002-00000002.jsonl.zst'],
      ['00000000-00000001.jsonl', '00000002-00000002.jsonl.zst'],
    ]);
    const [first, ...others] = disks.map(disk => {
      const read = packed(disk).read();
      if (!read.ok) throw new Error(read.error.message);
      return [read.value.events(), read.value.head, bytesOf(disk, `${directory}/manifest.jsonl`), verified(disk)];
    });
    expect(others).toEqual([first, first]);
    expect(first?.[3]).toMatchObject({ ok: true, events: 3, segments: 2, notes: [] });
  });

  it('[J61] is corrupt where one was cut, added to, swapped, or unpacks to more or something else', async () => {
    const disk = await journal(packed, packed);
    const [first, second] = [`${FIRST}.zst`, `${SECOND}.zst`].map(file => bytesOf(disk, file)) as [
      Uint8Array,
      Uint8Array,
    ];
    const content = zstdPacking.unpack(second, 1 << 20) as Uint8Array;
    const changes = [
      second.subarray(0, -1),
      Buffer.concat([second, Buffer.from('x')]),
      Buffer.concat([second, second]),
      first,
      zstdPacking.pack(Buffer.concat([content, Buffer.from(' ')])),
      zstdPacking.pack(Buffer.from(content).map(byte => (byte === 0x33 ? 0x34 : byte))),
      zstdPacking.pack(Buffer.alloc(64 * 1024 * 1024)),
      content,
    ];
    for (const changed of changes) {
      const damaged = replaced(disk, `${SECOND}.zst`, changed);
      expect(verified(damaged)).toMatchObject({
        health: 'corrupt_tail',
        events: 2,
        defect: { file: 'events/00000002-00000002.jsonl.zst', code: expect.stringMatching(/mismatch$/) },
      });
      expect(packed(damaged).read()).toMatchObject({ ok: false, error: { code: 'SESSION_CORRUPT' } });
    }
  });

  it('[J61] does not unpack more than an append may hold, whatever the manifest says', async () => {
    const disk = await journal(packed, packed);
    const manifest = Buffer.from(bytesOf(disk, `${directory}/manifest.jsonl`)).toString();
    const huge = replaced(
      disk,
      `${directory}/manifest.jsonl`,
      Buffer.from(manifest.replace(/^\{"bytes":\d+/, '{"bytes":99999999999')),
    );
    expect(verified(huge)).toMatchObject({ ok: false, events: 0, defect: { code: 'segment_digest_mismatch' } });
  });

  it('[J62] is not read by whoever does not ask for them', async () => {
    const disk = await journal(plain, packed);
    expect(checked(disk)).toMatchObject({ events: 2, defect: { code: 'segment_missing' } });
    expect(plain(disk).read()).toMatchObject({ ok: false });
    expect(plain(disk).salvage()).toMatchObject({ ok: true, value: { health: 'corrupt_tail' } });
  });
});
