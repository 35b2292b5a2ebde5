import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { localProgram } from '../scripts/local-program.ts';
import { ownEnvironment, packPackage, unpackPackage } from './packed-package.ts';
import { repositoryRoot } from './source-file.ts';

const examples = path.join(repositoryRoot, 'examples');

/** What programs import of the published package, as a person has it: packed, in a folder that knows nothing of the workspace. */
describe('the libraries of the published package', () => {
  let folder = '';
  const children: ChildProcess[] = [];

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'libraries-'));
    unpackPackage(packPackage(folder), folder, ['vitest', 'express', '@types/node', '@types/express']);
    writeFileSync(path.join(folder, 'package.json'), '{"private": true, "type": "module"}');
    writeFileSync(
      path.join(folder, 'tsconfig.json'),
      '{"compilerOptions": {"jsx": "react-jsx", "jsxImportSource": "signalbox"}}',
    );
    for (const name of ['07-replay-in-a-test', '12-express', '13-github-action', '14-slack-bot'])
      cpSync(path.join(examples, name), path.join(folder, name), { recursive: true });
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const environment = (more: Record<string, string> = {}) => ({
    ...ownEnvironment(),
    HOME: path.join(folder, 'home'),
    ...more,
  });

  function run(
    args: readonly string[],
    { env = {}, cwd = folder }: { env?: Record<string, string>; cwd?: string } = {},
  ) {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd,
      encoding: 'utf8',
      env: environment(env),
    });
    return { status, stdout, stderr };
  }

  /** Starts a program that prints one line of JSON once it is up. */
  async function start(file: string, env: Record<string, string>) {
    const child = spawn(process.execPath, [file], {
      cwd: folder,
      env: environment(env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', text => {
      errors += text;
    });
    const told = await new Promise<{ readonly url: string; readonly resumed?: number; readonly console: string }>(
      (resolve, reject) => {
        child.stdout.setEncoding('utf8').once('data', text => resolve(JSON.parse(text)));
        child.once('exit', code => reject(new Error(`it ended with ${code}: ${errors}`)));
      },
    );
    return { child, ...told };
  }

  const ended = (child: ChildProcess) =>
    new Promise<void>(resolve =>
      child.exitCode !== null || child.signalCode !== null ? resolve() : child.once('exit', () => resolve()),
    );

  it.each(['nodenext', 'bundler'])('[X134] have types of their own, from the schemas of plans, with %s', resolution => {
    const file = `typed-${resolution}.ts`;
    writeFileSync(
      path.join(folder, file),
      `import { testPlan } from 'signalbox/testing';
import { openSignalbox } from 'signalbox/embed';
import { connect, SignalboxError } from 'signalbox/client';
import order from './12-express/order.tsx';
export async function all(): Promise<string> {
  const run = await testPlan(order, { input: { id: '1', item: 'lamp', count: 1, ledger: 'x' } });
  const reserved: boolean | undefined = run.state.reserved;
  // @ts-expect-error the plan has no such key
  run.state.stolen;
  // @ts-expect-error a count is a number
  await testPlan(order, { input: { id: '1', item: 'lamp', count: 'one', ledger: 'x' } });
  const box = await openSignalbox({ dataDirectory: 'data' });
  const orders = box.plan<typeof order>('order.tsx');
  // @ts-expect-error an item is missing
  await orders.start({ id: '1', count: 1, ledger: 'x' });
  const remote = connect({ url: 'http://127.0.0.1:4280', token: '' });
  const state = await remote.run<typeof order>('id').state();
  const parcel: string | undefined = state.shipped;
  return String(reserved) + parcel + String(new SignalboxError({} as never).code);
}
`,
    );
    const config = path.join(folder, `tsconfig.${resolution}.json`);
    const compilerOptions = {
      target: 'ES2024',
      lib: ['ES2024', 'ESNext.Disposable', 'DOM'],
      module: resolution === 'bundler' ? 'esnext' : 'nodenext',
      moduleResolution: resolution,
      jsx: 'react-jsx',
      jsxImportSource: 'signalbox',
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      types: ['node'],
    };
    writeFileSync(config, JSON.stringify({ compilerOptions, files: [file] }));
    expect(run([localProgram('typescript', 'tsc'), '-p', config])).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it('[X131] test plans in Vitest, and in `node --test` from the file of the plan', () => {
    const tested = run([
      path.join(folder, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--root',
      path.join(folder, '07-replay-in-a-test'),
    ]);
    expect([tested.status, tested.stdout]).toEqual([0, expect.stringMatching(/4 passed/)]);
    writeFileSync(
      path.join(folder, 'plan.node.mjs'),
      `import assert from 'node:assert/strict';
import test from 'node:test';
import { testPlan } from 'signalbox/testing';
test('a note', async () => {
  const run = await testPlan(new URL('07-replay-in-a-test/plan.tsx', import.meta.url), { people: { ok: 'approve' } });
  await run.crashAndResume();
  assert.equal((await run.end()).status, 'completed');
  assert.equal(run.state.tries, 3);
});
`,
    );
    const native = run(['--test', 'plan.node.mjs']);
    expect([native.status, native.stdout]).toEqual([0, expect.stringMatching(/pass 1/)]);
  });

  it('[X136] the client is one file that names nothing of Node', () => {
    const client = readFileSync(path.join(folder, 'node_modules/signalbox/dist/client.js'), 'utf8');
    expect(client).not.toMatch(/["']node:|\brequire\(|\bimport\s*(?:[({*]|"\w)|\bprocess\.|\bBuffer\./);
  });

  it('[X135] an Express server that is killed with 50 runs goes on with all of them', async () => {
    const ledger = path.join(folder, 'ledger.txt');
    const env = { DATA: path.join(folder, 'orders'), LEDGER: ledger, PORT: '0' };
    const first = await start('12-express/server.ts', env);
    const post = (url: string, body: object = {}) =>
      fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }).then(
        response => response.json() as Promise<{ run: string; error?: string }>,
      );
    const ids = Array.from({ length: 50 }, (_, index) => String(index));
    const order = (id: string) => ({ id, item: 'lamps', count: Number(id) % 10 === 0 ? 100 : 1 });
    const runs = await Promise.all(ids.map(id => post(`${first.url}/orders`, order(id))));
    const before = (await (await fetch(`${first.url}/orders`)).json()) as readonly { id: string; status: string }[];
    expect(before).toHaveLength(50);
    first.child.kill('SIGKILL');
    await ended(first.child);
    const done = new Set(before.filter(({ status }) => status === 'completed').map(({ id }) => id));

    const second = await start('12-express/server.ts', env);
    // The same orders again are the same runs.
    expect(await Promise.all(ids.map(id => post(`${second.url}/orders`, order(id))))).toEqual(runs);
    const large = runs.filter((_, index) => index % 10 === 0);
    for (const { run: id } of large) {
      await expect
        .poll(async () => (await post(`${second.url}/orders/${id}/agree`)) as unknown)
        .toEqual({ agreed: true });
    }
    await expect
      .poll(async () => {
        const all = (await (await fetch(`${second.url}/orders`)).json()) as readonly { status: string }[];
        return all.filter(({ status }) => status === 'completed').length;
      })
      .toBe(50);
    expect(await (await fetch(`${second.url}/orders/${runs[7]?.run}`)).json()).toEqual({
      status: 'completed',
      parcel: 'parcel-7',
    });
    const lines = readFileSync(ledger, 'utf8').trimEnd().split('\n');
    const shipped = (id: string) => lines.filter(line => line.startsWith('ship ') && line.endsWith(` ${id}`)).length;
    // What was completed is not done again; a step that the death cut off may have happened before.
    for (const [index, { run: id }] of runs.entries())
      expect([index, shipped(String(index))]).toEqual([
        index,
        done.has(id) ? 1 : expect.toSatisfy((n: number) => n === 1 || n === 2),
      ]);
    const unknown = await fetch(`${second.url}/orders/019b76da-a800-7397-a1fa-71531e5ee7fc`);
    expect([unknown.status, await unknown.json()]).toEqual([
      404,
      { error: expect.any(String), next: expect.any(String) },
    ]);
    second.child.kill('SIGTERM');
    await ended(second.child);
    expect(second.child.exitCode).toBe(0);
  });

  it('[X137] an action runs a plan, sums it up, and fails with it', () => {
    const act = (input: object) => {
      const there = mkdtempSync(path.join(folder, 'runner-'));
      const [output, summary] = [path.join(there, 'output'), path.join(there, 'summary')];
      const outcome = run(['action.ts'], {
        cwd: path.join(folder, '13-github-action'),
        env: {
          INPUT_PLAN: 'check.tsx',
          INPUT_INPUT: JSON.stringify(input),
          RUNNER_TEMP: there,
          GITHUB_OUTPUT: output,
          GITHUB_STEP_SUMMARY: summary,
        },
      });
      return { ...outcome, output: readFileSync(output, 'utf8'), summary: readFileSync(summary, 'utf8') };
    };
    const good = act({ version: '1.2.3' });
    expect(good).toMatchObject({
      status: 0,
      stderr: '',
      output: expect.stringMatching(/^run=[\w-]{36}\nstatus=completed\n$/),
    });
    expect(good.summary).toContain('| ✓ | notes |');
    const bad = act({ version: 'next' });
    expect(bad).toMatchObject({ status: 1, output: expect.stringContaining('status=failed') });
    expect(bad.stdout).toMatch(/^::error file=check\.tsx,line=\d+::.*"next" is no version/m);
    const asked = act({ release: true });
    expect(asked.stdout).toMatch(/^::warning title=release::.*denied: Release 1\.0\.0\?/m);
    expect(asked).toMatchObject({ status: 1, output: expect.stringContaining('status=stopped') });
  });

  it('[X137] a bot posts what waits, and answers with what was clicked', async () => {
    const calls: {
      readonly method: string;
      readonly body: { text: string; ts?: string; blocks: { elements?: { value: string }[] }[] };
    }[] = [];
    const heard: (() => void)[] = [];
    const slack = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      calls.push({ method: request.url?.slice(1) ?? '', body: JSON.parse(body) });
      response.end(JSON.stringify({ ok: true, ts: `${calls.length}` }));
      for (const tell of heard.splice(0)) tell();
    });
    await new Promise<void>(resolve => slack.listen(0, '127.0.0.1', resolve));
    const { port } = slack.address() as { port: number };
    const until = async (count: number) => {
      while (calls.length < count) await new Promise<void>(resolve => heard.push(resolve));
    };
    writeFileSync(
      path.join(folder, 'serve.mjs'),
      `import { openSignalbox } from 'signalbox/embed';
const box = await openSignalbox({ dataDirectory: ${JSON.stringify(path.join(folder, 'bot-data'))} });
const run = await box.plan(new URL('12-express/order.tsx', import.meta.url)).start({ id: 'x', item: 'lamps', count: 100, ledger: ${JSON.stringify(path.join(folder, 'bot.txt'))} });
console.log(JSON.stringify({ url: box.url, console: box.token }));
await run.finished();
await box.close();
`,
    );
    const served = await start('serve.mjs', {});
    const secret = 'signing-secret';
    const bot = await start('14-slack-bot/bot.ts', {
      SIGNALBOX_URL: served.url,
      SIGNALBOX_TOKEN: served.console,
      SLACK_API: `http://127.0.0.1:${port}`,
      SLACK_SIGNING_SECRET: secret,
      SLACK_CHANNEL: 'C1',
      PORT: '0',
    });
    await until(1);
    expect(calls[0]).toMatchObject({ method: 'chat.postMessage', body: { channel: 'C1', text: 'Ship 100 × lamps?' } });
    const [approve] = calls[0]?.body.blocks[1]?.elements ?? [];
    const payload = { actions: [approve], user: { username: 'ada' }, message: { ts: '1', text: 'Ship 100 × lamps?' } };
    const body = `payload=${encodeURIComponent(JSON.stringify(payload))}`;
    const time = String(Math.floor(Date.now() / 1000));
    const signed = (text: string) => `v0=${createHmac('sha256', secret).update(`v0:${time}:${text}`).digest('hex')}`;
    const click = (signature: string) =>
      fetch(bot.url, {
        method: 'POST',
        headers: { 'x-slack-request-timestamp': time, 'x-slack-signature': signature },
        body,
      });
    expect((await click(signed('something else'))).status).toBe(401);
    expect((await click(signed(body))).status).toBe(200);
    await until(2);
    expect(calls[1]).toMatchObject({
      method: 'chat.update',
      body: { ts: '1', text: expect.stringContaining('approved by ada') },
    });
    await ended(served.child);
    expect(readFileSync(path.join(folder, 'bot.txt'), 'utf8')).toContain('ship 100 lamps x');
    bot.child.kill('SIGTERM');
    slack.close();
  });
});
