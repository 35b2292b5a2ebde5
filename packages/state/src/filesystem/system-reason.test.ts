import { describe, expect, it } from 'vitest';
import { naming, reasonOf, thrownReason } from './system-reason.ts';

const refused = (code: string, where: { path?: string; dest?: string } = {}) =>
  Object.assign(new Error(`${code}: refused, write`), { code, ...where });

describe('what the system refused', () => {
  it.each([
    ['ENOSPC', 'the disk of /nowhere/a is full; free some space there'],
    ['EDQUOT', 'the disk quota for /nowhere/a is used up; free some space there, or have the quota raised'],
    ['EROFS', '/nowhere/a is read-only; make it writable again'],
    ['EIO', 'the disk of /nowhere/a fails (EIO); check it'],
  ])('[S230] because of the disk (%s) is said with the directory and what to do', (code, words) => {
    for (const where of [
      { path: '/nowhere/a/file' },
      { path: '/elsewhere/file', dest: '/nowhere/a/file' },
      { path: '/nowhere/a/.signalbox-restore-1/2' },
      { path: '/nowhere/a/blobs/incoming-12-ab/3' },
      { path: '/nowhere/a/layers/01a1ed68-8c31-77ff-9208-3a9853d39c4c/upper/file' },
    ]) {
      expect([reasonOf(refused(code, where)), thrownReason(refused(code, where))]).toEqual([words, words]);
    }
  });

  it('[S230] because of the disk is said without the directory where the system does not tell it', () => {
    const told = ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'].map(code => reasonOf(refused(code)));
    expect(told).toEqual([
      'the disk is full; free some space',
      'the disk quota is used up; free some space, or have the quota raised',
      'the disk is read-only; make it writable again',
      'the disk fails (EIO); check it',
    ]);
  });

  it('[S230] while an open file was written names the file', () => {
    const write = () =>
      naming('/nowhere/a/file', () => {
        throw refused('ENOSPC');
      });
    expect(write).toThrow(expect.objectContaining({ code: 'ENOSPC', path: '/nowhere/a/file' }));
  });

  it('for another reason keeps its code, or its own words', () => {
    expect([reasonOf(refused('EPERM')), thrownReason(refused('EPERM'))]).toEqual(['EPERM', 'EPERM: refused, write']);
    const hostile = new Proxy(new Error('no'), {
      get() {
        throw new Error('not to be looked at');
      },
    });
    expect(thrownReason(hostile)).toBe('a value that cannot be shown was thrown');
  });
});
