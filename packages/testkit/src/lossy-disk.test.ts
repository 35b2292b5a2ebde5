import { describe, expect, it } from 'vitest';
import { type LossyDisk, lossyDisk } from './lossy-disk.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const textOf = (disk: LossyDisk, path: string) => {
  const found = disk.read(path);
  return typeof found === 'object' ? new TextDecoder().decode(found) : found;
};

function written(): LossyDisk {
  const disk = lossyDisk();
  const file = disk.open('a', 'create');
  file.write(bytes('one'));
  file.sync();
  disk.syncDirectory('/');
  file.write(bytes(' two'));
  return disk;
}

describe('the lossy disk', () => {
  it('keeps what was synced and shows what was not until the power is cut', () => {
    const disk = written();
    expect(textOf(disk, 'a')).toBe('one two');
    expect(disk.pending()).toEqual([{ kind: 'write', path: 'a', bytes: 4 }]);
    expect(textOf(disk.afterPowerCut(new Set()), 'a')).toBe('one');
    expect(textOf(disk.afterPowerCut(new Set([0])), 'a')).toBe('one two');
    expect(textOf(disk.afterPowerCut(new Set([0]), 2), 'a')).toBe('one t');
  });

  it('does not make a name durable by syncing its file, nor a file by syncing its directory', () => {
    const disk = lossyDisk();
    const file = disk.open('a', 'create');
    file.write(bytes('one'));
    file.sync();
    expect(textOf(disk.afterPowerCut(new Set()), 'a')).toBe('missing');
    const other = lossyDisk();
    other.open('a', 'create').write(bytes('one'));
    other.syncDirectory('/');
    expect(textOf(other.afterPowerCut(new Set()), 'a')).toBe('');
  });

  it('may keep a later write and lose an earlier one, which leaves a gap', () => {
    const disk = lossyDisk();
    const file = disk.open('a', 'create');
    disk.syncDirectory('/');
    file.write(bytes('one'));
    file.write(bytes('two'));
    expect(textOf(disk.afterPowerCut(new Set([1])), 'a')).toBe('\0\0\0two');
  });

  it('keeps the old file under a name whose rename was lost', () => {
    const disk = written();
    disk.syncFile('a');
    const next = disk.open('b', 'create');
    next.write(bytes('new'));
    next.sync();
    disk.rename('b', 'a');
    expect(textOf(disk, 'a')).toBe('new');
    const cut = disk.afterPowerCut(new Set());
    expect([textOf(cut, 'a'), textOf(cut, 'b')]).toEqual(['one two', 'missing']);
  });

  it('loses a directory with everything in it', () => {
    const disk = lossyDisk();
    disk.makeDirectory('d');
    const file = disk.open('d/a', 'create');
    file.write(bytes('one'));
    file.sync();
    disk.syncDirectory('d');
    expect(disk.afterPowerCut(new Set()).kind('d')).toBe('missing');
    disk.syncDirectory('/');
    expect(textOf(disk.afterPowerCut(new Set()), 'd/a')).toBe('one');
  });
});
