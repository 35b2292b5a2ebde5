import { expect, it, onTestFinished } from 'vitest';
import { openTestHost, planText } from './support/open-host.ts';
import { temporaryFolder } from './temporary-folder.ts';

const IMPORTS = `
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';`;

async function opened() {
  const folder = temporaryFolder();
  const test = await openTestHost(folder, { threads: { threads: 1 } });
  onTestFinished(() => test.close());
  return test;
}

it('[P344] a render that reaches past its context fails at the line, whatever it reaches for', async () => {
  const test = await opened();
  const calls: readonly (readonly [string, string])[] = [
    ['fs.readFileSync', `readFileSync('package.json')`],
    ['fs.existsSync', `existsSync('package.json')`],
    ['fs.writeFileSync', `writeFileSync('x', '')`],
    ['fs.promises.readFile', `void readFile('package.json')`],
    ['child_process.execFileSync', `execFileSync('true')`],
    ['crypto.randomUUID', `randomUUID()`],
    ['fetch', `void fetch('http://127.0.0.1:1')`],
    ['setTimeout', `setTimeout(() => {}, 1)`],
    ['Date.now', `Date.now()`],
    ['new Date()', `new Date()`],
    ['Math.random', `Math.random()`],
  ];
  for (const [name, call] of calls) {
    const run = await test.start('pure', planText(`\n{(() => { ${call}; return null; })()}`, 'z.object({})', IMPORTS));
    const { error } = (await test.end(run)) as { readonly error?: { message: string; thrown?: { line: number } } };
    expect([name, error?.message, error?.thrown?.line]).toEqual([
      name,
      expect.stringContaining(`${name} in a render: `),
      10,
    ]);
  }
});

it('[P344] work and handlers may, and so may a render through its context', async () => {
  const test = await opened();
  const work = `<Task id="t" run={() => [Date.now() > 0, Math.random() < 1, existsSync('/'), new Date(0).getTime()]}
    onFinished={() => void Date.now()} />`;
  const reads = `{ctx.now() && ctx.random() >= 0 && new Date(0) && ctx.fs.exists?.('none') ? null : null}`;
  const run = await test.start('fine', planText(`${reads}${work}`, 'z.object({})', IMPORTS));
  expect(await test.end(run)).toMatchObject({ status: 'completed' });
});
