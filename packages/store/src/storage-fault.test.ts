import { DiskError, ioFailure } from '@signalbox/journal';
import { failure } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { storageFaultOf, thrownStorageFault } from './storage-fault.ts';

describe('a write that failed because of the disk', () => {
  it.each([
    [13, 'full'],
    [8, 'read-only'],
    [10, 'failing'],
    [14, 'failing'],
    [19, undefined],
  ] as const)('[D60] is told by what SQLite says: %s is %s', (sqliteCode, reason) => {
    const words = { message: 'm', suggestion: 's', details: { sqliteCode } };
    expect(storageFaultOf(failure('STORE_IO_FAILED', words))).toBe(reason);
    expect(storageFaultOf(failure('run/unknown', words))).toBeUndefined();
    const extended = Object.assign(new Error('x'), { code: 'ERR_SQLITE_ERROR', errcode: sqliteCode | (3 << 8) });
    expect(thrownStorageFault(extended)).toBe(reason);
  });

  it.each([
    ['ENOSPC', 'full'],
    ['EDQUOT', 'full'],
    ['EROFS', 'read-only'],
    ['EIO', 'failing'],
    ['ENOENT', undefined],
  ] as const)('[D60] is told by what the system says of a file: %s is %s', (code, reason) => {
    expect(storageFaultOf(ioFailure(new DiskError('write', code), 'writing a blob'))).toBe(reason);
    expect(thrownStorageFault(Object.assign(new Error('x'), { code }))).toBe(reason);
    expect(thrownStorageFault('no error')).toBeUndefined();
  });
});
