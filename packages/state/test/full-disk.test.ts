import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { temporaryDirectory } from './builders.ts';

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory.remove());

const child = childScript(import.meta.dirname, 'full-disk-child.ts');
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
  it.each(kinds)('[S29] [S50] (%s) neither a capture nor a restore breaks the tree, and both say so', kind => {
    const node = ['node', child, directory.path, kind];
    const [program = '', ...args] = kind === 'disk' ? [...onSmallDisk, directory.path, ...node] : node;
    const ended = spawnSync(program, args, { encoding: 'utf8' });
    expect(ended.stderr).toBe('');
    const told = JSON.parse(ended.stdout);
    const changed = { './new': 'directory 755', './small': 'file 644 changed' };
    const cause = kind === 'disk' ? 'ENOSPC' : 'EFBIG';

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
    expect(told.stillFull).toMatchObject([{ id: '2', outcome: { kind: 'failed' } }]);
    expect(told.afterStillFull).toEqual(changed);
    expect(told.recovered).toMatchObject([{ id: '2', tool: 'change', outcome: { kind: 'rolled-back', lost: [] } }]);
    expect(told.afterRecovery).toEqual(told.before);
    expect(told.again).toMatchObject({ status: 'succeeded' });
  });
});
