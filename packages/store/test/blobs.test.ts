import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Disk, DiskError, hostDisk, nodeHasher } from '@signalbox/journal';
import { type Digest, digestHex, portableHasher, utf8Bytes } from '@signalbox/model';
import { interceptedDisk, lossyDisk, recordingDisk } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { at, frame, interval, newRun, set, signal, startRun, task } from '../../runs/test/builders.ts';
import { openBlobFiles } from '../src/blobs/blob-files.ts';
import { opened, temporaryStore } from './support/stores.ts';

const content = utf8Bytes('the content of a blob');
const name = portableHasher(content);
const file = `home/blobs/${digestHex(name).slice(0, 2)}/${digestHex(name)}`;

function emptyDisk() {
  const disk = lossyDisk();
  disk.makeDirectory('home');
  return disk.copy();
}

const blobsOn = (disk: Disk, home = 'home') => openBlobFiles({ disk, hasher: nodeHasher, home, writer: '1' });
const openedBlobs = (home: string) => blobsOn(hostDisk, home);

describe('a blob', () => {
  it('[D13] is on disk when it is answered: file before name, directories with what they name', () => {
    const disk = emptyDisk();
    const recorded = recordingDisk(disk);
    const blobs = blobsOn(recorded.disk);
    expect(blobs.put(content)).toEqual({ ok: true, value: name });
    expect(disk.pending()).toEqual([]);
    expect(recorded.operations.map(operation => operation.replace(/\S*\.tmp$/, '<temporary>'))).toEqual([
      'makeDirectory home/blobs',
      'syncDirectory home',
      `makeDirectory ${path.dirname(file)}`,
      'syncDirectory home/blobs',
      'open <temporary>',
      'write <temporary>',
      'sync <temporary>',
      `rename ${file}`,
      `syncDirectory ${path.dirname(file)}`,
    ]);
    expect(blobs.put(content)).toEqual({ ok: true, value: name });
    expect(recorded.operations.length).toBe(9);
    expect(blobs.get(name)).toEqual({ ok: true, value: content });
  });

  it('[D13] that another process may have left unsynced is synced before it is relied on', () => {
    const disk = emptyDisk();
    blobsOn(disk).put(content);
    const recorded = recordingDisk(disk);
    expect(blobsOn(recorded.disk).put(content)).toEqual({ ok: true, value: name });
    expect(recorded.operations).toContain(`syncDirectory ${path.dirname(file)}`);
    expect(recorded.operations.some(operation => operation.startsWith('write'))).toBe(false);
  });

  it('[D13] that cannot be written is not there, and can be put again', () => {
    const disk = emptyDisk();
    let isFull = true;
    const failing = interceptedDisk(disk, (operation, _path, run) => {
      if (operation === 'write' && isFull) throw new DiskError('write', 'ENOSPC');
      return run();
    });
    const blobs = blobsOn(failing);
    expect(blobs.put(content)).toMatchObject({ error: { code: 'STORE_IO_FAILED', details: { systemCode: 'ENOSPC' } } });
    expect(blobs.get(name)).toMatchObject({ error: { code: 'store/blob-missing' } });
    isFull = false;
    expect(blobs.put(content)).toEqual({ ok: true, value: name });
  });

  it('[D13] that was changed is not taken for what its name says, and is put right by the next put', () => {
    const store = temporaryStore();
    const blobs = openedBlobs(store.home);
    blobs.put(content);
    const place = path.join(store.home, file.slice('home/'.length));
    writeFileSync(place, 'something else');
    expect(openedBlobs(store.home).get(name)).toMatchObject({ error: { code: 'store/blob-corrupt' } });
    expect(openedBlobs(store.home).put(content)).toEqual({ ok: true, value: name });
    expect(readFileSync(place, 'utf8')).toBe('the content of a blob');
  });
});

describe('a value of more than 64 kB', () => {
  it('[D14] lives in a blob, whatever row it belongs to, and reads the same', async () => {
    const store = temporaryStore();
    const text = (unit: string) => unit.repeat(70_000);
    const writer = await startRun(store, newRun({ input: text('i') }));
    const done = task(writer.run, { status: 'done', result: text('r') });
    await writer.write({
      at: at(),
      frame: frame(0, { written: [text('f')] }),
      intervals: [interval('state', 'a', 0, set(text('s')))],
      transitions: [{ frame: 0, index: 0, key: 'a', change: set(text('s')), at: at() }],
      tasks: [done],
      events: [signal('big', text('e'))],
    });
    // One each, one of the details of the run that hold its input, and one of the row of the frame, which is shorter than its record's.
    expect(blobsIn(store.home).length).toBe(7);
    store.close();

    const again = opened(store.home);
    expect((await again.run(writer.run))?.input).toBe(text('i'));
    expect((await again.frame(writer.run, 0))?.written).toEqual([text('f')]);
    expect(await again.valueAt(writer.run, 'state', 'a', 0)).toBe(text('s'));
    expect((await again.transitions(writer.run)).items[0]?.new).toBe(text('s'));
    expect(await again.tasks(writer.run)).toEqual([done]);
    expect((await again.events(writer.run, 1, 1))[0]?.event).toMatchObject({ payload: text('e') });
    again.close();
  });

  it('[D14] is counted in bytes, not in characters', async () => {
    const store = temporaryStore();
    const writer = await startRun(store);
    await writer.write({ at: at(), intervals: [interval('state', 'a', 0, set('ü'.repeat(30_000)))] });
    expect(blobsIn(store.home)).toEqual([]);
    await writer.write({ at: at(), intervals: [interval('state', 'b', 0, set('ü'.repeat(40_000)))] });
    expect(blobsIn(store.home).length).toBe(1);
  });

  it('[D14] whose blob is gone or damaged is said to be so', async () => {
    const store = temporaryStore();
    const writer = await startRun(store);
    await writer.write({ at: at(), intervals: [interval('state', 'a', 0, set('x'.repeat(70_000)))] });
    const [blob = ''] = blobsIn(store.home);
    writeFileSync(path.join(store.home, 'blobs', blob), 'damaged');
    await expect(store.valueAt(writer.run, 'state', 'a', 0)).rejects.toThrow('does not match its digest');
    store.close();
    const again = opened(store.home);
    const append = { kind: 'patch', steps: [{ op: 'splice', path: [], at: 0, remove: 0, insert: 'y' }] } as const;
    const patched = { at: at(), intervals: [interval('state', 'a', 0, append)] };
    expect(await again.commit(patched, writer.guard)).toMatchObject({
      error: { code: 'STORE_IO_FAILED', details: { cause: 'store/blob-corrupt' } },
    });
    again.close();
  });
});

describe('blobs through the port', () => {
  it('[D13] are put and got by their digest', async () => {
    const store = temporaryStore();
    expect(await store.put([content, utf8Bytes('')])).toEqual({ ok: true, value: [name, portableHasher('')] });
    expect(await store.get(name)).toMatchObject({ ok: true, value: Buffer.from(content) });
    expect(await store.get(`sha256:${'1'.repeat(64)}` as Digest)).toMatchObject({
      error: { code: 'store/blob-missing' },
    });
  });
});

function blobsIn(home: string): readonly string[] {
  try {
    return readdirSync(path.join(home, 'blobs'), { recursive: true, encoding: 'utf8' }).filter(entry =>
      /[0-9a-f]{64}$/.test(entry),
    );
  } catch {
    return [];
  }
}
