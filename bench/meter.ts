// The gateway to models, next to a bare proxy of node:http and to no proxy. Provider and client are processes of their own.
// node bench/meter.ts [--rounds 5] [--calls 40] [--dir DIR]    prints JSON lines.
//
// `firstByte`: milliseconds from the request to the first byte of the body, less those of the bare proxy and one commit of the same store.
// `throughput`: bytes a second of a stream of 40,000 events, as a fraction of the bare proxy's.
// `delay`: p99 of the event loop's delay in the gateway's process while 50 streams flow.
import { type ChildProcess, fork } from 'node:child_process';
import * as fs from 'node:fs';
import { Agent, createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as os from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { AGENT_ROWS } from '@signalbox/adapters/acp';
import { type RunId, timestampOf } from '@signalbox/model';
import { nodeKey, taskIdOf } from '@signalbox/runs';
import { createMeterServer } from '@signalbox/server';
import { openAgentSession } from '../packages/app/src/agents/agent-session.ts';
import { createActivity } from '../packages/app/src/agents/host-activity.ts';
import { createRateLimitDesk } from '../packages/app/src/agents/rate-limit-desk.ts';
import { createDecisionDesk } from '../packages/app/src/decisions/decision-desk.ts';
import { openOwnedStore } from '../packages/app/src/host/owned-store.ts';
import { createRunBudget } from '../packages/app/src/host/run-budget.ts';
import { draftEvent } from '../packages/app/src/host/run-events.ts';
import { thisMachine } from '../packages/app/src/machine.ts';
import { createMeter } from '../packages/app/src/meter/meter.ts';
import { createReservations } from '../packages/app/src/meter/reservations.ts';
import { newRun, startRun } from '../packages/runs/test/builders.ts';
import { figure, goal, median, paired, quantile, timed } from './figures.ts';

interface Job {
  readonly target: string;
  readonly key: string;
  readonly calls: number;
  readonly parallel: number;
  readonly events: number;
}

interface Measured {
  readonly firstByteMs: readonly number[];
  readonly bytes: number;
  readonly ms: number;
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    calls: { type: 'string', default: '40' },
    dir: { type: 'string', default: os.tmpdir() },
    role: { type: 'string' },
  },
});

if (values.role === 'provider') await provide();
else if (values.role === 'client') measureForParent();
else await bench();

/** A provider that streams as many events as the path says, each written by itself. */
async function provide(): Promise<void> {
  const delta = `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a word ' } })}\n\n`;
  const start = `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message: { model: 'm', usage: { input_tokens: 9, output_tokens: 1 } } })}\n\n`;
  const end = `event: message_delta\ndata: ${JSON.stringify({ type: 'message_delta', usage: { output_tokens: 9 } })}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n`;
  async function stream(response: ServerResponse, events: number): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(start);
    for (let sent = 0; sent < events; sent++)
      if (!response.write(delta)) await new Promise(resolve => response.once('drain', resolve));
    response.end(end);
  }
  const server = createServer((asked, response) => {
    const events = Number(new URL(asked.url ?? '/', 'http://x').searchParams.get('events'));
    asked.resume().once('end', () => void stream(response, events));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

function measureForParent(): void {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const body = JSON.stringify({
    model: 'claude-sonnet-5-5',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'x'.repeat(60_000) }],
  });
  const call = ({ target, key, events }: Job) =>
    new Promise<{ readonly firstByteMs: number; readonly bytes: number }>((resolve, reject) => {
      const begun = performance.now();
      const headers = {
        'x-api-key': key,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      };
      const asked = request(`${target}/v1/messages?events=${events}`, { method: 'POST', agent, headers }, answer => {
        let firstByteMs = 0;
        let bytes = 0;
        answer.on('data', (part: Buffer) => {
          if (bytes === 0) firstByteMs = performance.now() - begun;
          bytes += part.length;
        });
        answer.once('error', reject);
        answer.once('end', () => {
          if (answer.statusCode === 200) resolve({ firstByteMs, bytes });
          else reject(new Error(`status ${answer.statusCode}`));
        });
      });
      asked.once('error', reject);
      asked.end(body);
    });
  process.on('message', async (job: Job) => {
    const begun = performance.now();
    const done: { readonly firstByteMs: number; readonly bytes: number }[] = [];
    let left = job.calls;
    const worker = async () => {
      while (left-- > 0) done.push(await call(job));
    };
    await Promise.all(Array.from({ length: job.parallel }, worker));
    const bytes = done.reduce((sum, one) => sum + one.bytes, 0);
    process.send?.({
      firstByteMs: done.map(one => one.firstByteMs),
      bytes,
      ms: performance.now() - begun,
    } satisfies Measured);
  });
}

async function bench(): Promise<void> {
  const [rounds, calls] = [Number(values.rounds), Number(values.calls)];
  const place = fs.mkdtempSync(path.join(values.dir, 'meter-'));
  const children: ChildProcess[] = [];
  const child = (role: string) => {
    const started = fork(import.meta.filename, ['--role', role]);
    children.push(started);
    return started;
  };
  try {
    const provider = await told<string>(child('provider'));
    const client = child('client');
    const bare = await bareProxy(provider);
    const meter = await openMeter(place, provider);
    const run = async (job: Job): Promise<Measured> => {
      const done = told<Measured>(client);
      client.send(job);
      return done;
    };
    const targets = { none: { target: provider, key: 'k' }, bare: { target: bare, key: 'k' }, meter };
    for (const to of Object.values(targets)) await run({ ...to, calls: 10, parallel: 2, events: 10 });

    const first: Record<keyof typeof targets, number[]> = { none: [], bare: [], meter: [] };
    const speed: Record<keyof typeof targets, number[]> = { none: [], bare: [], meter: [] };
    const commits: number[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const name of ['none', 'bare', 'meter'] as const) {
        const short = await run({ ...targets[name], calls, parallel: 1, events: 20 });
        first[name].push(median(short.firstByteMs));
        const long = await run({ ...targets[name], calls: 2, parallel: 1, events: 40_000 });
        speed[name].push(long.bytes / long.ms / 1_000);
      }
      commits.push(
        median(await Promise.all(Array.from({ length: 1 }, () => meter.commitMs(20))).then(all => all.flat())),
      );
    }
    const base = paired(first.bare, commits, (one, other) => one + other);
    const more = {
      noneMs: median(first.none),
      bareMs: median(first.bare),
      meterMs: median(first.meter),
      commitMs: median(commits),
    };
    goal(
      'meter first byte, of bare proxy and one commit',
      paired(first.meter, base, (one, other) => one / other),
      'at most',
      1,
      more,
    );
    const rates = { noneMBs: median(speed.none), bareMBs: median(speed.bare), meterMBs: median(speed.meter) };
    goal(
      'meter throughput, of bare proxy',
      paired(speed.meter, speed.bare, (one, other) => one / other),
      'at least',
      0.9,
      rates,
    );

    for (const name of ['bare', 'meter'] as const) {
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      const many = await run({ ...targets[name], calls: 100, parallel: 50, events: 2_000 });
      delay.disable();
      // The monitor's own timer is part of what it measures.
      const p99 = delay.percentile(99) / 1e6;
      const shown = {
        p50Ms: delay.percentile(50) / 1e6,
        firstByteP99Ms: quantile(many.firstByteMs, 0.99),
        MBs: many.bytes / many.ms / 1_000,
      };
      if (name === 'meter') goal('meter, 50 streams, p99 event loop delay ms', [p99], 'at most', 50, shown);
      else figure('bare proxy, 50 streams', { p99Ms: p99, ...shown });
    }
    await meter.close();
  } finally {
    for (const one of children) one.kill();
    fs.rmSync(place, { recursive: true, force: true });
  }
  process.exit(0);
}

function told<T>(from: ChildProcess): Promise<T> {
  return new Promise<T>(resolve => from.once('message', message => resolve(message as T)));
}

async function bareProxy(provider: string): Promise<string> {
  const agent = new Agent({ keepAlive: true });
  const server = createServer((asked, response) => {
    const outgoing = request(`${provider}${asked.url}`, { method: 'POST', agent, headers: asked.headers }, answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    asked.pipe(outgoing);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The meter of one attempt, on a store on disk and with a limit. */
async function openMeter(place: string, provider: string) {
  const machine = thisMachine();
  const owned = openOwnedStore(path.join(place, 'data'), machine, {});
  if (!owned.ok) throw new Error(owned.error.message);
  const { store } = owned.value;
  const limits = { maxTotalTokens: 1_000_000_000 };
  const run = machine.ids.mint<RunId>();
  const commit: typeof store.commit = (given, guard) =>
    store.commit({ ...given, at: timestampOf(machine.clock) }, guard);
  await startRun({ commit }, newRun({ name: 'bench', limits }), run);
  const [node, task] = [nodeKey.parse('agent'), taskIdOf(run, nodeKey.parse('agent'), 0, 'bench')];
  const reservations = createReservations();
  const budget = createRunBudget({ reader: store, clock: machine.clock });
  const assignment = {
    ...({
      run,
      node,
      task,
      iteration: 0,
      attempt: 1,
      vendor: 'claude',
      prompt: '',
      permissions: 'skip',
      maxTurns: 1,
    } as const),
    ...({ resume: 'continue', directory: place, planDirectory: place } as const),
  };
  const session = await openAgentSession(
    {
      ...{ commit: store, reader: store, machine, activity: createActivity(), progress: () => undefined },
      decisions: createDecisionDesk({ commit: store, reader: store, machine }),
      rateLimits: createRateLimitDesk(machine, { maxConcurrent: 100 }),
      verdict: () => budget.verdict(run),
      room: (wanted, signal) => reservations.reserve(() => budget.path(run), wanted, signal),
    },
    assignment,
    new AbortController().signal,
  );
  const meter = createMeter({ edge: createMeterServer(), machine, log: () => undefined });
  const row = AGENT_ROWS.find(({ id }) => id === 'claude');
  if (row === undefined) throw new Error('there is no row of Claude Code');
  const env = { ANTHROPIC_API_KEY: 'real', ANTHROPIC_BASE_URL: provider };
  const turn = await meter.open({ row, assignment, session, env, limited: { tokens: true, cost: false } });
  const { ANTHROPIC_API_KEY: key = '' } = turn?.keys ?? {};
  const { ANTHROPIC_BASE_URL: target = '' } = turn?.settings ?? {};
  return {
    ...{ target, key },
    async commitMs(count: number): Promise<readonly number[]> {
      const found: number[] = [];
      for (let at = 0; at < count; at++)
        found.push(
          await timed(() =>
            commit(
              {
                at: timestampOf(machine.clock),
                events: [draftEvent(machine, 'run.kept', { kept: true, by: 'bench' })],
              },
              { run, version: 'any' },
            ),
          ),
        );
      return found;
    },
    async close() {
      await turn?.close();
      await meter.close();
      owned.value.close();
    },
  };
}
