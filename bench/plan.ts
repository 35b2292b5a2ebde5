/**
 * Plans on the real engine and the real store next to their floors, interleaved, one JSON line a figure.
 *
 *   node bench/plan.ts [part ...] [--dir DIR] [--rounds N]       parts: steps fan-out frame bytes start
 *
 * steps    plans of 1,000 and of 10,000 tasks, one after the other, next to the floor `step`; bare, and with a handler that
 *          writes state as the floor does
 * fan-out  1,000 plans of 5 steps, 50 at a time, next to the floor `batch` with its 32 steps a transaction
 * frame    a tree of 10,000 nodes: the frame after one key changed next to the first frame
 * bytes    what a step takes on disk, and a run in memory, at 10,000 steps next to 1,000
 * start    the built program (`npm run build` first): from its start to the first new step of a run that was killed half way,
 *          and reading commands, next to a bare `node`
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openHome, openSecrets, thisMachine } from '@signalbox/app/runs';
import { nodeHasher } from '@signalbox/journal';
import { createIdSource, type Rng, type RunId } from '@signalbox/model';
import {
  type AnyPlan,
  definePlan,
  Phase,
  type PlanElement,
  type PlanRun,
  runPlan,
  Step,
  Task,
  While,
} from '@signalbox/plan';
import { jsx } from '@signalbox/plan/jsx-runtime';
import { type Commit, type OwnerId, redactingCommit } from '@signalbox/runs';
import { openStore, type Store } from '@signalbox/store';
import * as z from 'zod';
import { batch as batchFloor, step as stepFloor } from './floors/floors.mjs';

const parts = { steps: benchSteps, 'fan-out': benchFanOut, frame: benchFrame, bytes: benchBytes, start: benchStart };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { dir: { type: 'string' }, rounds: { type: 'string', default: '5' } },
});
const rounds = Number(values.rounds);
const root = mkdtempSync(path.join(values.dir ?? tmpdir(), 'signalbox-bench-'));
const clock = { now: () => Date.now() };
/** What a developer's shell holds. */
const env = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`KEY_${n}_TOKEN`, randomUUID()]));
const { filter: secrets } = openSecrets({ dataDirectory: root, env });
const rng = randomBlocks();
const ids = createIdSource(clock, rng);
const timers = {
  after(ms: number, run: () => void) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

try {
  for (const [name, bench] of Object.entries(parts)) {
    if (positionals.length === 0 || positionals.includes(name)) await bench();
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}

/** A step of the floor goes before each commit, so that both meet the same machine; its time is not the plan's. */
async function benchSteps(): Promise<void> {
  for (const [name, plan] of [
    ['bare', bareTasks],
    ['writing state', writingTasks],
  ] as const) {
    await runOnce(plan(1_000));
    const [few, many]: [Steps[], Steps[]] = [[], []];
    for (let round = 0; round < rounds; round++) few.push(await timedSteps(plan(1_000)));
    for (let round = 0; round < Math.ceil(rounds / 2); round++) many.push(await timedSteps(plan(10_000)));
    const perStep = (found: readonly Steps[]) => ({
      ms: quantile(
        found.flatMap(({ own }) => own),
        0.5,
      ),
      floorMs: quantile(
        found.flatMap(({ floor }) => floor),
        0.5,
      ),
    });
    const [short, long] = [perStep(few), perStep(many)];
    for (const [steps, { ms, floorMs }] of [
      ['1,000', short],
      ['10,000', long],
    ] as const) {
      const line = { p50ms: round3(ms), floor: 'step', floorP50ms: round3(floorMs) };
      goal(`${steps} steps, ${name}`, floorMs / ms, 'at least', 0.5, line);
    }
    const scaled = short.ms / short.floorMs / (long.ms / long.floorMs);
    goal(`10,000 steps next to 1,000, ${name}`, scaled, 'at least', 0.9);
  }
}

interface Steps {
  readonly own: number[];
  readonly floor: number[];
}

/** What each step took: what the engine did since the last commit, and its own. */
async function timedSteps(plan: AnyPlan): Promise<Steps> {
  const store = opened(directory());
  const floor = stepFloor(directory());
  const steps: Steps = { own: [], floor: [] };
  let since: number | undefined;
  const commit: Commit = {
    async commit(writes, guard) {
      const called = performance.now();
      floor();
      const begun = performance.now();
      const committed = await store.commit(writes, guard);
      const ended = performance.now();
      steps.floor.push(begun - called);
      // The first frame is not a step: it is there before any of them.
      if (since !== undefined) steps.own.push(called - since + (ended - begun));
      since = ended;
      return committed;
    },
  };
  await finished(start(store, plan, commit));
  store.close();
  return steps;
}

/** As they really run: the engine in threads, the store in the thread that owns it. */
async function benchFanOut(): Promise<void> {
  const perStep: { floor: number[]; runs: number[] } = { floor: [], runs: [] };
  const floor = batchFloor(directory());
  const place = directory();
  const file = path.join(place, 'plan.tsx');
  writeFileSync(file, fanOutPlan());
  const home = await openHome({ dataDirectory: path.join(place, 'data'), machine: thisMachine(), env: {} });
  if (!home.ok) throw new Error(home.error.message);
  const { host } = home.value;
  const runAll = async (runs: number) => {
    let left = runs;
    const worker = async () => {
      while (left-- > 0) {
        const started = await host.start({ file, anyFile: true, input: {} });
        if (!started.ok) throw new Error(started.error.message);
        await host.finished(started.value);
      }
    };
    await Promise.all(Array.from({ length: 50 }, worker));
  };
  await runAll(100);
  for (let round = 0; round < rounds; round++) {
    perStep.floor.push((await timed(() => times(100, floor))) / (100 * 32));
    perStep.runs.push((await timed(() => runAll(1_000))) / 5_000);
  }
  await home.value.close();
  const [perSec, floorPerSec] = [rate(perStep.runs), rate(perStep.floor)];
  goal('1,000 plans of 5 steps, 50 at a time', perSec / floorPerSec, 'at least', 0.2, {
    perSec,
    floor: 'batch x 32',
    floorPerSec,
  });
}

/** As `writingTasks`, for a thread to load. */
function fanOutPlan(): string {
  return `
import { definePlan, Phase, Step, Task } from 'signalbox';
import * as z from 'zod';
const keys = Array.from({ length: 50 }, (_, n) => 'k' + n);
export default definePlan({
  name: 'writing',
  state: z.object(Object.fromEntries(keys.map(key => [key, z.string().optional()]))),
  render: ctx => (
    <Phase name="all">
      {[0, 1, 2, 3, 4].map(n => (
        <Step key={String(n)}>
          <Task id={'n' + n} run={() => 'x'.repeat(200)} onFinished={() => ctx.state.set(keys[n], n + 'x'.repeat(90))} />
        </Step>
      ))}
    </Phase>
  ),
});
`;
}

/** One of 100 components reads the key; tasks of a first phase change it, those of the others wait. */
async function benchFrame(): Promise<void> {
  const changes = 30;
  const [full, changed]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    let since = performance.now();
    const Group = ({ number, ctx }: { number: number; ctx: { state: { get(key: 'n'): number } } }) =>
      el(
        Phase,
        { name: `group ${number}` },
        Array.from({ length: 98 }, (_, index) =>
          el(Task, { input: number === 0 && index === 0 ? ctx.state.get('n') : 0, run: () => 0 }, undefined, index),
        ),
      );
    const plan = definePlan({
      name: 'frame',
      state: z.object({ n: z.number().default(0) }),
      render: ctx => [
        el(
          Phase,
          { name: 'changes' },
          Array.from({ length: changes }, (_, index) =>
            stepOf(
              {
                run() {
                  since = performance.now();
                  return index;
                },
                onFinished: () => ctx.state.set('n', index + 1),
              },
              index,
            ),
          ),
          'changes',
        ),
        ...Array.from({ length: 100 }, (_, number) => el(Group, { number, ctx }, undefined, `group ${number}`)),
      ],
    });
    const store = opened(directory());
    const commit: Commit = {
      commit(writes, guard) {
        if (writes.frame !== undefined) (writes.frame.index === 0 ? full : changed).push(performance.now() - since);
        if (writes.frame?.index === changes) driven.pause();
        return store.commit(writes, guard);
      },
    };
    const driven = start(store, plan, commit);
    const end = await driven.finished;
    if (end.status !== 'paused') throw new Error(`the run was not paused: ${JSON.stringify(end)}`);
    store.close();
  }
  const [ms, fullMs] = [quantile(changed, 0.5), quantile(full, 0.5)];
  goal('frame after one key of 10,000 nodes changed', ms / fullMs, 'at most', 0.1, {
    ms: round3(ms),
    fullMs: round3(fullMs),
  });
}

async function benchBytes(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const shapes = { siblings: writingTasks, iterations, 'growing state': growingState };
  for (const [shape, plan] of Object.entries(shapes)) {
    const measured = [];
    for (const steps of [1_000, 10_000]) {
      const home = directory();
      opened(home).close();
      const empty = bytesOf(home);
      const store = opened(home);
      collect();
      const heapBefore = process.memoryUsage().heapUsed;
      let heap = 0;
      const commit: Commit = {
        commit(writes, guard) {
          if (writes.run?.kind === 'change' && writes.run.change.status === 'completed') {
            collect();
            heap = process.memoryUsage().heapUsed - heapBefore;
          }
          return store.commit(writes, guard);
        },
      };
      await start(store, plan(steps), commit).finished;
      store.close();
      measured.push({ perStep: Math.round((bytesOf(home) - empty) / steps), heapMb: round3(heap / 2 ** 20) });
    }
    const [few, many] = measured;
    if (few === undefined || many === undefined) throw new Error('nothing was measured');
    goal(`bytes per step, 10,000 next to 1,000: ${shape}`, many.perStep / few.perStep, 'at most', 1.2, {
      bytesPerStep: many.perStep,
      heapMbAt1000: few.heapMb,
      heapMbAt10000: many.heapMb,
    });
  }
}

/** The program as it is published: a copy has no sources beside it, so that its bin runs what was built. */
async function benchStart(): Promise<void> {
  const repository = path.join(import.meta.dirname, '..');
  const home = directory();
  for (const part of ['bin', 'dist', 'package.json']) {
    cpSync(path.join(repository, 'packages/signalbox', part), path.join(home, part), { recursive: true });
  }
  symlinkSync(path.join(repository, 'node_modules'), path.join(home, 'node_modules'));
  const program = path.join(home, 'bin/signalbox.js');
  const [plan, bare, mark] = ['plan.tsx', 'bare.mjs', 'mark'].map(name => path.join(home, name)) as [
    string,
    string,
    string,
  ];
  const data = ['--data-dir', path.join(home, 'data'), '--json'];
  writeFileSync(
    bare,
    markScript('writeFileSync(process.env.MARK, String(performance.timeOrigin + performance.now()));'),
  );
  writeFileSync(plan, halfDonePlan());
  await exitOf([program, 'run', plan, ...data], { MARK: mark, DIE_AFTER: '500' });
  const listed = await exitOf([program, 'ls', ...data], {});
  const id = String(JSON.parse(listed.stdout.split('\n')[0] ?? '{}').id);
  const found: Record<'bare' | 'resume' | 'bareEnd' | 'ls' | 'show', number[]> = {
    bare: [],
    resume: [],
    bareEnd: [],
    ls: [],
    show: [],
  };
  for (let round = 0; round < 4 * rounds; round++) {
    found.bare.push(await untilMark(mark, [bare], {}));
    found.resume.push(await untilMark(mark, [program, 'resume', id, ...data], { DIE_AFTER: '1' }));
    found.bareEnd.push((await exitOf([bare], { MARK: mark })).ms);
    found.ls.push((await exitOf([program, 'ls', ...data], {})).ms);
    found.show.push((await exitOf([program, 'show', id, ...data], {})).ms);
  }
  const ms = (name: keyof typeof found) => round3(quantile(found[name], 0.5));
  const more = (name: 'resume' | 'ls' | 'show', than: 'bare' | 'bareEnd', most: number, bench: string) =>
    goal(bench, ms(name) - ms(than), 'at most', most, {
      ms: ms(name),
      floor: 'bare node',
      floorMs: ms(than),
      unit: 'ms more',
    });
  more('resume', 'bare', 200, 'resume of a half-done run of 1,000 steps, start to first new step');
  more('ls', 'bareEnd', 150, 'ls, start to end');
  more('show', 'bareEnd', 150, 'show of a run of 1,000 steps, start to end');
}

function markScript(then: string): string {
  return `import { writeFileSync } from 'node:fs';\nimport { performance } from 'node:perf_hooks';\n${then}\n`;
}

/** A plan that notes when its first task in this process ran, and kills the process some tasks later. */
function halfDonePlan(): string {
  return markScript(`
import { definePlan, Phase, Step, Task } from 'signalbox';
let done = 0;
const work = () => {
  if (done === 0) writeFileSync(process.env.MARK, String(performance.timeOrigin + performance.now()));
  if (done++ === Number(process.env.DIE_AFTER)) process.kill(process.pid, 'SIGKILL');
};
export default definePlan({
  name: 'half',
  render: () => <Phase name="all">{Array.from({ length: 1000 }, (_, n) => <Step key={n}><Task run={work} /></Step>)}</Phase>,
});`);
}

async function untilMark(mark: string, args: readonly string[], env: object): Promise<number> {
  rmSync(mark, { force: true });
  const started = performance.timeOrigin + performance.now();
  await exitOf(args, { MARK: mark, ...env });
  return Number(readFileSync(mark, 'utf8')) - started;
}

function exitOf(args: readonly string[], env: object): Promise<{ readonly stdout: string; readonly ms: number }> {
  const started = performance.now();
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  let stdout = '';
  child.stdout.on('data', chunk => {
    stdout += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve({ stdout, ms: performance.now() - started }));
  });
}

function bareTasks(steps: number): AnyPlan {
  const tasks = Array.from({ length: steps }, (_, n) => stepOf({ id: `n${n}`, run: () => n }, n));
  return definePlan({ name: 'bare', render: () => el(Phase, { name: 'all' }, tasks) });
}

function pad(length: number): string {
  return 'x'.repeat(length);
}

/** As the floor: a result of some 200 bytes, and 100 bytes of state in one of 50 keys. */
function writingTasks(steps: number): AnyPlan {
  const keys = Array.from({ length: 50 }, (_, n) => `k${n}`);
  return definePlan({
    name: 'writing',
    state: z.object(Object.fromEntries(keys.map(key => [key, z.string().optional()]))),
    render: ctx =>
      el(
        Phase,
        { name: 'all' },
        Array.from({ length: steps }, (_, n) =>
          stepOf(
            {
              id: `n${n}`,
              run: () => ({ n, pad: pad(100) }),
              onFinished: () => ctx.state.set(`k${n % 50}`, `${n} ${pad(90)}`),
            },
            n,
          ),
        ),
      ),
  });
}

function iterations(steps: number): AnyPlan {
  return definePlan({
    name: 'iterations',
    state: z.object({ n: z.number().default(0) }),
    render: ctx =>
      el(
        While,
        { condition: () => ctx.state.get('n') < steps, maxIterations: steps },
        el(Task, { run: () => pad(100), onFinished: () => ctx.state.update('n', n => n + 1) }),
      ),
  });
}

function growingState(steps: number): AnyPlan {
  return definePlan({
    name: 'growing',
    state: z.object({ n: z.number().default(0), log: z.array(z.string()).default([]) }),
    render: ctx =>
      el(
        While,
        { condition: () => ctx.state.get('n') < steps, maxIterations: steps },
        el(Task, {
          run: () => 0,
          onFinished() {
            ctx.state.update('n', n => n + 1);
            ctx.state.update('log', log => [...log, pad(197)]);
          },
        }),
      ),
  });
}

/** A step of its own: steps run one after the other. */
function stepOf(task: object, key: number): PlanElement {
  return el(Step, {}, el(Task, task), key);
}

/** Taken from the system in blocks, as the program does. */
function randomBlocks(): Rng {
  let [block, used] = [new Uint8Array(0), 0];
  return {
    bytes(length) {
      if (used + length > block.length) [block, used] = [crypto.getRandomValues(new Uint8Array(4096)), 0];
      used += length;
      return block.slice(used - length, used);
    },
  };
}

function el(type: unknown, props: object, children?: unknown, key?: unknown): PlanElement {
  return jsx(type as Parameters<typeof jsx>[0], { ...props, ...(children === undefined ? {} : { children }) }, key);
}

async function runOnce(plan: AnyPlan): Promise<void> {
  const store = opened(directory());
  await run(store, plan);
  store.close();
}

async function run(store: Store, plan: AnyPlan): Promise<void> {
  await finished(start(store, plan, store));
}

async function finished(driven: PlanRun): Promise<void> {
  const end = await driven.finished;
  if (end.status !== 'completed') throw new Error(`the run has not completed: ${JSON.stringify(end)}`);
}

function start(store: Store, plan: AnyPlan, commit: Commit): PlanRun {
  return runPlan({
    plan,
    run: ids.mint<RunId>(),
    create: { name: plan.name, tags: [], mode: 'AUTO', globalMode: 'IMPLEMENTATION', input: null, limits: {}, seed: 7 },
    owner: 'bench' as OwnerId,
    commit,
    reader: store,
    executor: { execute: async () => ({ kind: 'done', output: null }) },
    clock,
    timers,
    ids,
    rng,
    secrets,
  });
}

/** Commits are filtered as the owner of a data directory filters them. */
function opened(home: string): Store {
  const store = openStore({ path: path.join(home, 'db.sqlite') });
  if (!store.ok) throw new Error(store.error.message);
  return { ...store.value, ...redactingCommit(store.value, secrets, nodeHasher) };
}

function bytesOf(home: string): number {
  return statSync(path.join(home, 'db.sqlite')).size;
}

function directory(): string {
  return mkdtempSync(path.join(root, 'part-'));
}

function times(count: number, work: () => unknown): void {
  for (let index = 0; index < count; index++) work();
}

async function timed(work: () => unknown): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** What is done in a second, from the milliseconds that one takes in each round. */
function rate(perStep: readonly number[]): number {
  return Math.round(1_000 / quantile(perStep, 0.5));
}

function quantile(found: readonly number[], share: number): number {
  const sorted = found.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function goal(bench: string, value: number, kind: 'at least' | 'at most', reach: number, more: object = {}): void {
  const rounded = round3(value);
  const reached = kind === 'at least' ? rounded >= reach : rounded <= reach;
  process.stdout.write(`${JSON.stringify({ bench, ...more, ratio: rounded, [kind]: reach, reached })}\n`);
}

function round3(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
