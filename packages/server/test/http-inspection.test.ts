import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { thisMachine } from '@signalbox/app/host';
import { type Client, createClient } from '@signalbox/client';
import type { RunId } from '@signalbox/model';
import { type RunningServer, startServer } from '@signalbox/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestHost, type TestHost } from '../../app/test/support/open-host.ts';
import { TOKEN, UNKNOWN } from './http-asker.ts';

/** A real host behind a real server: what is looked at here is made by plans that ran. */
const folder = mkdtempSync(path.join(tmpdir(), 'http-inspection-'));
const file = path.join(folder, 'greet.tsx');
let test: TestHost;
let server: RunningServer;
let client: Client;
let run: RunId;

const PLAN = `
import { definePlan, Phase, Task } from 'signalbox';
import * as z from 'zod';
export default definePlan({
  name: 'greet',
  description: 'Greets.',
  input: z.object({ names: z.array(z.string()).default(['Ada']) }),
  state: z.object({ said: z.string().default('') }),
  render: ctx => (
    <Phase id="talk" name="talk">
      <Task id="a/b c" input={ctx.input.names} run={({ input }) => 'Hello ' + input} onFinished={said => ctx.state.set('said', said)} />
    </Phase>
  ),
});`;

beforeAll(async () => {
  test = await openTestHost(folder, { threads: { threads: 1 } });
  const started = await startServer({ host: test.host, token: TOKEN, port: 0, timers: thisMachine().timers });
  if (!started.ok) throw new Error(started.error.message);
  server = started.value;
  client = createClient({ url: server.url, token: TOKEN });
  run = await test.start('greet', PLAN, { input: { names: ['Grace'] } });
  await test.end(run);
});
afterAll(async () => {
  await server.close();
  await test.close();
  rmSync(folder, { recursive: true });
});

const value = async <T>(answer: Promise<{ ok: true; value: T } | { ok: false; error: { message: string } }>) => {
  const result = await answer;
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
};

async function refused(method: string, route: string, body?: string): Promise<readonly [number, string]> {
  const answer = await fetch(`${server.url}/api${route}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body }),
  });
  return [answer.status, ((await answer.json()) as { readonly code: string }).code];
}

describe('a node', () => {
  it('[V97] of a tree has the names of its handlers, in a snapshot and in a frame', async () => {
    const { tree } = await value(client.run(run));
    const frame = await value(client.tree(run, 0));
    for (const nodes of [tree, frame.tree]) {
      expect(nodes.map(({ id, handlers }) => [id, handlers])).toEqual([
        [expect.any(String), undefined],
        ['talk', undefined],
        ['a/b c', ['onFinished']],
      ]);
    }
  });

  it('[V98] is shown with its complete input', async () => {
    expect(await value(client.nodeInput(run, 'a/b c', 0))).toMatchObject({
      node: 'a/b c',
      kind: 'task',
      frame: 0,
      props: { input: ['Grace'], retries: 3 },
      handlers: ['onFinished'],
      source: { file, line: 11 },
      leftOut: {},
    });
    const { frames = 0 } = (await test.store.run(run)) ?? {};
    expect(await value(client.nodeInput(run, 'talk'))).toMatchObject({ frame: frames - 1, props: { name: 'talk' } });
  });

  it('[V98] that does not exist, in a missing frame, or of a missing run is refused', async () => {
    expect(await refused('GET', `/runs/${run}/nodes/nobody/input`)).toEqual([404, 'run/node-unknown']);
    expect(await refused('GET', `/runs/${run}/nodes/talk/input?frame=99`)).toEqual([404, 'run/frame-unknown']);
    expect(await refused('GET', `/runs/${UNKNOWN}/nodes/talk/input`)).toEqual([404, 'run/unknown']);
    for (const query of ['frame=-1', 'frame=x', 'frames=1', 'frame=1&frame=2'])
      expect(await refused('GET', `/runs/${run}/nodes/talk/input?${query}`)).toEqual([400, 'VALIDATION_ERROR']);
  });
});

describe('plans', () => {
  it('[V99] are listed in pages', async () => {
    const { plans } = await value(client.plans({ limit: 5 }));
    expect(plans).toMatchObject([{ file, name: 'greet', runs: 1, lastRun: { id: run }, exists: true }]);
    expect(await refused('GET', '/plans?after=nowhere')).toEqual([400, 'VALIDATION_ERROR']);
    expect(await refused('GET', '/plans?limit=0')).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('[V100] are described with the JSON Schema of their input, or with what is wrong with them', async () => {
    expect(await value(client.describePlan(file))).toMatchObject({
      file,
      name: 'greet',
      description: 'Greets.',
      inputSchema: { type: 'object', properties: { names: { type: 'array', items: { type: 'string' } } } },
    });
    const broken = path.join(folder, 'broken.tsx');
    writeFileSync(broken, "\nthrow new Error('not today');");
    expect(await value(client.describePlan(broken))).toMatchObject({
      file: broken,
      problem: { code: 'plan/load-failed', message: expect.stringContaining('not today') },
    });
    for (const query of ['', '?file=', `?file=${'x'.repeat(5_000)}`, '?path=a.tsx'])
      expect(await refused('GET', `/plans/describe${query}`)).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('[V100] say where an input is invalid when they are started', async () => {
    const started = await client.start({ file, input: { names: ['Ada', 7, false] } });
    expect(started).toMatchObject({
      ok: false,
      error: { code: 'command/usage', details: { issues: [{ path: ['names', 1] }, { path: ['names', 2] }] } },
    });
    expect(started.ok ? '' : started.error.message).toContain('names.1: ');
  });
});

describe('a run', () => {
  it('[V101] is verified, optionally against a noted head', async () => {
    const check = await value(client.verify(run));
    expect(check).toMatchObject({ ok: true, run, journal: { health: 'healthy' } });
    expect((await value(client.verify(run, { expectHead: check.head }))).ok).toBe(true);
    const expectHead = `sha256:${'1'.repeat(64)}` as typeof check.head;
    expect(await value(client.verify(run, { expectHead }))).toMatchObject({
      ok: false,
      defects: [{ where: 'expected head' }],
    });
    expect(await refused('POST', `/runs/${run}/verify`, '{"expectHead":"x"}')).toEqual([400, 'VALIDATION_ERROR']);
    expect(await refused('POST', `/runs/${UNKNOWN}/verify`)).toEqual([404, 'run/unknown']);
  });

  it('[V102] is replayed; a plan that renders differently is reported with its line', async () => {
    expect(await value(client.replay(run))).toMatchObject({ ok: true, runs: [{ run, name: 'greet' }] });
    const plan = path.join(folder, 'other.tsx');
    writeFileSync(plan, PLAN.replace("set('said', said)", "set('said', said + '!')"));
    const { ok, runs } = await value(client.replay(run, { plan }));
    expect([ok, runs[0]?.difference]).toMatchObject([
      false,
      {
        kind: 'frame',
        source: { file: plan, line: 11 },
        rows: [{ key: 'said', recorded: 'Hello Grace', replayed: 'Hello Grace!', writtenBy: 'onFinished of a/b c' }],
      },
    ]);
    expect(await refused('POST', `/runs/${run}/replay`, '{"plan":""}')).toEqual([400, 'VALIDATION_ERROR']);
    expect(await refused('POST', `/runs/${UNKNOWN}/replay`)).toEqual([404, 'run/unknown']);
  });

  it('[V103] is no longer inspected when its client disconnects, and the server answers meanwhile', async () => {
    const [plan, begun] = [path.join(folder, 'spins.tsx'), path.join(folder, 'begun')];
    writeFileSync(
      plan,
      `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(begun)}, ''); for (;;);`,
    );
    const gone = new AbortController();
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const asked = Array.from({ length: 3 }, () =>
      fetch(`${server.url}/api/runs/${run}/replay`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ plan }),
        signal: gone.signal,
      }).catch(() => 'gone'),
    );
    while (!existsSync(begun)) expect((await value(client.health())).name).toBe('signalbox');
    gone.abort();
    expect(await Promise.all(asked)).toEqual(['gone', 'gone', 'gone']);
    // One at a time: it would wait for those that spin.
    expect((await value(client.replay(run))).ok).toBe(true);
  });
});
