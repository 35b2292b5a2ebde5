import { chainHead, EMPTY_HEAD, ok } from '@signalbox/model';
import {
  type FactRecorded,
  factDraft,
  interceptedDisk,
  type LossyDisk,
  lossyDisk,
  memoryLocks,
  openFacts,
  snapshotText,
} from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { type Disk, DiskError } from './disk.ts';
import { nodeHasher } from './files/node-hasher.ts';
import type { Journal, LockWitness } from './journal.ts';

const HOME = 'home';

function newDisk(): LossyDisk {
  const disk = lossyDisk();
  disk.makeDirectory(HOME);
  return disk;
}

const open = (disk: Disk) => openFacts({ disk, locks: memoryLocks(), home: HOME });

const append = (journal: Journal<FactRecorded>, ...events: ReturnType<typeof factDraft>[]) =>
  journal.withLock(witness => journal.append(witness, { events }));

function texts(journal: Journal<FactRecorded>): readonly string[] {
  const read = journal.read();
  if (!read.ok) throw new Error(read.error.message);
  return read.value.events().map(event => event.data.text);
}

describe('appending', () => {
  it('[J1] gives events the next indexes, from 0', async () => {
    const { journal } = open(newDisk());
    await append(journal, factDraft(1), factDraft(2));
    const appended = await append(journal, factDraft(3));
    expect(appended.ok && appended.value.events.map(event => event.eventIndex)).toEqual([2]);
    expect(texts(journal)).toEqual(['fact 1', 'fact 2', 'fact 3']);
  });

  it('[J10] a plan that was appended before changes nothing and answers with what was recorded', async () => {
    const disk = newDisk();
    const { journal } = open(disk);
    const first = await append(journal, factDraft(1), factDraft(2));
    const size = disk.size(`${HOME}/sessions/${journal.sessionId}/manifest.jsonl`);
    const again = await append(open(disk).journal, { ...factDraft(1), eventId: factDraft(9).eventId }, factDraft(2));
    expect(again).toEqual({ ok: true, value: { ...(first.ok && first.value), isNew: false } });
    expect(disk.size(`${HOME}/sessions/${journal.sessionId}/manifest.jsonl`)).toBe(size);
  });

  it('[J10] a plan of which only some was appended before is refused, and nothing is written', async () => {
    const { journal } = open(newDisk());
    await append(journal, factDraft(1));
    expect(await append(journal, factDraft(1), factDraft(2))).toMatchObject({
      ok: false,
      error: { code: 'STORE_DEDUPE_CONFLICT', details: { recorded: ['fact_recorded:1'] } },
    });
    expect(texts(journal)).toEqual(['fact 1']);
  });

  it.each<[string, readonly ReturnType<typeof factDraft>[], string]>([
    ['no events', [], 'a plan has at least one event'],
    ['one key twice', [factDraft(1), factDraft(1)], 'stands in it twice'],
    ['too many events', Array.from({ length: 5_001 }, (_, number) => factDraft(number)), 'the most is 5000'],
    ['too many bytes', [factDraft(1, { text: 'x'.repeat(16 * 1024 * 1024) })], 'the most is 16777216'],
    [
      'an event that does not fit',
      [{ ...factDraft(1), data: { text: 1 as unknown as string } }],
      'does not fit its schema',
    ],
    ['text that has no UTF-8 form', [factDraft(1, { text: 'half a pair: \ud83d' })], 'is not plain data'],
    ['a key with other characters', [{ ...factDraft(1), dedupeKey: 'Fact 1' as never }], 'is not a dedupe key'],
  ])('[J11] a plan with %s is refused, and nothing is written', async (_name, events, why) => {
    const disk = newDisk();
    const { journal } = open(disk);
    const refused = await append(journal, ...events);
    expect(refused).toMatchObject({ ok: false, error: { code: 'STORE_PLAN_INVALID' } });
    expect(!refused.ok && refused.error.message).toContain(why);
    expect(disk.list(`${HOME}/sessions/${journal.sessionId}`)).toEqual([]);
  });

  it('[J11] a plan that refers to a snapshot which is not in the store is refused', async () => {
    const { journal, snapshots } = open(newDisk());
    const plan = factDraft(1, { withSnapshot: true });
    expect(await append(journal, plan)).toMatchObject({ ok: false, error: { code: 'STORE_SNAPSHOT_MISSING' } });
    snapshots.putAll([snapshotText(1)]);
    expect(await append(journal, plan)).toMatchObject({ ok: true, value: { isNew: true } });
  });

  it('[J4] a snapshot that several events refer to is pinned once', async () => {
    const disk = newDisk();
    const { journal, snapshots } = open(disk);
    snapshots.putAll([snapshotText(1)]);
    const shared = factDraft(1, { withSnapshot: true }).data;
    await append(journal, { ...factDraft(1), data: shared }, { ...factDraft(2), data: shared });
    await append(journal, { ...factDraft(3), data: shared });
    const manifest = disk.read(`${HOME}/sessions/${journal.sessionId}/manifest.jsonl`) as Uint8Array;
    const kinds = new TextDecoder()
      .decode(manifest)
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line).kind);
    expect(kinds).toEqual(['segment_closed', 'snapshot_pinned', 'segment_closed']);
  });
});

describe('a disk that refuses', () => {
  const plan = [factDraft(2, { withSnapshot: true }), factDraft(3)];

  async function appendOn(disk: Disk) {
    const { journal, snapshots } = open(disk);
    const stored = snapshots.putAll([snapshotText(2)]);
    return stored.ok ? append(journal, ...plan) : stored;
  }

  /** Fails one operation, once; a write gets half-way first. */
  function failingDisk(disk: Disk, at: number): { readonly disk: Disk; readonly count: () => number } {
    let count = 0;
    const halfWritten = interceptedDisk(disk, (operation, _path, run) => {
      if (count++ !== at || operation === 'write') return run();
      throw new DiskError(operation, 'EIO');
    });
    return {
      count: () => count,
      disk: {
        ...halfWritten,
        open(path, mode) {
          const file = halfWritten.open(path, mode);
          return {
            ...file,
            write(bytes) {
              if (count !== at) return file.write(bytes);
              file.write(bytes.subarray(0, bytes.length / 2));
              throw new DiskError('write', 'ENOSPC');
            },
          };
        },
      },
    };
  }

  it('[J7, J12] says so, leaves the journal as it was, and takes the same plan again', async () => {
    const base = newDisk();
    await append(open(base).journal, factDraft(1));
    let failures = 0;
    for (let at = 0; ; at++) {
      const disk = base.copy();
      const failing = failingDisk(disk, at);
      const refused = await appendOn(failing.disk);
      if (failing.count() <= at) break;
      failures += 1;
      expect(refused).toMatchObject({
        ok: false,
        error: { code: 'STORE_IO_FAILED', retry: { kind: 'retryable_immediate' } },
      });
      expect(texts(open(disk).journal)).toEqual(['fact 1']);
      expect(await appendOn(disk)).toMatchObject({ ok: true, value: { isNew: true } });
      expect(texts(open(disk).journal)).toEqual(['fact 1', 'fact 2', 'fact 3']);
    }
    expect(failures).toBeGreaterThan(10);
  });

  it('[J12] also while it is read', () => {
    const disk: Disk = {
      ...newDisk(),
      size() {
        throw new DiskError('stat', 'EIO');
      },
    };
    expect(open(disk).journal.read()).toMatchObject({ ok: false, error: { code: 'STORE_IO_FAILED' } });
  });
});

describe('the witness', () => {
  it('[J15] is void once the lock is released', async () => {
    const { journal } = open(newDisk());
    let kept: LockWitness | undefined;
    await journal.withLock(witness => {
      kept = witness;
      return ok(undefined);
    });
    expect(() => journal.append(kept as LockWitness, { events: [factDraft(1)] })).toThrow('without its lock');
    await journal.withLock(() => {
      expect(() => journal.append(kept as LockWitness, { events: [factDraft(1)] })).toThrow('without its lock');
      return ok(undefined);
    });
    expect(texts(journal)).toEqual([]);
  });

  it('[J15] cannot be made, nor taken from another session', async () => {
    const disk = newDisk();
    const { journal } = open(disk);
    expect(() => journal.append({} as LockWitness, { events: [factDraft(1)] })).toThrow('without its lock');
    const other = openFacts({
      disk,
      locks: memoryLocks(),
      home: HOME,
      sessionId: factDraft(7).eventId as never,
    }).journal;
    await other.withLock(witness => {
      expect(() => journal.append(witness, { events: [factDraft(1)] })).toThrow('without its lock');
      return ok(undefined);
    });
  });

  it('[J13] is given to one at a time, and the lock is free again when its holder throws', async () => {
    const { journal } = open(newDisk());
    const failed = journal.withLock(async () => {
      expect(await journal.withLock(() => ok(undefined))).toMatchObject({ error: { code: 'SESSION_LOCKED' } });
      throw new Error('thrown by the work');
    });
    await expect(failed).rejects.toThrow('thrown by the work');
    expect(await append(journal, factDraft(1))).toMatchObject({ ok: true });
  });
});

describe('reading', () => {
  it('[J16] needs no lock and writes nothing', async () => {
    const disk = newDisk();
    await append(open(disk).journal, factDraft(1));
    const touched: string[] = [];
    const watched = interceptedDisk(disk, (operation, _path, run) => {
      touched.push(operation);
      return run();
    });
    const locks = { acquire: () => Promise.reject(new Error('no lock is needed')) };
    const { journal } = openFacts({ disk: watched, locks, home: HOME });
    expect(texts(journal)).toEqual(['fact 1']);
    // Existing records are made durable before they are relied on; nothing else is done.
    expect(touched).toEqual(['syncFile']);
  });

  it('[J16] a session that has no files is empty', () => {
    const disk = newDisk();
    expect(texts(open(disk).journal)).toEqual([]);
    expect(disk.list(HOME)).toEqual([]);
  });

  it('[J17] a view does not change when more is appended', async () => {
    const { journal } = open(newDisk());
    await append(journal, factDraft(1));
    const view = journal.read();
    await append(journal, factDraft(2));
    expect(view).toMatchObject({ ok: true, value: { length: 1, head: expect.stringMatching(/^sha256:/) } });
    const later = journal.read();
    if (!view.ok || !later.ok) throw new Error('unreadable');
    expect(view.value.events().length).toBe(1);
    expect(view.value.find(factDraft(2).dedupeKey)).toBeUndefined();
    expect(view.value.find(factDraft(1).dedupeKey)?.data.text).toBe('fact 1');
    expect(later.value.find(factDraft(2).dedupeKey)?.data.text).toBe('fact 2');
    expect(later.value.events(view.value.length).map(event => event.data.text)).toEqual(['fact 2']);
    expect(later.value.head).not.toBe(view.value.head);
  });

  it('[J18] reads only what is new, also of what other processes appended', async () => {
    const disk = newDisk();
    let bytesRead = 0;
    const counting: Disk = {
      ...disk,
      read(path, from) {
        const bytes = disk.read(path, from);
        if (typeof bytes === 'object') bytesRead += bytes.length;
        return bytes;
      },
    };
    const reader = open(counting).journal;
    const writer = open(disk).journal;
    const costs: number[] = [];
    for (let number = 1000; number < 1200; number++) {
      await append(writer, factDraft(number));
      bytesRead = 0;
      reader.read();
      costs.push(bytesRead);
    }
    expect(texts(reader).length).toBe(200);
    expect(Math.max(...costs)).toBeLessThan(Math.min(...costs) + 20);
    bytesRead = 0;
    reader.read();
    expect(bytesRead).toBe(0);
  });

  it('[J17] leaves out an append that was cut short, which the next append removes', async () => {
    const disk = newDisk();
    const { journal } = open(disk);
    await append(journal, factDraft(1));
    const manifest = `${HOME}/sessions/${journal.sessionId}/manifest.jsonl`;
    const size = disk.size(manifest) ?? 0;
    await append(journal, factDraft(2), factDraft(3));
    const torn = disk.open(manifest, 'append');
    torn.truncate((disk.size(manifest) ?? 0) - 10);
    const next = open(disk).journal;
    expect(texts(next)).toEqual(['fact 1']);
    expect(disk.size(manifest)).toBeGreaterThan(size);
    await append(next, factDraft(4));
    expect(texts(open(disk).journal)).toEqual(['fact 1', 'fact 4']);
  });

  it('[J19] finds that records which it had read are gone', async () => {
    const disk = newDisk();
    const { journal } = open(disk);
    await append(journal, factDraft(1));
    disk.open(`${HOME}/sessions/${journal.sessionId}/manifest.jsonl`, 'append').truncate(0);
    expect(journal.read()).toMatchObject({
      ok: false,
      error: { code: 'SESSION_CORRUPT', details: { health: 'corrupt_tail', defect: { code: 'manifest_shrunk' } } },
    });
  });
});

describe('the head', () => {
  it('[J25] is the chain of the events, however they were split into segments', async () => {
    const together = open(newDisk()).journal;
    await append(together, factDraft(1), factDraft(2), factDraft(3));
    const disk = newDisk();
    const apart = open(disk).journal;
    for (const number of [1, 2, 3]) await append(apart, factDraft(number));
    const [one, other, fresh] = [together.read(), apart.read(), open(disk).journal.read()];
    if (!one.ok || !other.ok || !fresh.ok) throw new Error('unreadable');
    expect(one.value.head).toBe(other.value.head);
    expect(fresh.value.head).toBe(other.value.head);
    const segment = disk.read(`${HOME}/sessions/${apart.sessionId}/events/00000000-00000000.jsonl`) as Uint8Array;
    const first = new TextDecoder().decode(segment).trimEnd();
    const withOne = open(newDisk()).journal;
    const appended = await append(withOne, factDraft(1));
    expect(appended.ok && appended.value.head).toBe(chainHead(nodeHasher, EMPTY_HEAD, first));
  });
});
