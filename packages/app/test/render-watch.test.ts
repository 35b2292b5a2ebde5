import { unrecordedReads } from '@signalbox/plan';
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
    ['crypto.randomUUID', `crypto.randomUUID()`],
    ['crypto.getRandomValues', `crypto.getRandomValues(new Uint8Array(1))`],
    ['process.hrtime', `process.hrtime()`],
    ['WebSocket', `new WebSocket('ws://127.0.0.1:1')`],
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

it('[P362] a render that reads what its process has is not verifiable for as long as it shows that, and says what it read', async () => {
  const test = await opened();
  const kinds: readonly (readonly [string, string])[] = [
    ['os.hostname', 'hostname()'],
    ['process.cwd', 'process.cwd()'],
    ['process.env', 'Object.keys(process.env)'],
    ['process.env.HOME', 'process.env.HOME'],
  ];
  const reads = kinds.map(([, code]) => `${code}`).join(', ');
  const body = `{ctx.state.get('done') ? null : [${reads}] && null}<Task id="t" run={() => process.env.HOME ?? ''}
    onFinished={() => ctx.state.set('done', true)} />`;
  const run = await test.start(
    'reads',
    planText(body, 'z.object({ done: z.boolean().default(false) })', `import { hostname } from 'node:os';`),
  );
  expect(await test.end(run)).toMatchObject({ status: 'completed' });
  const frames = await test.store.frames(run, 0, 10);
  const shown = await Promise.all(
    frames.map(async ({ index, verifiable }) => [verifiable, await unrecordedReads(test.store, run, index)]),
  );
  const names = kinds.map(([name]) => name);
  expect(shown[0]).toEqual([false, names]);
  expect(shown.at(-1)).toEqual([true, []]);
  expect(shown.filter(([verifiable]) => verifiable === false).every(([, read]) => String(read) === String(names))).toBe(
    true,
  );
});
