import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { temporaryDirectory } from './builders.ts';

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory.remove());

const child = childScript(import.meta.dirname, 'full-disk-child.ts');
const refusing = childScript(import.meta.dirname, 'refusing-disk-child.ts');
/** A disk that only the process which runs on it sees, and that is gone with it. */
const onSmallDisk = [
  'unshare',
  process.getuid?.() === 0 ? '-m' : '-Urm',
  'sh',
  '-c',
  'mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"',
];
const hasDisks = spawnSync(onSmallDisk[0] ?? '', [...onSmallDisk.slice(1), '/mnt', 'true']).status === 0;
const kinds = hasDisks ? (['disk', 'limit'] as const) : (['limit'] as const);

describe('a disk that is really full', () => {
  it.each(kinds)('[S29] [S50] [S235] (%s) neither a capture nor a restore breaks the tree, and both say so', kind => {
    const node = ['node', child, directory.path, kind];
    const [program = '', ...args] = kind === 'disk' ? [...onSmallDisk, directory.path, ...node] : node;
    const ended = spawnSync(program, args, { encoding: 'utf8' });
    expect(ended.stderr).toBe('');
    const told = JSON.parse(ended.stdout);
    const changed = { './new': 'directory 755', './small': 'file 644 changed' };
    const cause = kind === 'disk' ? `the disk of ${directory.path}` : 'EFBIG';

    expect(told.notCaptured).toMatchObject({
      status: 'failed',
      error: { code: 'state/snapshot-failed', message: expect.stringContaining(cause) },
      rollback: { kind: 'nothing-to-undo' },
    });
    expect(told.afterNotCaptured).toEqual(told.before);
    expect(told.notRestored).toMatchObject({
      status: 'failed',
      rollback: { kind: 'failed', error: { code: 'state/restore-failed', onDisk: { state: 'unchanged' } } },
    });
    expect(told.notRestored.rollback.error.message).toContain(cause);
    expect(told.afterNotRestored).toEqual(changed);
    expect(told.blocked).toMatchObject({ status: 'failed', error: { message: expect.stringContaining(cause) } });
    expect(told.stillFull).toMatchObject([{ id: '2', outcome: { kind: 'failed' } }]);
    expect(told.afterStillFull).toEqual(changed);
    expect(told.unblocked).toMatchObject({ status: 'succeeded' });
    expect(told.underWay).toEqual(['external', 'other']);
    expect(told.afterRecovery).toEqual(told.before);
    expect(told.again).toMatchObject({ status: 'succeeded' });
  });

  it.skipIf(!hasDisks)('[S230] what fails on it names the directory and what to do, and nothing is lost', () => {
    const disk = `${directory.path}/disk`;
    const data = `${directory.path}/data`;
    for (const one of [disk, data]) fs.mkdirSync(one);
    const [program = '', ...args] = [...onSmallDisk, disk, 'node', refusing, disk, data];
    const ended = spawnSync(program, args, { encoding: 'utf8' });
    expect(ended.stderr).toBe('');
    const { full, readOnly } = JSON.parse(ended.stdout);
    for (const [told, words] of [
      [full, `the disk of ${disk}/root is full; free some space there`],
      [readOnly, `${disk}/root is read-only; make it writable again`],
    ]) {
      const failed = { status: 'failed', error: { message: expect.stringContaining(words) } };
      expect(told).toMatchObject({
        write: failed,
        content: 'before',
      });
    }
    if (full.command !== null) {
      const words = `the changes could not be applied, and none of them were: the disk of ${disk}/root is full`;
      expect(full.command).toMatchObject({
        status: 'failed',
        error: { message: expect.stringContaining(words) },
        rollback: { kind: 'dropped' },
      });
    }
  });
});
