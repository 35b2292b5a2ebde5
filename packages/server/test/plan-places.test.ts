import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { accessToken, openUsers } from '@signalbox/app';
import { thisMachine } from '@signalbox/app/host';
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

const pipe = (at: string) => {
  execFileSync('mkfifo', [at]);
  return at;
};

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

describe('a directory named from outside', () => {
  const plan = () => path.join(project, 'plan.tsx');

  /** Every route that takes a directory for agents, with what it takes besides. */
  async function routes(): Promise<readonly (readonly [string, object])[]> {
    const run = await test.start('parent', planText('<Task id="a" run={() => 1} />'));
    await test.end(run);
    return [
      ['/api/runs', { file: plan() }],
      [`/api/runs/${run}/fork`, { frame: 0 }],
      [`/api/runs/${run}/nodes/a/rerun`, {}],
      ['/api/imports', { file: path.join(project, 'run.bundle') }],
    ];
  }

  it('[V241] [A324] is refused outside of the roots and in the data directory, on every route, whether it exists or not', async () => {
    mkdirSync(path.join(folder, 'elsewhere'));
    symlinkSync(path.join(folder, 'elsewhere'), path.join(project, 'away'));
    symlinkSync(data, path.join(project, 'kept'));
    for (const [route, body] of await routes()) {
      for (const directory of [
        '/',
        '/etc',
        folder,
        path.join(folder, 'elsewhere'),
        path.join(folder, 'none'),
        path.join(project, 'away'),
        path.join(project, 'away', 'none'),
        path.join(project, 'kept'),
        data,
        path.join(data, 'keys'),
      ]) {
        const asked = await ask('POST', route, { ...body, directory }, ada);
        expect([route, directory, asked.status], asked.text).toEqual([route, directory, 403]);
        expect(asked.text).toContain('plan/place-refused');
      }
    }
  });

  it('[V241] [A324] is refused where programs keep credentials, even in a root; only the owner can allow it', async () => {
    const places = ['.ssh', '.ssh/keys', '.gnupg', '.config/gh', '.azure/x', '.password-store'];
    for (const place of places) mkdirSync(path.join(project, place), { recursive: true });
    symlinkSync(path.join(project, '.ssh'), path.join(project, 'harmless'));
    for (const [route, body] of await routes()) {
      for (const place of [...places, 'harmless']) {
        const directory = path.join(project, place);
        for (const [said, bearer] of [
          [{}, ada],
          [{}, token],
          [{ anyFile: true }, token],
        ] as const) {
          const asked = await ask('POST', route, { ...body, directory, ...said }, bearer);
          expect([route, place, asked.status], asked.text).toEqual([route, place, 403]);
          expect(asked.text).toContain('plan/place-refused');
        }
        const user = await ask('POST', route, { ...body, directory, anyDirectory: true }, ada);
        expect([user.status, user.text.includes('request/forbidden')]).toEqual([403, true]);
      }
    }
    const started = await ask('POST', '/api/runs', {
      file: plan(),
      directory: path.join(project, '.ssh'),
      anyDirectory: true,
    });
    expect(started.status, started.text).toBe(201);
  });

  it('[V241] is accepted in a root', async () => {
    mkdirSync(path.join(project, 'work'));
    const started = await ask('POST', '/api/runs', { file: plan(), directory: path.join(project, 'work') }, ada);
    expect(started.status, started.text).toBe(201);
  });
});

describe('a bundle file named from outside', () => {
  it('[V242] [A276] is refused outside of the roots and in the data directory, unread', async () => {
    for (const [name, file] of [
      ['linked.bundle', path.join(data, 'db.sqlite')],
      ['outside.bundle', path.join(folder, 'outside.tsx')],
    ] as const) {
      symlinkSync(file, path.join(project, name));
    }
    linkSync(path.join(data, 'db.sqlite'), path.join(project, 'hard.bundle'));
    linkSync(path.join(data, 'token'), path.join(project, 'hard.tsx'));
    const before = locksOn(data);
    const told = new Set<string>();
    for (const file of [
      path.join(data, 'db.sqlite'),
      path.join(data, 'owner.lock'),
      path.join(project, 'linked.bundle'),
      path.join(project, 'hard.bundle'),
      path.join(project, '..', 'data', 'db.sqlite'),
      path.join(folder, 'outside.tsx'),
      path.join(folder, 'none.bundle'),
      path.join(project, 'outside.bundle'),
      '/etc/passwd',
      '/etc/none',
    ]) {
      const asked = await ask('POST', '/api/imports', { file }, ada);
      expect([file, asked.status], asked.text).toEqual([file, 403]);
      told.add(asked.text.replaceAll(file, 'FILE'));
    }
    // One answer for what lies in the data directory, one for everything else.
    expect(told.size).toBe(2);
    for (const file of ['hard.bundle', 'hard.tsx'].map(name => path.join(project, name))) {
      const asked = await ask('POST', '/api/runs', { file }, ada);
      expect([asked.status, asked.text.includes('plan/place-refused')], asked.text).toEqual([403, true]);
    }
    await expect.poll(() => locksOn(data)).toEqual(before);
    expect(before).not.toEqual([]);
  });

  it('[V242] is opened in a root, and anywhere for the owner who allows it', async () => {
    writeFileSync(path.join(project, 'no.bundle'), 'not a bundle');
    writeFileSync(path.join(folder, 'no.bundle'), 'not a bundle');
    expect((await ask('POST', '/api/imports', { file: path.join(project, 'no.bundle') }, ada)).status).toBe(400);
    const anywhere = { file: path.join(folder, 'no.bundle'), anyFile: true };
    expect((await ask('POST', '/api/imports', anywhere, ada)).status).toBe(403);
    expect((await ask('POST', '/api/imports', anywhere)).status).toBe(400);
  });
});

/**
 * The locks that this process holds on files of the data directory for as long as it owns it, as the kernel lists them. Those on the shared
 * memory of the log come and go with every read.
 */
function locksOn(directory: string): readonly string[] {
  const own = ['db.sqlite', 'owner.lock'].flatMap(name => {
    const stat = statSync(path.join(directory, name), { throwIfNoEntry: false });
    return stat === undefined ? [] : [String(stat.ino)];
  });
  const held = readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(([, , , , pid, place = '']) => pid === String(process.pid) && own.includes(place.split(':')[2] ?? ''))
    .map(([, kind, , access, , place]) => `${kind} ${access} ${place}`);
  // While others take and release locks, a line may be listed twice.
  return [...new Set(held)].sort();
}

describe('a plan file named from outside', () => {
  const hidden = () => [
    path.join(data, 'token'),
    path.join(project, 'token.tsx'),
    path.join(data, 'db.sqlite'),
    path.join(folder, 'outside.tsx'),
    path.join(project, 'out.tsx'),
    path.join(folder, 'none.tsx'),
    '/etc/passwd',
  ];

  it('[V220] [A275] [A276] is refused outside of the roots, and nothing of it is revealed', async () => {
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

  it('[V220] is accepted in a root', async () => {
    const file = path.join(project, 'plan.tsx');
    expect((await ask('POST', '/api/runs', { file })).status).toBe(201);
    expect((await ask('GET', `/api/plans/describe?file=${encodeURIComponent(file)}`)).status).toBe(200);
  });

  it('[V221] [A275] may be anywhere for the owner who allows it, and for nobody else', async () => {
    const body = { file: path.join(folder, 'outside.tsx'), anyFile: true };
    expect((await ask('POST', '/api/runs', body, ada)).status).toBe(403);
    const started = await ask('POST', '/api/runs', body);
    expect(started.status).toBe(201);
    const run = JSON.parse(started.text).id;
    await test.host.finished(run);
    expect((await ask('POST', `/api/runs/${run}/resume`, { anyFile: true }, ada)).status).toBe(403);
  });

  it('[V220] [A275] is refused outside of the roots when a run should continue with it', async () => {
    const waits = planText('<Human id="a" prompt="Go on?" />');
    const run = await test.start('waits', waits);
    await test.end(run);
    const resumed = await ask('POST', `/api/runs/${run}/resume`, { useCurrent: true });
    expect(resumed.text).toContain('plan/place-refused');
    expect((await ask('POST', `/api/runs/${run}/resume`, { useCurrent: true, anyFile: true })).status).toBe(200);
  });

  it('[A503] with a pipe in place of one of its files is refused, and the owner keeps running', async () => {
    const start = (file: string) => ask('POST', '/api/runs', { file: path.join(project, file) });
    writeFileSync(path.join(project, 'imports.tsx'), "import './piped.ts';");
    pipe(path.join(project, 'piped.ts'));
    pipe(path.join(project, 'plain.tsx'));
    for (const file of ['imports.tsx', 'plain.tsx'])
      expect(await start(file)).toMatchObject({ status: 422, text: expect.stringContaining('plan/load-failed') });
    mkdirSync(path.join(project, '.signalbox'));
    const settings = pipe(path.join(project, '.signalbox', 'plans.json'));
    expect((await start('plan.tsx')).text).toContain('plans.json cannot be read (EINVAL)');
    rmSync(settings);
    expect((await start('plan.tsx')).status).toBe(201);
  });
});
