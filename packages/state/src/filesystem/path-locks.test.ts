import { describe, expect, it } from 'vitest';
import { must } from '../../test/builders.ts';
import { createPathLocks, type LockMode } from './path-locks.ts';

/** Whether a second request runs at once while a first one is held. */
async function runsBeside(first: [string, LockMode], second: [string, LockMode]): Promise<boolean> {
  const locks = createPathLocks();
  must(await locks.acquire(...first));
  let ran = false;
  void locks.acquire(...second).then(() => {
    ran = true;
  });
  await new Promise(setImmediate);
  return ran;
}

describe('path locks', () => {
  it.each([
    ['/a', '/a', false],
    ['/a', '/a/b', false],
    ['/a/b/c', '/a', false],
    ['/', '/a', false],
    ['/a', '/ab', true],
    ['/a/b', '/a/c', true],
  ] as const)('[S32] exclusive %s beside exclusive %s: %s', async (first, second, beside) => {
    expect(await runsBeside([first, 'exclusive'], [second, 'exclusive'])).toBe(beside);
    expect(await runsBeside([first, 'exclusive'], [second, 'shared'])).toBe(beside);
    expect(await runsBeside([first, 'shared'], [second, 'exclusive'])).toBe(beside);
    expect(await runsBeside([first, 'shared'], [second, 'shared'])).toBe(true);
  });

  it('[S32] those who wait come in the order in which they came', async () => {
    const locks = createPathLocks();
    const release = must(await locks.acquire('/a', 'exclusive'));
    const order: string[] = [];
    const waiting = ['/a/1', '/a', '/a/2'].map(async path => {
      const own = must(await locks.acquire(path, 'exclusive'));
      order.push(path);
      await new Promise(setImmediate);
      own();
    });
    release();
    await Promise.all(waiting);
    expect(order).toEqual(['/a/1', '/a', '/a/2']);
  });

  it('[S32] a waiter that is canceled goes away, and those behind it come', async () => {
    const locks = createPathLocks();
    const release = must(await locks.acquire('/a', 'shared'));
    const aborter = new AbortController();
    const canceled = locks.acquire('/a', 'exclusive', aborter.signal);
    const behind = locks.acquire('/a', 'shared');
    aborter.abort();
    expect(await canceled).toMatchObject({ ok: false, error: { code: 'state/lock-canceled' } });
    must(await behind)();
    release();
    must(await locks.acquire('/a', 'exclusive'));
    expect(await locks.acquire('/b', 'shared', aborter.signal)).toMatchObject({ ok: false });
  });
});
