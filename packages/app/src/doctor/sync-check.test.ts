import { type Disk, DiskError } from '@signalbox/journal';
import { lossyDisk } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { checkSync } from './sync-check.ts';

/** Every reading of the clock is the next of these. */
const clockOf = (readings: readonly number[]) => {
  let next = 0;
  return () => readings[next++] ?? Number.NaN;
};

describe('[A9] fsync', () => {
  it('that works is told with the median of five rounds', () => {
    const rounds = [
      [1, 10],
      [9, 90],
      [2, 20],
      [8, 80],
      [3, 30],
    ];
    const readings = rounds.flatMap(([file = 0, names = 0]) => [0, file, 0, names]);
    expect(checkSync('', lossyDisk(), clockOf(readings))).toEqual({
      name: 'fsync',
      status: 'ok',
      found: 'a file in 3.0 ms, a directory in 30.0 ms (median of 5)',
    });
  });

  it('[A763] that was not tried because the disk is full is not blamed', () => {
    const full = () => {
      throw new DiskError('write', 'ENOSPC');
    };
    const disk: Disk = { ...lossyDisk(), open: () => ({ ...lossyDisk().open('a', 'create'), write: full }) };
    expect(checkSync('', disk)).toEqual({
      name: 'fsync',
      status: 'warn',
      found: 'not tried: the disk is full',
      advice: 'Free some space, then check again.',
    });
  });

  it('really syncs what it wrote', () => {
    const disk = lossyDisk();
    checkSync('', disk, clockOf([]));
    expect(disk.pending()).toEqual([]);
    expect(disk.size('sync-4')).toBe(4096);
  });

  it.each([
    ['a file', { open: () => ({ ...lossyDisk().open('a', 'create'), sync: refuse }) }],
    ['a directory', { syncDirectory: refuse }],
  ] satisfies [string, Partial<Disk>][])('that fails for %s is a failure with advice', (_name, change) => {
    expect(checkSync('', { ...lossyDisk(), ...change })).toEqual({
      name: 'fsync',
      status: 'fail',
      found: 'sync failed with EINVAL',
      advice: 'Without fsync, data does not survive a power cut. Choose a data directory on a local disk.',
    });
  });
});

function refuse(): never {
  throw new DiskError('sync', 'EINVAL');
}
