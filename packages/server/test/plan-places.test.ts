import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { accessToken, openUsers } from '@signalbox/app';
import { thisMachine } from '@signalbox/app/runs';
import { startServer } from '@signalbox/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestHost, planText, type TestHost } from '../../app/test/support/open-host.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'plan-places-'));
const project = path.join(folder, 'project');
const data = path.join(folder, 'data');
const machine = thisMachine();
let test: TestHost;
let server: { readonly url: string; close(): Promise<void> };
let [token, ada] = ['', ''];

beforeAll(async () => {
  mkdirSync(project);
  test = await openTestHost(folder, { threads: { threads: 1 }, planRoots: [project] });
  const made = accessToken(data, machine);
  const users = openUsers(data, machine);
  const added = users.add('ada', { role: 'operator' });
  if (!made.ok || !added.ok) throw new Error('there are no tokens');
  [token, ada] = [made.value.token, added.value.token];
  const started = await startServer({ host: test.host, token, users, port: 0, timers: machine.timers });
  if (!started.ok) throw new Error(started.error.message);
  server = started.value;
  const plan = planText('<Task id="a" run={() => 1} />');
  writeFileSync(path.join(project, 'plan.tsx'), plan);
  writeFileSync(path.join(folder, 'outside.tsx'), plan);
  symlinkSync(path.join(data, 'token'), path.join(project, 'token.tsx'));
  symlinkSync(path.join(folder, 'outside.tsx'), path.join(project, 'out.tsx'));
});
afterAll(async () => {
  await server.close();
  await test.close();
  rmSync(folder, { recursive: true });
});

async function ask(method: string, route: string, body?: object, bearer = token) {
  const answer = await fetch(`${server.url}${route}`, {
    method,
    headers: {
      authorization: `Bearer ${bearer}`,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text() };
}

const call = (name: string, args: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
});

describe('the file of a plan that is named from outside', () => {
  const hidden = () => [
    path.join(data, 'token'),
    path.join(project, 'token.tsx'),
    path.join(data, 'db.sqlite'),
    path.join(folder, 'outside.tsx'),
    path.join(project, 'out.tsx'),
    path.join(folder, 'none.tsx'),
    '/etc/passwd',
  ];

  it('[V220] [A275] [A276] is refused outside of the roots, and nothing of it is told', async () => {
    const own = await test.start('own', planText('<Task id="a" run={() => 1} />'));
    await test.end(own);
    for (const file of hidden()) {
      for (const asked of [
        await ask('POST', '/api/runs', { file }),
        await ask('GET', `/api/plans/describe?file=${encodeURIComponent(file)}`),
        await ask('POST', `/api/runs/${own}/replay`, { plan: file }),
      ]) {
        expect(asked.status, `${file}: ${asked.text}`).toBe(403);
        expect(asked.text).toContain('plan/place-refused');
        expect(asked.text).not.toContain(readFileSync(path.join(data, 'token'), 'utf8'));
        expect(asked.text).not.toContain('root:');
      }
      const told = await ask('POST', '/mcp', call('execution.start', { script: file }));
      expect(told.text).toContain('plan/place-refused');
      expect(told.text).not.toContain(token);
    }
  });

  it('[V220] is taken in a root', async () => {
    const file = path.join(project, 'plan.tsx');
    expect((await ask('POST', '/api/runs', { file })).status).toBe(201);
    expect((await ask('GET', `/api/plans/describe?file=${encodeURIComponent(file)}`)).status).toBe(200);
  });

  it('[V221] [A275] may lie anywhere for the owner who says so, and for nobody else', async () => {
    const body = { file: path.join(folder, 'outside.tsx'), anyFile: true };
    expect((await ask('POST', '/api/runs', body, ada)).status).toBe(403);
    const started = await ask('POST', '/api/runs', body);
    expect(started.status).toBe(201);
    const run = JSON.parse(started.text).id;
    await test.host.finished(run);
    expect((await ask('POST', `/api/runs/${run}/resume`, { anyFile: true }, ada)).status).toBe(403);
  });

  it('[V220] [A275] is refused outside of the roots when a run is to go on with it', async () => {
    const waits = planText('<Human id="a" prompt="Go on?" />');
    const run = await test.start('waits', waits);
    await test.end(run);
    const resumed = await ask('POST', `/api/runs/${run}/resume`, { useCurrent: true });
    expect(resumed.text).toContain('plan/place-refused');
    expect((await ask('POST', `/api/runs/${run}/resume`, { useCurrent: true, anyFile: true })).status).toBe(200);
  });
});
