import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openUsers } from '@signalbox/app';
import { openGuidedSessions, openGuidedTools } from '@signalbox/app/guided';
import { type Home, openHome, thisMachine } from '@signalbox/app/host';
import { type Client, createClient } from '@signalbox/client';
import { errorEnvelope, type RunId, timestamp } from '@signalbox/model';
import { type RunningServer, startServer } from '@signalbox/server';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../src/openapi/operations.ts';
import { TOKEN } from './http-asker.ts';

/** Secrets wherever one can be. All of them have this in common. */
const MARK = 'PLANTED';
const secret = (place: string) => `sk-${MARK}-${place}`;
const env = {
  ANTHROPIC_API_KEY: secret('anthropic'),
  OPENAI_API_KEY: secret('openai'),
  GEMINI_API_KEY: secret('gemini'),
  OPENAI_BASE_URL: `http://me:${secret('password')}@127.0.0.1:1/v1`,
  ANTHROPIC_BASE_URL: `http://127.0.0.1:1/v1?key=${secret('query')}`,
  GOOGLE_GEMINI_BASE_URL: secret('no-address'),
  DATABASE_PASSWORD: secret('database'),
};
const config = {
  apiKey: secret('config'),
  [secret('name-of-a-part')]: true,
  retention: { [secret('name-of-a-member')]: 1 },
  logs: { level: secret('level') },
};

const planOf = (body: string) => `
import { definePlan, Agent, Human, Parallel } from 'signalbox';
import * as z from 'zod';
export default definePlan({ name: 'asks', input: z.any(), state: z.object({}), render: () => <Parallel>${body}</Parallel> });`;
const human = '<Human id="person" prompt="May it go on?" />';
const models = ['openai:gpt-test', 'anthropic:claude-test', 'google:gemini-test'];
const agent = (model: string) => `<Agent id="agent" model="${model}" prompt="Do it." />`;

let folder: string;
let home: Home;
let server: RunningServer;
let operator: Client;
/** Runs that ask a person, and runs whose agents reach nobody. */
let run: RunId;
let waiting: RunId;
let failing: readonly RunId[];

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'settings-'));
  const dataDirectory = path.join(folder, 'data');
  mkdirSync(dataDirectory, { mode: 0o700 });
  writeFileSync(path.join(dataDirectory, 'config.json'), JSON.stringify(config));
  const machine = thisMachine();
  const opened = await openHome({
    dataDirectory,
    machine,
    env,
    planRoots: [folder],
    resumeOnAnswer: false,
    threads: { threads: 1 },
  });
  if (!opened.ok) throw new Error(opened.error.message);
  home = opened.value;
  const guided = { dataDirectory, directories: [], machine };
  const started = await startServer({
    host: home.host,
    token: TOKEN,
    users: openUsers(dataDirectory, machine),
    settings: home.settings({ directoryFrom: 'program', workflowDirectories: [] }),
    guided: openGuidedTools(guided),
    sessions: openGuidedSessions(guided),
    port: 0,
    timers: machine.timers,
  });
  if (!started.ok) throw new Error(started.error.message);
  server = started.value;
  operator = createClient({ url: server.url, token: TOKEN });
  const begin = async (name: string, body: string): Promise<RunId> => {
    const file = path.join(folder, `${name}.tsx`);
    writeFileSync(file, planOf(body));
    const begun = await home.host.start({ file, anyFile: true, input: {} });
    if (!begun.ok) throw new Error(begun.error.message);
    return begun.value;
  };
  run = await begin('asks', human);
  waiting = await begin('asks-too', human);
  await Promise.all([home.host.finished(run), home.host.finished(waiting)]);
  failing = await Promise.all(models.map((model, at) => begin(`fails-${at}`, agent(model))));
  await Promise.all(failing.map(failed => home.host.finished(failed)));
});
afterAll(async () => {
  await server.close();
  await home.close();
  rmSync(folder, { recursive: true });
});

const value = async <T>(answer: Promise<{ ok: true; value: T } | { ok: false; error: { message: string } }>) => {
  const result = await answer;
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
};
const events = async (of: RunId) => (await home.host.reader.events(of, 0, 1_000)).map(({ event }) => event);
afterEach(async () => {
  for (const { name } of (await value(operator.users())).users) await value(operator.removeUser(name));
});

describe('the providers', () => {
  it('[V105] are returned with references and health, and summarised in the health of the server', async () => {
    const { providers } = await value(operator.providers());
    expect(providers.map(({ name, health, key }) => [name, health, key?.isSet])).toEqual([
      ['anthropic', 'unknown', true],
      ['openai', 'unknown', true],
      ['openai-chat', 'unknown', true],
      ['google', 'unknown', true],
      ['scripted', 'unknown', undefined],
    ]);
    const short = (await value(operator.health())).providers;
    expect(short).toContainEqual({ name: 'openai', health: 'unknown' });
  });
});

describe('the settings', () => {
  it('[V106] are returned with their sources, problems and policies, and the caller', async () => {
    const { user, sources, tools, providers } = await value(operator.settings());
    expect(user).toEqual({ name: 'operator', role: 'owner', isDefault: true });
    expect(sources[0]).toMatchObject({
      kind: 'file',
      isThere: true,
      problem: expect.stringContaining('unknown field'),
    });
    expect(tools.find(({ tool }) => tool === 'write_file')).toMatchObject({ asks: 'gated' });
    expect(providers.find(({ name }) => name === 'google')?.key).toEqual({ name: 'GEMINI_API_KEY', isSet: true });
  });

  it('[V107] no route returns a secret, wherever it was put', async () => {
    await value(operator.addUser('eve'));
    const [failed = run] = failing;
    const record = await home.host.reader.run(failed);
    const [task] = await home.host.reader.tasks(failed);
    const [decision] = await home.host.reader.decisions({ run });
    const parts: Record<string, string | undefined> = {
      run: failed,
      task: task?.id,
      node: 'agent',
      frame: String((record?.frames ?? 1) - 1),
      decision: decision?.decision.id,
      name: 'eve',
    };
    const seen: string[] = [];
    for (const { method, path: route } of operations) {
      const address = route.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(parts[name] ?? 'none'));
      // What ends the run, or makes another, is not asked for: what they answer others do.
      if (method !== 'get' && !/\/(gc|verify|replay|imports)$/.test(route)) continue;
      const answer = await fetch(`${server.url}${address}`, {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        ...(method === 'get' ? {} : { body: '{}' }),
      });
      const text = Buffer.from(await answer.arrayBuffer()).toString('latin1');
      expect(text, route).not.toContain(MARK);
      expect(text, route).not.toContain(TOKEN);
      seen.push(`${method} ${route} ${answer.status}`);
    }
    expect(seen).toEqual(
      expect.arrayContaining([
        'get /api/settings 200',
        'get /api/providers 200',
        'get /api/runs/:run/bundle 200',
        'post /api/gc 400',
      ]),
    );
    const metrics = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(await metrics.text()).not.toContain(MARK);
    const told = JSON.stringify(await Promise.all(failing.map(events)));
    expect(told).not.toContain(MARK);
    for (const variable of ['OPENAI', 'ANTHROPIC', 'GOOGLE_GEMINI'])
      expect(told).toContain(`${variable}_BASE_URL is not`);
  });
});

describe('recoveries', () => {
  it('[V165] are listed and dismissed once; one that has not succeeded stays', async () => {
    const at = new Date().toISOString();
    const cut = { tool: 'run_command', at, outcome: 'rolled-back', message: 'Rolled back.', paths: [] };
    const recoveries = [
      { ...cut, id: 'one/1' },
      { ...cut, id: 'two', outcome: 'failed' },
    ];
    writeFileSync(path.join(folder, 'data', 'recoveries.json'), JSON.stringify({ recoveries }));
    expect(await value(operator.recoveries())).toEqual({ recoveries });
    expect(await value(operator.dismissRecovery('one/1'))).toEqual(recoveries[0]);
    expect(await operator.dismissRecovery('one/1')).toMatchObject({ ok: false, error: { code: 'recovery/unknown' } });
    expect(await operator.dismissRecovery('two')).toMatchObject({ ok: false, error: { code: 'recovery/open' } });
    expect(await value(operator.recoveries())).toEqual({ recoveries: [recoveries[1]] });
  });
});

describe('users', () => {
  it('[V108] are added, listed in pages and removed by the operator; a token is returned once', async () => {
    const expiresAt = timestamp.parse('2999-01-01T00:00:00.000Z');
    const ada = await value(operator.addUser('ada', { role: 'approver', expiresAt }));
    expect(ada).toEqual({
      name: 'ada',
      role: 'approver',
      addedAt: expect.any(String),
      expiresAt,
      token: expect.stringMatching(/.{20,}/),
    });
    expect(await value(operator.addUser('grace'))).toMatchObject({ role: 'viewer' });
    const { token: _, ...shown } = ada;
    expect(await value(operator.users({ limit: 1 }))).toEqual({ users: [shown], next: 'ada' });
    const rest = await value(operator.users({ after: 'ada' }));
    expect([rest.users.map(({ name }) => name), rest.next]).toEqual([['grace'], undefined]);
    expect(await operator.addUser('ada')).toMatchObject({ ok: false, error: { code: 'user/taken' } });
    expect(await operator.addUser('../ada')).toMatchObject({ ok: false, error: { code: 'user/invalid' } });
    expect(await operator.removeUser('nobody')).toMatchObject({ ok: false, error: { code: 'user/unknown' } });
    const adas = createClient({ url: server.url, token: ada.token });
    expect((await value(adas.settings())).user).toEqual({ name: 'ada', role: 'approver', isDefault: false });
    const [used] = (await value(operator.users({ limit: 1 }))).users;
    expect(used).toEqual({ ...shown, lastUsedAt: expect.any(String) });
    const rotated = await value(operator.rotateUser('ada'));
    expect(rotated).toMatchObject({ role: 'approver', rotatedAt: expect.any(String) });
    expect(await adas.settings()).toMatchObject({ ok: false, error: { code: 'request/unauthorized' } });
    const again = createClient({ url: server.url, token: rotated.token });
    expect((await value(again.settings())).user.name).toBe('ada');
    expect(await operator.rotateUser('nobody')).toMatchObject({ ok: false, error: { code: 'user/unknown' } });
    expect(await value(operator.removeUser('ada'))).toMatchObject({ name: 'ada', role: 'approver' });
    expect(await again.settings()).toMatchObject({ ok: false, error: { code: 'request/unauthorized' } });
  });

  it('[V108] are managed by owners alone', async () => {
    const { token } = await value(operator.addUser('ada', { role: 'operator' }));
    const ada = createClient({ url: server.url, token });
    const tried = [ada.users(), ada.addUser('mallory'), ada.rotateUser('ada'), ada.removeUser('ada')];
    for (const answer of await Promise.all(tried)) {
      expect(answer).toMatchObject({ ok: false, error: { code: 'request/forbidden' } });
    }
    expect((await value(operator.users())).users.map(({ name }) => name)).toEqual(['ada']);
  });

  it.each([
    ['POST', '/api/users', '{"name":"ada"}', 201],
    ['POST', '/api/users', '{"name":"ada","role":"agent","expiresAt":"2999-01-01T00:00:00Z"}', 201],
    ['POST', '/api/users', '{"name":"operator"}', 409],
    ['POST', '/api/users', '{"name":"cli"}', 409],
    ['POST', '/api/users', '{"name":"ada","role":"root"}', 400],
    ['POST', '/api/users', '{"name":"ada","expiresAt":"2001-01-01T00:00:00Z"}', 400],
    ['POST', '/api/users', '{"name":"ada","expiresAt":"tomorrow"}', 400],
    ['POST', '/api/users/nobody/rotate', '{}', 404],
    ['POST', '/api/users/..%2ftoken/rotate', '{}', 404],
    ['POST', '/api/users/nobody/rotate', '{"role":"owner"}', 400],
    ['POST', '/api/users', '{"name":"../../ada"}', 400],
    ['POST', '/api/users', `{"name":"${'a'.repeat(300)}"}`, 400],
    ['POST', '/api/users', '{"name":7}', 400],
    ['POST', '/api/users', '{"name":"ada","token":"mine"}', 400],
    ['POST', '/api/users', '{', 400],
    ['POST', '/api/users', '', 400],
    ['GET', '/api/users?limit=0', undefined, 400],
    ['GET', '/api/users?limit=1&limit=2', undefined, 400],
    ['GET', '/api/users?token=x', undefined, 400],
    ['DELETE', '/api/users/nobody', undefined, 404],
    ['DELETE', '/api/users/..%2f..%2ftoken', undefined, 404],
    ['DELETE', '/api/users/%00', undefined, 404],
    ['PUT', '/api/users/ada', '{}', 404],
    ['POST', '/api/settings', '{}', 404],
    ['DELETE', '/api/providers', undefined, 404],
  ] as const)('[V108] %s %s with %.30s is answered with %i', async (method, route, body, status) => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const answer = await fetch(`${server.url}${route}`, { method, headers, ...(body !== undefined && { body }) });
    expect(answer.status).toBe(status);
    const told = await answer.json();
    if (status !== 201) expect(errorEnvelope.safeParse(told).success).toBe(true);
  });

  it('[V109] are named in the events of their actions', async () => {
    const { token } = await value(operator.addUser('ada', { role: 'operator' }));
    const ada = createClient({ url: server.url, token });
    const { approvals } = await value(operator.decisions({ run }));
    const [question] = approvals;
    if (question === undefined) throw new Error('nobody was asked');
    await value(ada.resolve(question.approvalId, { status: 'approved' }));
    await value(ada.resume(run));
    await home.host.finished(run);
    expect(await home.host.reader.run(run)).toMatchObject({ status: 'completed' });
    // Frames do not depend on who resumed the run.
    expect(await value(operator.replay(run))).toMatchObject({ ok: true });
    await value(ada.keep(run));
    await value(ada.stop(waiting, 'enough'));
    const told = (await events(run)).flatMap(event => ('by' in event ? [[event.type, event.by]] : []));
    expect(told).toEqual([
      ['decision.answered', 'ada'],
      ['operator.acted', 'ada'],
      ['run.kept', 'ada'],
    ]);
    const stopped = (await events(waiting)).filter(event => 'by' in event);
    expect(stopped).toMatchObject([{ type: 'operator.acted', action: 'stop', by: 'ada' }]);
    const own = await value(ada.start({ file: path.join(folder, 'asks.tsx') }));
    await home.host.finished(own.id);
    expect((await events(own.id)).filter(event => 'by' in event)).toMatchObject([{ type: 'run.created', by: 'ada' }]);
    expect(await value(operator.replay(own.id))).toMatchObject({ ok: true });
    const file = readFileSync(path.join(folder, 'data', 'users', 'ada.json'), 'utf8');
    expect(file).not.toContain(token);
  });
});
