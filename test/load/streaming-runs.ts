import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { type Client, createClient } from '@signalbox/client';
import type { RunId, WireStoredEvent } from '@signalbox/model';
import { hasRunEnded } from '@signalbox/runs';
import { type ModelServer, startModelServer } from '@signalbox/testkit';
import { programEntry } from '../../scripts/staleness.ts';
import { given } from '../given.ts';
import { type Heard, type Subscriber, subscriber } from './subscriber.ts';

export interface Load {
  readonly runs: number;
  /** Clients, each of which watches every run. */
  readonly subscribers: number;
  /** How often the agent of a run is asked, and how often it looks around meanwhile. */
  readonly turns: number;
  /** Between two looks around, in ms. */
  readonly lookMs: number;
  /** Awaited before each word of a model. */
  readonly pace: () => Promise<void>;
  /** Awaited while every client listens: before a model says a word, and while the models speak. */
  readonly probe?: (client: Client, when: 'silent' | 'streaming') => Promise<void>;
}

export interface LoadReport {
  readonly events: number;
  readonly messages: number;
  readonly seconds: number;
  /** Events that a client did not receive, or received differently from how they are stored. */
  readonly faults: readonly string[];
  /** How late the event loop of the server was, in ms. */
  readonly loopDelay: { readonly p50: number; readonly p99: number; readonly max: number };
}

const program = programEntry();
const loopDelay = fileURLToPath(new URL('loop-delay.ts', import.meta.url));
const WORDS = Array.from({ length: 40 }, (_, index) => `word ${index}, `);

const PLAN = `
import { Agent, definePlan, Parallel, Task, While } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'load',
  input: z.object({ turns: z.number(), lookMs: z.number() }),
  state: z.object({ said: z.number().default(0), looks: z.number().default(0) }),
  render: ctx => (
    <Parallel>
      <While id="saying" condition={ctx.state.get('said') < ctx.input.turns} maxIterations={ctx.input.turns}>
        {() => <Agent id="say" model="openai-chat:load" prompt="Say it." onFinished={() => ctx.state.update('said', said => said + 1)} />}
      </While>
      <While id="looking" condition={ctx.state.get('looks') < ctx.input.turns} maxIterations={ctx.input.turns}>
        {() => (
          <Task
            id="look"
            run={() => new Promise<void>(resolve => setTimeout(resolve, ctx.input.lookMs))}
            onFinished={() => ctx.state.update('looks', looks => looks + 1)}
          />
        )}
      </While>
    </Parallel>
  ),
});
`;

/** Runs that stream while clients listen: a real server in a process of its own, agents on a model behind a real SDK. */
export async function streamRuns(load: Load): Promise<LoadReport> {
  const folder = mkdtempSync(path.join(tmpdir(), 'signalbox-load-'));
  const { promise: everybodyListens, resolve: begin } = Promise.withResolvers<void>();
  const pace = () => everybodyListens.then(load.pace);
  const model = await startModelServer(() => ({ text: WORDS }), { maxCalls: load.runs * load.turns, pace });
  const serving = await serve(folder, model);
  const listeners: Subscriber[] = [];
  try {
    const { url, token, client } = serving;
    while (listeners.length < load.subscribers) listeners.push(await subscriber(url, token));
    const file = path.join(folder, 'load.tsx');
    writeFileSync(file, PLAN);
    const input = { turns: load.turns, lookMs: load.lookMs };
    const runs: RunId[] = [];
    while (runs.length < load.runs) {
      const { id } = given(await client.start({ file, anyFile: true, input }));
      runs.push(id);
      for (const listener of listeners) listener.watch(id);
    }
    const all = (holds: (heard: Heard) => boolean) =>
      Promise.all(listeners.map(one => one.until(() => [...one.heard.values()].every(holds))));
    await all(({ status }) => status !== '');
    await load.probe?.(client, 'silent');
    serving.measure();
    const from = performance.now();
    begin();
    await load.probe?.(client, 'streaming');
    await all(({ status, events }) => hasRunEnded(status as 'completed') && isWhole(events));
    const seconds = (performance.now() - from) / 1000;
    const stored = await Promise.all(runs.map(run => historyOf(client, run)));
    // The last output arrives after the end.
    await Promise.all(
      listeners.map(one => one.until(() => stored.every(history => isHeard(history, one.heard.get(history.run))))),
    );
    const told = listeners.flatMap((one, index) =>
      stored.flatMap(history =>
        faultsOf(history, one.heard.get(history.run)).map(fault => `client ${index}: ${fault}`),
      ),
    );
    for (const one of listeners) one.close();
    return {
      events: stored.reduce((sum, { events }) => sum + events.length, 0),
      messages: listeners.reduce((sum, { messages }) => sum + messages, 0),
      seconds,
      faults: [
        ...stored.flatMap(({ run, status }) => (status === 'completed' ? [] : [`${run} is ${status}`])),
        ...told,
      ],
      loopDelay: await serving.end(),
    };
  } finally {
    for (const one of listeners) one.close();
    serving.kill();
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function serve(folder: string, model: ModelServer) {
  const report = path.join(folder, 'loop-delay.json');
  const args = [
    '--import',
    loopDelay,
    program,
    'serve',
    '--port',
    '0',
    '--json',
    '--data-dir',
    path.join(folder, 'data'),
  ];
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(process.execPath, args, {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH,
      NODE_COMPILE_CACHE,
      HOME: folder,
      LOOP_DELAY_FILE: report,
      OPENAI_API_KEY: 'none',
      OPENAI_BASE_URL: `${model.url}/v1`,
    },
  });
  const ended = once(child, 'close');
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line') as Promise<[string]>, ended]);
  if (typeof line !== 'string') throw new Error(`the server ended before it listened: ${line}`);
  const { url, page } = JSON.parse(line) as { readonly url: string; readonly page: string };
  const token = page.split('#token=')[1] ?? '';
  return {
    url,
    token,
    client: createClient({ url, token }),
    /** From here on the delay of its event loop counts. */
    measure: () => void child.kill('SIGUSR2'),
    async end(): Promise<LoadReport['loopDelay']> {
      child.kill('SIGTERM');
      await ended;
      return JSON.parse(readFileSync(report, 'utf8')) as LoadReport['loopDelay'];
    },
    kill() {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, 'SIGKILL');
    },
  };
}

interface History {
  readonly run: RunId;
  readonly status: string;
  readonly events: readonly WireStoredEvent[];
  readonly said: ReadonlyMap<string, string>;
}

/** The stored events and output of a run. */
async function historyOf(client: Client, run: RunId): Promise<History> {
  const events: WireStoredEvent[] = [];
  for (;;) {
    const page = given(await client.events(run, { from: events.length }));
    events.push(...page.events);
    if (page.events.length === 0) break;
  }
  const { tasks } = given(await client.tasks(run));
  const said = new Map<string, string>();
  for (const { id } of tasks) {
    const { chunks } = given(await client.stream(run, id));
    const words = chunks.filter(({ kind }) => kind === 'token').map(({ payload }) => String(payload));
    if (words.length > 0) said.set(id, words.join(''));
  }
  return { run, status: given(await client.run(run)).record.status, events, said };
}

function faultsOf({ run, events, said }: History, heard: Heard | undefined): readonly string[] {
  if (heard === undefined) return [`was told nothing of ${run}`];
  const faults: string[] = [];
  if (!isDeepStrictEqual(heard.events, events)) {
    faults.push(`was told ${heard.events.length} events of ${run}, and ${events.length} are stored`);
  }
  if (heard.dropped > 0) faults.push(`was not told ${heard.dropped} parts of what ${run} said`);
  for (const [task, text] of said) {
    if (heard.said.get(task) !== text) faults.push(`was told otherwise what task ${task} of ${run} said`);
  }
  return faults;
}

/** Whether as much was told as was said. */
function isHeard({ said }: History, heard: Heard | undefined): boolean {
  if (heard === undefined || heard.dropped > 0) return true;
  return [...said].every(([task, text]) => (heard.said.get(task) ?? '').length >= text.length);
}

/** Whether the event that ended the run is there. */
function isWhole(events: readonly WireStoredEvent[]): boolean {
  const last = events.findLast(({ event }) => event.type === 'run.status');
  return last?.event.type === 'run.status' && hasRunEnded(last.event.to as 'completed');
}
