import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { Bug, providerList, type WireProvider } from '@signalbox/model';
import { type ModelScript, startModelServer } from '@signalbox/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ActivityFact } from '../src/host/index.ts';
import { openHome } from '../src/host/open-home.ts';
import { thisMachine } from '../src/machine.ts';
import { planText, testHostOf } from './support/open-host.ts';
import { temporaryFolder } from './temporary-folder.ts';

const KEY = 'sk-ant-planted-secret';

/** A home whose agents talk to a model server that answers by a script, and everything that it tells meanwhile. */
async function open(script: ModelScript) {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, 'work'));
  const server = await startModelServer(script);
  const home = await openHome({
    dataDirectory: path.join(folder, 'data'),
    machine: thisMachine(),
    env: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url },
    threads: { threads: 1 },
  });
  if (!home.ok) throw new Bug(home.error.message);
  const { host, owned, close } = home.value;
  onTestFinished(async () => {
    await close();
    await server.close();
  });
  const anthropic = () => host.providers.list().providers.find(({ name }) => name === 'anthropic') as WireProvider;
  const told: WireProvider[] = [];
  host.providers.subscribe(() => told.push(anthropic()));
  const facts: ActivityFact[] = [];
  host.activity.subscribe(fact => facts.push(fact));
  return { server, anthropic, told, facts, ...testHostOf(folder, host, owned.store, close) };
}

const plan = planText(`<Phase name="Research">
  <Step name="ask"><Agent id="agent" model="anthropic:claude-test" cwd="work" prompt="Do it." /></Step>
</Phase>`);

describe('the providers of models', () => {
  it('[A120] are told as their calls go: refused with its limits and its end, then well', async () => {
    const reset = new Date(Date.now() + 60_000).toISOString();
    const limits = (remaining: number) => ({
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': String(remaining),
      'anthropic-ratelimit-requests-reset': reset,
    });
    const { host, anthropic, told, start, end } = await open(({ call }) =>
      call === 1
        ? { status: 429, retryAfter: '1', message: `busy: ${KEY}`, headers: limits(0) }
        : { text: 'Here.', headers: limits(49) },
    );
    const reference = {
      name: 'anthropic',
      key: { name: 'ANTHROPIC_API_KEY', isSet: true },
      baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\//),
      baseUrlName: 'ANTHROPIC_BASE_URL',
    };
    expect(anthropic()).toEqual({ ...reference, health: 'unknown', models: [], windows: [], failuresInRow: 0 });
    const before = Date.now();
    expect(await end(await start('plan', plan))).toMatchObject({ status: 'completed' });

    const [limited, well] = told;
    const window = { model: 'claude-test', counts: 'requests', limit: 50, resetsAt: reset };
    const lastError = { at: expect.any(String), model: 'claude-test', code: 'rate_limit', message: expect.any(String) };
    expect(limited).toEqual({
      ...reference,
      health: 'limited',
      waitsUntil: expect.any(String),
      models: [expect.objectContaining({ model: 'claude-test', health: 'limited', calls: 1, failuresInRow: 1 })],
      windows: [{ ...window, remaining: 0 }],
      failuresInRow: 1,
      lastError,
      lastUsedAt: expect.any(String),
    });
    expect(Date.parse(limited?.waitsUntil ?? '')).toBeGreaterThanOrEqual(before + 1_000);
    expect(limited?.lastError?.message).toContain('429');
    expect(well).toMatchObject({ health: 'ok', windows: [{ ...window, remaining: 49 }], failuresInRow: 0, lastError });
    expect(well?.models).toMatchObject([{ model: 'claude-test', health: 'ok', calls: 2, waiting: 0 }]);
    expect(host.providers.briefs()).toContainEqual({ name: 'anthropic', health: 'ok' });
    expect(told).toHaveLength(2);
    const all = host.providers.list();
    expect(providerList.parse(all)).toEqual(all);
    expect(JSON.stringify([told, all])).not.toContain(KEY);
  });

  it('[A148] fail where they refuse a key, and say which', async () => {
    const { anthropic, start, end } = await open([{ status: 401, message: `invalid x-api-key ${KEY}` }]);
    expect(await end(await start('plan', plan))).toMatchObject({ status: 'failed' });
    expect(anthropic()).toMatchObject({ health: 'failing', failuresInRow: 1, lastError: { code: 'provider-refused' } });
    expect(anthropic().lastError?.message).toContain('the key in ANTHROPIC_API_KEY: check it');
    expect(JSON.stringify(anthropic())).not.toContain(KEY);
  });

  it('[A148] fail with errors of their own, and not where they refuse what was asked', async () => {
    const script: ModelScript = ({ call }) =>
      call === 1 ? { status: 400, message: 'max_tokens: too many' } : { status: 500, message: 'oh no' };
    const { anthropic, start, end } = await open(script);
    expect(await end(await start('plan', plan))).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('request-refused') },
    });
    expect(anthropic()).toMatchObject({ health: 'ok', failuresInRow: 0, models: [{ calls: 1, health: 'ok' }] });
    expect(anthropic()).not.toHaveProperty('lastError');
    expect(await end(await start('once', plan.replace('<Agent ', '<Agent retries={0} ')))).toMatchObject({
      status: 'failed',
    });
    expect(anthropic()).toMatchObject({ health: 'failing', failuresInRow: 1, lastError: { code: 'provider-failed' } });
  });

  it('[A121] are called, waited for and paid, and frames are made, as whoever counts is told', async () => {
    const { facts, start, end } = await open([{ text: 'Here.', usage: { input: 10, output: 5 } }]);
    expect(await end(await start('plan', plan))).toMatchObject({ status: 'completed' });
    const name = { provider: 'anthropic', model: 'claude-test' };
    expect(facts.filter(({ kind }) => kind !== 'framed')).toEqual([
      {
        kind: 'spent',
        phase: 'Research',
        usage: expect.objectContaining({ ...name, inputTokens: 10, outputTokens: 5 }),
      },
      { kind: 'call-ended', ...name, ms: expect.any(Number), outcome: 'answered' },
    ]);
    const frames = facts.filter(fact => fact.kind === 'framed');
    expect(frames.length).toBeGreaterThanOrEqual(2);
    expect(frames.every(({ ms }) => ms > 0)).toBe(true);
  });
});
