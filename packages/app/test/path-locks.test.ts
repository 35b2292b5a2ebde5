import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import { digestHex } from '@signalbox/model';
import type { LockMode } from '@signalbox/state';
import { describe, expect, it, onTestFinished } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { startChild } from '../src/child/child-process.ts';
import { openHostPathLocks } from '../src/path-locks/host-path-locks.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
let count = 0;
const newDirectory = () => path.join(folder, `locks-${count++}`);

/** Another process that holds a path. */
async function holder(directory: string, wanted: string, mode: LockMode) {
  const script = childScript(import.meta.dirname, 'path-lock-child.ts');
  const child = startChild([process.execPath, script], mode, directory, wanted);
  onTestFinished(async () => void (await child.kill()));
  expect(await child.firstLine).toBe('held');
  return child;
}

/** A lock that is free is taken without a pause; one that is not is given up after the first look at it. */
async function isFree(directory: string, wanted: string, mode: LockMode): Promise<boolean> {
  const patience = new AbortController();
  const waiting = openHostPathLocks(directory).acquire(wanted, mode, patience.signal);
  await new Promise(setImmediate);
  patience.abort();
  const lock = await waiting;
  if (lock.ok) lock.value();
  return lock.ok;
}

describe('path locks between processes', () => {
  it('[A17] keep equal and nested paths apart, and no others', async () => {
    const directory = newDirectory();
    const held = await holder(directory, '/projects/one', 'exclusive');
    const answers = async () =>
      Promise.all(
        ['/projects/one', '/projects/one/src/deep', '/projects', '/', '/projects/one-2', '/elsewhere'].map(wanted =>
          isFree(directory, wanted, 'exclusive'),
        ),
      );
    expect(await answers()).toEqual([false, false, false, false, true, true]);
    await held.kill();
    for (const wanted of ['/projects/one', '/projects', '/'])
      expect(await isFree(directory, wanted, 'exclusive')).toBe(true);
  });

  it('[A17] let shared holders in together', async () => {
    const directory = newDirectory();
    await holder(directory, '/projects/one', 'shared');
    expect(await isFree(directory, '/projects/one', 'shared')).toBe(true);
    expect(await isFree(directory, '/projects', 'shared')).toBe(true);
    expect(await isFree(directory, '/projects/one', 'exclusive')).toBe(false);
    expect(await isFree(directory, '/projects', 'exclusive')).toBe(false);
  });

  it('[A18] go to a waiter when their holder is killed', async () => {
    const directory = newDirectory();
    const held = await holder(directory, '/projects', 'exclusive');
    const waiting = openHostPathLocks(directory).acquire('/projects/one', 'exclusive');
    await new Promise(setImmediate);
    await held.kill();
    const lock = await waiting;
    expect(lock.ok).toBe(true);
    if (lock.ok) lock.value();
  });

  it('[A18] say when a waiter was canceled, and when a lock cannot be used', async () => {
    const directory = newDirectory();
    const held = new AbortController();
    held.abort();
    const locks = openHostPathLocks(directory);
    expect(await locks.acquire('/a', 'exclusive', held.signal)).toMatchObject({
      error: { code: 'state/lock-canceled' },
    });
    mkdirSync(directory, { recursive: true });
    writeFileSync(
      path.join(directory, `${digestHex(nodeHasher('/a'))}.lock`),
      'no lock file, and long enough to show it',
    );
    expect(await locks.acquire('/a', 'exclusive')).toMatchObject({ error: { code: 'state/lock-failed' } });
    // Locks taken on the way are released.
    expect(await isFree(directory, '/', 'exclusive')).toBe(true);
  });
});
