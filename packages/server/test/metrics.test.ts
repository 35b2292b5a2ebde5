import { readFileSync } from 'node:fs';
import { type ActivityFact, type StoredEvent, thisMachine } from '@signalbox/app/host';
import { operations, timestamp } from '@signalbox/model';
import { createAccess, createHttpApp, createRunMetrics, startServer } from '@signalbox/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFeed } from '../../runs/src/feed.ts';
import { createLiveMeter } from '../src/live/live-meter.ts';
import { type Family, readExposition } from './exposition.ts';
import { auth, code, TOKEN } from './http-asker.ts';
import { liveClient } from './live-client.ts';
import { noFleet } from './memory-users.ts';
import { scriptedHost } from './scripted-host.ts';

const at = timestamp.parse('2026-01-02T00:00:00.000Z');
const spent = {
  inputTokens: 10,
  outputTokens: 2,
  cachedTokens: 0,
  toolCalls: 0,
  costMicroUsd: 1_500_000,
  wallMs: 2_500,
};
const acme = { provider: 'acme', model: 'small' };

function stage() {
  const host = scriptedHost();
  const live = createLiveMeter();
  const published = new Set<Parameters<typeof noFleet.onPublished>[0]>();
  const fleet: typeof noFleet = {
    ...noFleet,
    agents: () => [{ standing: 'working' }] as never,
    onPublished(listener) {
      published.add(listener);
      return () => published.delete(listener);
    },
  };
  const metrics = createRunMetrics(host, live, fleet);
  onTestFinished(() => metrics.close());
  const app = createHttpApp({ host, metrics, access: createAccess(TOKEN, () => 4280) });
  const scrape = async () => readExposition(await (await app.request('/metrics', { headers: auth })).text());
  /** The value of one series. */
  const value = async (name: string, labels: Record<string, string> = {}) =>
    (await scrape())
      .flatMap(({ samples }) => samples)
      .find(sample => sample.name === `signalbox_${name}` && fits(sample.labels, labels))?.value;
  const tell = (...facts: readonly ActivityFact[]) => {
    for (const fact of facts) host.activity.tell(fact);
  };
  const publish = (ms: number) => {
    for (const listener of published) listener({ type: 'status', occurredAt: 1_000, publishedAt: 1_000 + ms });
  };
  return { host, app, live, scrape, value, tell, publish };
}

const fits = (labels: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>) =>
  JSON.stringify(Object.entries(labels).toSorted()) === JSON.stringify(Object.entries(wanted).toSorted());

/** Does something of everything that is counted. */
async function liveThrough({ host, live, tell, publish }: ReturnType<typeof stage>): Promise<void> {
  const run = await host.begin('counted');
  await run.render({ id: 'build', kind: 'task' });
  const task = await run.startTask('build');
  await run.startTask('deploy');
  await run.status('deploy', 'blocked', 'approval_required:file_edit');
  await run.ask('build', { tool: 'deploy', args: {} });
  await run.startTask('test');
  await run.endTask(task);
  const failing = await host.begin('failing');
  await failing.become('failed', { error: 'it did not work' });
  tell(
    { kind: 'framed', ms: 3 },
    { kind: 'call-waited', ...acme, ms: 2_000 },
    { kind: 'call-ended', ...acme, ms: 700, outcome: 'answered' },
    { kind: 'spent', usage: { call: '1', ...acme, ...spent, at }, phase: 'Research' },
  );
  (await host.rateLimits.enter({ provider: 'other-acme', model: 'large' }, new AbortController().signal))?.();
  publish(7);
  live.connected();
  live.subscribed('all');
  live.dropped(5);
  live.tooSlow();
}

describe('the metrics', () => {
  it('[V344] have the median, the 95th and the 99th percentile of the latency of events, by type', async () => {
    const { publish, value } = stage();
    for (let ms = 100; ms > 0; ms -= 1) publish(ms);
    const of = (percentile: string) => value('fleet_event_latency_percentile_seconds', { type: 'status', percentile });
    expect([await of('50'), await of('95'), await of('99')]).toEqual([0.05, 0.095, 0.099]);
  });

  it('[V91] [V378] count frames, work, errors, waits, model use and cost', async () => {
    const staged = stage();
    await liveThrough(staged);
    const { value } = staged;
    const expected: readonly (readonly [string, Record<string, string>, number])[] = [
      ['frames_total', { trigger: 'start' }, 1],
      ['frame_duration_seconds_bucket', { le: '0.0025' }, 0],
      ['frame_duration_seconds_bucket', { le: '0.005' }, 1],
      ['tasks_ended_total', { outcome: 'done' }, 1],
      ['run_status_changes_total', { status: 'failed' }, 1],
      ['decisions_open', {}, 1],
      ['tasks_under_way', {}, 1],
      ['tasks_waiting', {}, 1],
      ['nodes_blocked', { reason: 'approval_required' }, 1],
      ['model_calls_total', { ...acme, outcome: 'answered' }, 1],
      ['model_call_duration_seconds_bucket', { ...acme, le: '0.5' }, 0],
      ['model_call_duration_seconds_bucket', { ...acme, le: '1' }, 1],
      ['model_wait_duration_seconds_sum', acme, 2],
      ['model_input_tokens_total', { ...acme, phase: 'Research' }, 10],
      ['model_output_tokens_total', { ...acme, phase: 'Research' }, 2],
      ['model_cost_usd_total', acme, 1.5],
      ['live_connections', {}, 1],
      ['live_subscriptions', { of: 'all' }, 1],
      ['fleet_agents', { standing: 'working' }, 1],
      ['fleet_decisions_open', {}, 0],
      ['fleet_events_total', { type: 'status' }, 1],
      ['fleet_event_latency_seconds_sum', { type: 'status' }, 0.007],
      ['fleet_event_latency_seconds_bucket', { type: 'status', le: '0.005' }, 0],
      ['fleet_event_latency_seconds_bucket', { type: 'status', le: '0.01' }, 1],
      ['live_subscriptions', { of: 'run' }, 0],
      ['live_dropped_total', {}, 5],
      ['live_slow_clients_total', {}, 1],
    ];
    for (const [name, labels, wanted] of expected)
      expect([name, labels, await value(name, labels)]).toEqual([name, labels, wanted]);
    const errors = (await staged.scrape()).find(({ name }) => name === 'signalbox_errors_total')?.samples;
    expect(errors).toEqual([
      { name: 'signalbox_errors_total', labels: { where: 'run', code: expect.any(String) }, value: 1 },
    ]);
  });

  it('[V91] follow waits: an answered decision, a run that rests', async () => {
    const { host, value } = stage();
    const run = await host.begin('asks');
    const [first] = [await run.ask('a', {}), await run.ask('b', {})];
    const counts = async () => [await value('decisions_open'), await value('tasks_under_way')];
    await run.startTask('a');
    expect(await counts()).toEqual([2, 1]);
    const other = await host.begin('asks-too');
    await other.ask('c', {});
    await host.answer(
      first.id,
      { resolution: { resolutionType: 'approve', rationale: '', actionKind: 'review' } },
      'ada',
    );
    expect(await counts()).toEqual([2, 1]);
    await run.become('paused');
    expect(await counts()).toEqual([2, 0]);
  });

  it('[V112] keep nothing of a run that rests, in whatever order its end arrives', async () => {
    const feed = createFeed();
    const { host } = stage();
    const metrics = createRunMetrics({ ...host, feed });
    onTestFinished(() => metrics.close());
    const run = (await host.begin('told')).id;
    const told = (...events: readonly object[]) =>
      feed.tell([
        {
          run,
          version: 1,
          seq: 0,
          asks: false,
          stream: [],
          events: events.map(event => ({ event })) as unknown as StoredEvent[],
        },
      ]);
    const frame = (ts: string) => ({ type: 'frame.committed', ts, trigger: { kind: 'task' } });
    told({ type: 'task.started', task: 't' }, frame('2026-01-01T00:00:00.000Z'));
    told(
      { type: 'run.status', to: 'failed' },
      { type: 'task.retry', task: 't', error: { code: 'x' } },
      frame('2026-01-01T00:00:01.000Z'),
    );
    told(frame('2026-01-02T00:00:00.000Z'));
    const values = readExposition(await metrics.text()).flatMap(({ samples }) => samples);
    const of = (name: string) => values.find(sample => sample.name === `signalbox_${name}`)?.value;
    expect([of('frame_interval_seconds_count'), of('tasks_waiting'), of('tasks_under_way')]).toEqual([1, 0, 0]);
  });

  it('[V91] know which providers are limited, and what waits for them', async () => {
    const { host, value } = stage();
    const never = new AbortController().signal;
    const error = { code: 'rate_limit', message: 'busy' };
    (await host.rateLimits.enter(acme, never))?.({ kind: 'refused', retryAfterMs: 60_000, error });
    void host.rateLimits.enter(acme, never);
    expect(await value('provider_limited', { provider: 'acme' })).toBe(1);
    expect(await value('model_calls_waiting', acme)).toBe(1);
    expect(await value('model_calls_total', { ...acme, outcome: 'refused' })).toBe(1);
  });

  it('[V91] count clients of the live socket while they are connected', async () => {
    const host = scriptedHost();
    const started = await startServer({ host, token: TOKEN, port: 0, timers: thisMachine().timers });
    if (!started.ok) throw new Error(started.error.message);
    onTestFinished(() => started.value.close());
    const lines = async () => {
      const answer = await fetch(`${started.value.url}/metrics`, { headers: { authorization: auth.authorization } });
      const live = readExposition(await answer.text()).filter(({ name }) =>
        /live_(connections|subscriptions)/.test(name),
      );
      return live.flatMap(({ samples }) => samples.map(({ value }) => value));
    };
    const client = await liveClient(started.value.url, { token: TOKEN });
    const run = await host.begin('watched');
    client.say({ kind: 'subscribe', run: 'all' });
    client.say({ kind: 'subscribe', run: run.id });
    client.say({ kind: 'subscribe', run: run.id });
    await client.first('runs');
    await client.first('state');
    expect(await lines()).toEqual([1, 1, 1, 0]);
    client.close();
    await client.closed;
    // The server hears of it a moment after the client.
    let left = await lines();
    while (left.some(count => count > 0)) left = await lines();
    expect(left).toEqual([0, 0, 0, 0]);
  });

  it('[V91] need the token', async () => {
    const { app } = stage();
    const answer = await app.request('/metrics', { headers: { host: auth.host } });
    expect(await code(answer)).toEqual([401, 'request/unauthorized']);
  });

  it('[V110] are readable for a scraper, named by the conventions, and documented with the same texts', async () => {
    const staged = stage();
    expect((await staged.scrape()).length).toBeGreaterThan(20);
    await liveThrough(staged);
    const families = await staged.scrape();
    const answer = await staged.app.request('/metrics', { headers: auth });
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const page = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `(signalbox_\w+)` \| (\w+) \| (.*?) \| (.+) \|$/gm)];
    expect(rows.map(([, name, type, labels, help]) => [name, type, labels, help]).toSorted()).toEqual(
      families.map(family => [family.name, family.type, labelsOf(family), family.help]).toSorted(),
    );
  });

  it('[V111] have a bounded number of series, whatever the names of plans and models', async () => {
    const { scrape, tell } = stage();
    const nasty = 'a "quoted" \\ name\nwith a line';
    tell({ kind: 'call-ended', provider: 'acme', model: nasty, ms: 1, outcome: 'failed' });
    for (let number = 0; number < 500; number += 1) {
      const name = { provider: `p${number % 60}`, model: `m${number}` };
      tell(
        { kind: 'call-ended', ...name, ms: 1, outcome: 'answered' },
        { kind: 'call-waited', ...name, ms: 1 },
        { kind: 'spent', usage: { call: String(number), ...name, ...spent, at }, phase: `phase ${number}` },
      );
    }
    tell({ kind: 'call-ended', provider: 'p1', model: 'x'.repeat(10_000), ms: 1, outcome: 'answered' });
    const families = await scrape();
    const samples = families.flatMap(family => family.samples);
    expect(samples.length).toBeLessThan(4_000);
    expect(samples.some(({ labels }) => labels.model === nasty)).toBe(true);
    const calls = families.find(({ name }) => name === 'signalbox_model_calls_total')?.samples ?? [];
    expect(calls.reduce((sum, { value }) => sum + value, 0)).toBe(502);
    expect(calls.some(({ labels }) => labels.provider === 'other' && labels.model === 'other')).toBe(true);
    expect(calls.some(({ labels }) => labels.provider === 'p1' && labels.model === 'other')).toBe(true);
    const tokens = families.find(({ name }) => name === 'signalbox_model_input_tokens_total')?.samples ?? [];
    expect(new Set(tokens.map(({ labels }) => labels.phase)).size).toBeLessThanOrEqual(21);
  });

  it('[V112] cost the same to read however many runs there were: after the first time the store is not read', async () => {
    const { host, scrape } = stage();
    await scrape();
    const asked: string[] = [];
    for (const name of Object.keys(host.store) as (keyof typeof host.store)[]) {
      const original = host.store[name];
      if (typeof original !== 'function' || name === 'subscribe') continue;
      Object.assign(host.store, {
        [name]: (...args: readonly never[]) => {
          asked.push(name);
          return (original as (...args: readonly never[]) => unknown)(...args);
        },
      });
    }
    await scrape();
    expect(asked).toEqual([]);
    const run = await host.begin('one more');
    await run.ask('a', {});
    asked.length = 0;
    expect((await scrape()).find(({ name }) => name === 'signalbox_decisions_open')?.samples[0]?.value).toBe(1);
    expect(asked).toEqual([]);
  });
});

function labelsOf({ samples }: Family): string {
  const names = new Set(samples.flatMap(({ labels }) => Object.keys(labels)).filter(name => name !== 'le'));
  return [...names].map(name => `\`${name}\``).join(' ') || '–';
}

describe('the reader of expositions', () => {
  const counter = '# HELP signalbox_a_total A.\n# TYPE signalbox_a_total counter\n';
  const histogram = '# HELP signalbox_b_seconds B.\n# TYPE signalbox_b_seconds histogram\n';
  const buckets = 'signalbox_b_seconds_bucket{le="1"} 2\nsignalbox_b_seconds_bucket{le="+Inf"} 2\n';

  it('accepts valid input', () => {
    const text = `${counter}signalbox_a_total{x="a\\"b\\\\",y=""} 1e3\n${histogram}${buckets}signalbox_b_seconds_sum 0.5\nsignalbox_b_seconds_count 2\n`;
    expect(readExposition(text)[0]?.samples).toEqual([
      { name: 'signalbox_a_total', labels: { x: 'a"b\\', y: '' }, value: 1000 },
    ]);
  });

  it.each([
    ['no end of the last line', `${counter}signalbox_a_total 1`],
    ['a sample without a type', 'signalbox_a_total 1\n'],
    ['a series twice', `${counter}signalbox_a_total 1\nsignalbox_a_total 1\n`],
    ['a family twice', `${counter}${counter}`],
    ['a label twice', `${counter}signalbox_a_total{x="1",x="2"} 1\n`],
    ['a quote in a label', `${counter}signalbox_a_total{x="a"b"} 1\n`],
    ['no number', `${counter}signalbox_a_total one\n`],
    ['a counter below nothing', `${counter}signalbox_a_total -1\n`],
    ['a counter by another name', counter.replaceAll('a_total', 'a')],
    ['a histogram without a sum', `${histogram}${buckets}signalbox_b_seconds_count 2\n`],
    [
      'a histogram with another count',
      `${histogram}${buckets}signalbox_b_seconds_sum 1\nsignalbox_b_seconds_count 3\n`,
    ],
    [
      'buckets that fall',
      `${histogram}${buckets.replace('2', '3')}signalbox_b_seconds_sum 1\nsignalbox_b_seconds_count 2\n`,
    ],
    ['milliseconds', '# HELP signalbox_c_ms C.\n# TYPE signalbox_c_ms gauge\nsignalbox_c_ms 1\n'],
  ])('refuses %s', (_, text) => {
    expect(() => readExposition(text)).toThrow('not an exposition');
  });
});

describe('spending', () => {
  it('[V145] belongs to the directory of its run, which the run names', async () => {
    const { host, app } = stage();
    const run = await host.begin('spends', { directory: '/home/a/shop' });
    const cheap = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, toolCalls: 0, costMicroUsd: 7, wallMs: 1 };
    await host.store.commit({ at, usage: [{ call: '1', ...cheap, at }] }, { run: run.id, version: 'any' });
    const ask = async (path: string) => (await app.request(`/api${path}`, { headers: auth })).json();
    expect(await ask('/usage')).toMatchObject({ spending: [{ directory: '/home/a/shop', costMicroUsd: 7 }] });
    expect(await ask(`/runs/${run.id}`)).toMatchObject({ record: { directory: '/home/a/shop' } });
    const nowhere = await host.begin('nowhere');
    expect(await ask(`/runs/${nowhere.id}`)).not.toHaveProperty('record.directory');
  });

  it('[V440] is limited by owners, for new runs, days and projects', async () => {
    const { app } = stage();
    const ask = async (change?: object) =>
      (
        await app.request('/api/limits', {
          headers: { ...auth, 'content-type': 'application/json' },
          ...(change && { method: 'PATCH', body: JSON.stringify(change) }),
        })
      ).json();
    expect(await ask()).toEqual({ today: '2026-01-02', run: {}, ceilings: [] });
    expect(await ask({ scope: 'run', maxTotalTokens: 5 })).toMatchObject({ run: { maxTotalTokens: 5 } });
    expect(await ask()).toMatchObject({ run: { maxTotalTokens: 5 } });
    for (const wrong of [
      { scope: 'week', maxTotalTokens: 5 },
      { scope: 'day', maxTotalTokens: -5 },
      { scope: 'project', maxTotalTokens: 5 },
      { scope: 'day', directory: '/a', maxTotalTokens: 5 },
      { scope: 'project', directory: 'a', maxTotalTokens: 5 },
    ])
      expect(await ask(wrong)).toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(operations.changeLimits.needs).toBe('owner');
  });

  it('[V389] of a run is told by node, with its latest calls and what became of them', async () => {
    const { host, app } = stage();
    const run = await host.begin('spends');
    const of = { node: 'a', task: '0190a0a0-0000-5000-8000-000000000000', provider: 'anthropic', model: 'small' };
    const told = (number: number, type: string, fields: object) =>
      ({ id: `0190a0a0-0000-7000-8000-00000000000${number}`, ts: at, type, ...of, ...fields }) as never;
    const cheap = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, toolCalls: 0, costMicroUsd: 7, wallMs: 1 };
    const events = [
      told(1, 'model.called', { call: '1', input: 30, output: 20 }),
      told(2, 'model.answered', { call: '1', outcome: 'cut', status: 200, unknown: ['output'] }),
      told(3, 'model.refused', { call: '2', reason: 'no more' }),
      told(4, 'model.called', { call: '3', input: 1, output: 1 }),
    ];
    await host.store.commit({ at, usage: [{ call: '1', ...cheap, at }], events }, { run: run.id, version: 'any' });
    const answer = await (await app.request(`/api/runs/${run.id}/usage`, { headers: auth })).json();
    expect(answer).toMatchObject({
      ...{ run: run.id, limits: {}, total: { inputTokens: 1, costMicroUsd: 7 }, callsInAll: 3 },
      calls: [
        { call: '1', outcome: 'cut', status: 200, reservedTokens: 50, unknown: ['output'], endedAt: at },
        { call: '2', outcome: 'refused at a limit', reason: 'no more' },
        { call: '3', outcome: 'under way', reservedTokens: 2 },
      ],
    });
  });

  it('[V390] has calls of models, with what is kept of them', async () => {
    const { host, app } = stage();
    const run = await host.begin('spends');
    const call = 'task/model/1';
    const of = { call, node: 'a', task: '0190a0a0-0000-5000-8000-000000000000', provider: 'anthropic', model: 'small' };
    const ended = {
      id: '0190a0a0-0000-7000-8000-000000000001',
      ts: at,
      type: 'model.answered',
      outcome: 'cut',
      unknown: [],
    };
    await host.store.commit({ at, events: [{ ...ended, ...of } as never] }, { run: run.id, version: 'any' });
    const ask = async (name: string) =>
      (await app.request(`/api/runs/${run.id}/calls/${encodeURIComponent(name)}`, { headers: auth })).json();
    expect(await ask(call)).toEqual({
      ...{ run: run.id, call, node: 'a', provider: 'anthropic', model: 'small', outcome: 'cut' },
    });
    expect(await ask('another')).toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  it('[V92] is returned by day, model and directory, from a time on', async () => {
    const { host, app } = stage();
    const run = await host.begin('spends');
    const cheap = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, toolCalls: 0, costMicroUsd: 7, wallMs: 1 };
    await host.store.commit(
      { at, usage: [{ call: '1', model: 'small', ...cheap, at }] },
      { run: run.id, version: 'any' },
    );
    const ask = async (query: string) => (await app.request(`/api/usage${query}`, { headers: auth })).json();
    expect(await ask('')).toMatchObject({ spending: [{ day: '2026-01-02', model: 'small', costMicroUsd: 7 }] });
    expect(await ask('?since=2026-01-03T00:00:00Z')).toMatchObject({ spending: [] });
    expect(await ask('?since=yesterday')).toMatchObject({ code: 'VALIDATION_ERROR' });
  });
});
