import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { lineLocks } from './line-locks.ts';

it('[J80] callers are served one after the other, by path, and no file is made', async () => {
  const order: string[] = [];
  const work = async (path: string, name: string) => {
    const lock = await lineLocks.acquire(path);
    if (!lock.ok) throw new Error('it is never refused');
    order.push(`${name} begins`);
    await new Promise(resolve => setImmediate(resolve));
    order.push(`${name} ends`);
    lock.value.release();
  };
  await Promise.all([work('/nowhere/a', 'one'), work('/nowhere/a', 'two'), work('/nowhere/b', 'other')]);
  const at = (what: string) => order.indexOf(what);
  expect(at('one ends')).toBeLessThan(at('two begins'));
  expect(at('other begins')).toBeLessThan(at('one ends'));
  expect(existsSync('/nowhere')).toBe(false);
});
