import { run as contractRun, errorEnvelope, type Json, runSnapshot } from '@signalbox/model';
import { createAccess, createHttpApp } from '@signalbox/server';
import { StoreDamage } from '@signalbox/store';
import { beforeEach, describe, expect, it } from 'vitest';
import { ADAS_TOKEN, type Asker, auth, code, httpAsker, json, TOKEN, UNKNOWN } from './http-asker.ts';
import { releasePlan } from './release-plan.ts';

let host: Asker['host'];
let ask: Asker['ask'];
let faults: Asker['faults'];

beforeEach(() => {
  const asker = httpAsker();
  ({ host, ask, faults } = asker);
});

describe('access', () => {
  it.each([
    ['no token', { authorization: '' }],
    ['a wrong token', { authorization: 'Bearer another-token-of-it' }],
    ['a token that begins like it', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    ['another scheme', { authorization: `Basic ${TOKEN}` }],
  ])('[V1] %s is told so, on every route of the API', async (_name, headers) => {
    for (const path of ['/api/health', '/api/runs', `/api/runs/${UNKNOWN}`, '/api/approvals', '/api/nothing']) {
      const answer = await ask('GET', path, { headers });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect(await code(answer)).toEqual([401, 'request/unauthorized']);
    }
  });

  it('[V85] a user with their own token is answered, and named in events', async () => {
    const { id } = await json(ask('POST', '/api/runs', { body: { file: 'a.tsx' } }));
    const headers = { authorization: `Bearer ${ADAS_TOKEN}` };
    expect((await ask('POST', `/api/runs/${id}/pause`, { headers })).status).toBe(200);
    expect((await ask('POST', `/api/runs/${id}/pause`)).status).toBe(200);
    expect(host.acted.map(({ by }) => by)).toEqual(['ada', 'operator']);
  });

  it('[V1] a token in the query does not count', async () => {
    expect(await code(ask('GET', `/api/runs?token=${TOKEN}`, { headers: { authorization: '' } }))).toEqual([
      401,
      'request/unauthorized',
    ]);
  });

  it.each(['evil.example:4280', '127.0.0.1:4281', '127.0.0.1', 'localhost.evil.example:4280', ''])(
    '[V2] a request to the host %j is refused, also with the token and for a page',
    async name => {
      expect(await code(ask('GET', '/api/runs', { headers: { host: name } }))).toEqual([403, 'request/forbidden']);
      expect(await code(ask('GET', '/', { headers: { host: name } }))).toEqual([403, 'request/forbidden']);
    },
  );

  it.each(['127.0.0.1:4280', 'localhost:4280', '[::1]:4280', 'LOCALHOST:4280'])(
    '[V2] a request to the host %s is answered',
    async name => {
      expect((await ask('GET', '/api/health', { headers: { host: name } })).status).toBe(200);
    },
  );

  it.each(['http://evil.example', 'https://127.0.0.1:4280', 'http://127.0.0.1:4281', 'null'])(
    '[V3] a page of the origin %s is refused',
    async origin => {
      expect(await code(ask('GET', '/api/health', { headers: { origin } }))).toEqual([403, 'request/forbidden']);
    },
  );

  it('[V3] our own origin is answered', async () => {
    const answer = await ask('GET', '/api/health', { headers: { origin: 'http://localhost:4280' } });
    expect(await answer.json()).toEqual({
      name: 'signalbox',
      contractVersion: '1',
      driven: 0,
      storage: { status: 'ok' },
      providers: [],
    });
  });
});

describe('every answer', () => {
  it('[V4] tells browsers to load nothing from elsewhere, run nothing inline and guess no type', async () => {
    for (const [path, headers] of [
      ['/api/runs', {}],
      ['/api/nothing', {}],
      ['/api/runs', { authorization: '' }],
      ['/', { host: 'evil.example' }],
    ] as const) {
      const answer = await ask('GET', path, { headers });
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy.split('; ')).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "frame-ancestors 'none'",
        ]),
      );
      expect(policy).not.toContain('unsafe');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('access-control-allow-origin')).toBe(null);
    }
  });

  it('[V5] to an unknown route is the envelope', async () => {
    expect(await code(ask('GET', '/api/nothing'))).toEqual([404, 'request/unknown-route']);
    expect(await code(ask('DELETE', '/api/runs'))).toEqual([404, 'request/unknown-route']);
    expect(await code(ask('GET', '/nothing'))).toEqual([404, 'request/unknown-route']);
  });

  it('[V5] to an exception is the envelope, without the exception', async () => {
    const broken = new Error('the secret is 42');
    host.store.runs = async () => {
      throw broken;
    };
    const answer = await ask('GET', '/api/runs');
    expect(answer.status).toBe(500);
    const text = await answer.text();
    expect(text).not.toContain('42');
    expect(errorEnvelope.parse(JSON.parse(text)).code).toBe('command/unexpected');
    expect(faults).toEqual([broken]);
  });

  it('[A336] to damage in the data directory says what is damaged, and what to do', async () => {
    host.store.runs = async () => {
      throw new StoreDamage('a frame is damaged');
    };
    const answer = await ask('GET', '/api/runs');
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({
      code: 'store/damaged',
      message: 'The data directory is damaged: a frame is damaged.',
      suggestion: expect.stringContaining('signalbox doctor --deep'),
    });
  });
});

describe('a body', () => {
  it('[V6] is JSON, and says so', async () => {
    const post = (body: string, type: string) =>
      createHttpApp({ host, access: createAccess(TOKEN, () => 4280) }).request('/api/runs', {
        method: 'POST',
        headers: { ...auth, 'content-type': type },
        body,
      });
    expect(await code(await post('{"file":"a.tsx"}', 'text/plain'))).toEqual([415, 'request/not-json']);
    expect(await code(await post('{"file":', 'application/json'))).toEqual([400, 'VALIDATION_ERROR']);
    expect(await code(await post('[]', 'application/json'))).toEqual([400, 'VALIDATION_ERROR']);
    expect((await post('{"file":"a.tsx"}', 'application/json; charset=utf-8')).status).toBe(201);
  });

  it('[V6] with an unknown or invalid field is refused by name', async () => {
    const refused = await ask('POST', '/api/runs', { body: { file: 'a.tsx', inputs: {} } });
    expect(await refused.clone().text()).toContain('inputs');
    expect(await code(refused)).toEqual([400, 'VALIDATION_ERROR']);
    const second = await ask('POST', '/api/runs', { body: { file: 'a.tsx', tags: [7] } });
    expect(await second.text()).toContain('tags.0');
  });

  it('[V6] of more than a megabyte is not read', async () => {
    const body = { file: 'a.tsx', input: 'x'.repeat(1_100_000) };
    expect(await code(ask('POST', '/api/runs', { body }))).toEqual([413, 'request/too-large']);
  });

  it('[V6] a query is checked as well', async () => {
    expect(await code(ask('GET', '/api/runs?status=gone'))).toEqual([400, 'VALIDATION_ERROR']);
    expect(await code(ask('GET', '/api/runs?limit=0'))).toEqual([400, 'VALIDATION_ERROR']);
    expect(await code(ask('GET', '/api/runs?limit=10&limit=20'))).toEqual([400, 'VALIDATION_ERROR']);
    expect(await code(ask('GET', '/api/runs?limits=10'))).toEqual([400, 'VALIDATION_ERROR']);
    expect(await code(ask('GET', '/api/runs?after=../../etc'))).toEqual([400, 'VALIDATION_ERROR']);
  });
});

describe('runs', () => {
  it('[V7] are started as requested, once per key', async () => {
    const body = {
      file: 'plans/release.tsx',
      input: { version: '1.0' },
      name: 'release 1.0',
      tags: ['release'],
      correlationId: 'ci-7',
      limits: { maxToolCalls: 5 },
    };
    const headers = { 'idempotency-key': 'k1' };
    const first = await ask('POST', '/api/runs', { body, headers });
    expect(first.status).toBe(201);
    const started = await json(first);
    expect(started).toMatchObject({
      contractVersion: '1',
      status: 'running',
      record: { name: 'release 1.0', tags: ['release'], correlationId: 'ci-7', limits: { maxToolCalls: 5 } },
    });
    expect((await json(ask('POST', '/api/runs', { body, headers }))).id).toBe(started.id);
    expect((await json(ask('POST', '/api/runs', { body }))).id).not.toBe(started.id);
    expect((await host.store.run(started.id))?.input).toEqual({ version: '1.0' });
  });

  it('[V8] are listed newest first, filtered, in pages', async () => {
    const ids: string[] = [];
    for (const [name, tags] of [
      ['a', ['x']],
      ['b', []],
      ['c', ['x']],
      ['d', ['x']],
    ] as const) {
      ids.unshift((await host.begin(name, { tags })).id);
    }
    await host.run(ids[0] as never).become('completed');
    const list = async (query: string) => {
      const { runs, next } = await json(ask('GET', `/api/runs${query}`));
      return [runs.map((run: { record: { name: string } }) => run.record.name), next];
    };
    expect(await list('')).toEqual([['d', 'c', 'b', 'a'], undefined]);
    expect(await list('?status=completed,failed')).toEqual([['d'], undefined]);
    expect(await list('?name=b')).toEqual([['b'], undefined]);
    const [names, next] = await list('?tag=x&limit=2');
    expect(names).toEqual(['d', 'c']);
    expect(await list(`?tag=x&limit=2&after=${next}`)).toEqual([['a'], undefined]);
  });

  it('[V9] have the contract’s form, together with our record', async () => {
    const scripted = await host.begin('release');
    await scripted.render(releasePlan, { review: 'running', ship: 'skipped', build: 'succeeded' });
    await scripted.status('review', 'blocked', 'approval_required:command_exec');
    await scripted.become('waiting');
    const snapshot = runSnapshot.parse(await json(ask('GET', `/api/runs/${scripted.id}`)));
    const {
      record: _,
      driven: __,
      kind: ___,
      openDecisions,
      input,
      output,
      tree,
      decisions,
      tasks,
      ...contract
    } = snapshot;
    expect(contractRun.parse(contract)).toEqual(contract);
    expect(contract.status).toBe('paused');
    expect(snapshot.record.status).toBe('waiting');
    expect(
      Object.values(contract.nodes).map(node => [node.label, node.roleTemplate, node.provider, node.status]),
    ).toEqual([
      ['Build', 'task', 'custom', 'idle'],
      ['Review the change', 'claude', 'claude', 'blocked'],
      ['sign-off', 'human', 'custom', 'idle'],
      ['Ship it', 'task', 'custom', 'idle'],
    ]);
    expect({ openDecisions, input, output, decisions, tasks }).toEqual({
      openDecisions: 0,
      input: null,
      output: undefined,
      decisions: [],
      tasks: [],
    });
    expect(
      tree.map(({ id, parent, kind, label, status, reason }) => ({ id, parent, kind, label, status, reason })),
    ).toEqual([
      { id: 'root', parent: undefined, kind: 'plan', label: 'release', status: 'idle', reason: undefined },
      { id: 'make', parent: 'root', kind: 'phase', label: 'Make', status: 'idle', reason: undefined },
      { id: 'build', parent: 'make', kind: 'task', label: 'Build', status: 'succeeded', reason: undefined },
      {
        id: 'review',
        parent: 'make',
        kind: 'claude',
        label: 'Review the change',
        status: 'blocked',
        reason: 'approval_required:command_exec',
      },
      { id: 'sign-off', parent: 'root', kind: 'human', label: 'sign-off', status: 'idle', reason: undefined },
      { id: 'gate', parent: 'root', kind: 'if', label: 'gate', status: 'idle', reason: undefined },
      { id: 'gate-then', parent: 'gate', kind: 'branch', label: 'then', status: 'idle', reason: undefined },
      { id: 'ship', parent: 'gate-then', kind: 'task', label: 'Ship it', status: 'skipped', reason: undefined },
    ]);
  });

  it('[V9] a stopped run shows as failed, with its reason', async () => {
    const scripted = await host.begin('release');
    await scripted.become('stopped', { stopReason: 'enough' });
    expect(await json(ask('GET', `/api/runs/${scripted.id}`))).toMatchObject({
      status: 'failed',
      stopReason: 'enough',
      record: { status: 'stopped' },
    });
  });

  it('[V10] are named by full ids; any other is unknown', async () => {
    const { id } = await host.begin('release');
    for (const given of [UNKNOWN, id.slice(0, 8), id.toUpperCase(), '..%2F..', 'x'.repeat(300)]) {
      expect(await code(ask('GET', `/api/runs/${given}`))).toEqual([404, 'run/unknown']);
      expect(await code(ask('GET', `/api/runs/${given}/events`))).toEqual([404, 'run/unknown']);
      expect(await code(ask('POST', `/api/runs/${given}/pause`))).toEqual([404, 'run/unknown']);
    }
  });

  it('[V11] are changed by one use-case each', async () => {
    const { id } = await host.begin('release');
    const post = async (path: string, body?: Json) => (await ask('POST', `/api/runs/${id}${path}`, { body })).status;
    expect(await post('/nodes/a%2Fb/retry')).toBe(200);
    expect(await post('/nodes/build/cancel')).toBe(200);
    expect(await post('/signals', { name: 'go', payload: { now: true } })).toBe(200);
    expect(await post('/pause')).toBe(200);
    const limits = { maxToolCalls: 40, maxRetriesPerTask: 2 };
    expect(await json(ask('POST', `/api/runs/${id}/resume`, { body: { limits } }))).toMatchObject({
      record: { status: 'running' },
    });
    expect(await json(ask('POST', `/api/runs/${id}/stop`, { body: { reason: 'late' } }))).toMatchObject({
      status: 'failed',
      stopReason: 'late',
    });
    expect(await code(ask('POST', `/api/runs/${id}/terminate`))).toEqual([409, 'run/ended']);
    expect(host.acted.map(({ action, by }) => ({ ...action, by }))).toEqual([
      { kind: 'retry', node: 'a/b', by: 'operator' },
      { kind: 'cancel', node: 'build', by: 'operator' },
      { kind: 'signal', name: 'go', payload: { now: true }, by: 'operator' },
      { kind: 'pause', by: 'operator' },
      { kind: 'stop', reason: 'late', by: 'operator' },
      { kind: 'terminate', reason: 'an operator asked for it', by: 'operator' },
    ]);
  });

  it('[V12] that are not graphs say so, and what to do instead', async () => {
    const { id } = await host.begin('release');
    for (const [method, path] of [
      ['POST', '/nodes'],
      ['PATCH', '/nodes/x'],
      ['POST', '/edges'],
      ['DELETE', '/edges/x'],
    ] as const) {
      expect(await code(ask(method, `/api/runs/${id}${path}`))).toEqual([409, 'run/not-a-graph']);
    }
  });
});
