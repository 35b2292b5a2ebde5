import { portableHasher } from '@signalbox/model';
import { lossyDisk, recordingDisk } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { openContentStore } from './content-store.ts';
import type { Disk } from './disk.ts';

const HOME = 'home';

function newDisk() {
  const disk = lossyDisk();
  disk.makeDirectory(HOME);
  return disk;
}

const open = (disk: Disk) =>
  openContentStore({ disk, hasher: portableHasher, home: HOME, name: 'snapshots', writer: 'test' });

describe('a content store', () => {
  it('[J22] names a text by its sha256 and gives it back, also to another process', () => {
    const disk = newDisk();
    const ref = portableHasher('{"state":"ünï"}');
    expect(open(disk).putAll(['{"state":"ünï"}'])).toEqual({ ok: true, value: [ref] });
    expect(open(disk).get(ref)).toEqual({ ok: true, value: '{"state":"ünï"}' });
    expect(disk.list(`${HOME}/snapshots`)).toEqual([`${ref.slice('sha256:'.length)}.json`]);
  });

  it('[J22] stores what it has once, and what stands twice in one call too', () => {
    const recorded = recordingDisk(newDisk());
    const store = open(recorded.disk);
    store.putAll(['a', 'b', 'a']);
    const written = recorded.operations.filter(operation => operation.startsWith('write'));
    expect(written.length).toBe(2);
    const before = recorded.operations.length;
    store.putAll(['b', 'a']);
    expect(recorded.operations.length).toBe(before);
  });

  it('[J22] refuses what is missing and what is not as its name says', () => {
    const disk = newDisk();
    const [ref] = [portableHasher('a')];
    expect(open(disk).get(ref)).toMatchObject({ ok: false, error: { code: 'STORE_SNAPSHOT_MISSING' } });
    open(disk).putAll(['a']);
    disk.open(`${HOME}/snapshots/${ref.slice('sha256:'.length)}.json`, 'append').write(new Uint8Array([33]));
    expect(open(disk).get(ref)).toMatchObject({ ok: false, error: { code: 'STORE_SNAPSHOT_CORRUPT' } });
    expect(open(disk).isDurable(ref)).toBe(false);
  });

  it('[J22] mends a damaged file when its text is stored again', () => {
    const disk = newDisk();
    const ref = portableHasher('a');
    open(disk).putAll(['a']);
    disk.open(`${HOME}/snapshots/${ref.slice('sha256:'.length)}.json`, 'append').write(new Uint8Array([33]));
    open(disk).putAll(['a']);
    expect(open(disk).get(ref)).toEqual({ ok: true, value: 'a' });
  });
});
