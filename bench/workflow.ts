/**
 * Guided workflows over MCP on stdio, on the built program (`npm run build` first), next to their floors, interleaved, one
 * JSON line a figure.
 *
 *   node bench/workflow.ts [part ...] [--dir DIR] [--rounds N]       parts: steps start
 *
 * steps    walks of a workflow of 100 steps: starting, handing in and showing again, next to a tool that only echoes, in a
 *          process of its own on the same transport, and to the floor `append`; and the last ten steps next to the first ten
 * start    from the start of the server to the answer of its first call, next to a bare `node`
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { append as appendFloor } from './floors/floors.mjs';
import { type StdioClient, stdioClient, type ToolAnswer } from './workflow/stdio-client.ts';

const parts = { steps: benchSteps, start: benchStart };
const STEPS = 100;
/** Steps at either end of a walk that are measured. */
const ENDS = 10;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { dir: { type: 'string' }, rounds: { type: 'string', default: '5' } },
});
const rounds = Number(values.rounds);
const root = mkdtempSync(path.join(values.dir ?? tmpdir(), 'signalbox-bench-'));
const repository = path.join(import.meta.dirname, '..');

try {
  const program = installed();
  for (const [name, bench] of Object.entries(parts)) {
    if (positionals.length === 0 || positionals.includes(name)) await bench(program);
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}

type Answer = ToolAnswer['structuredContent'];
type Measured = Record<'start' | 'advance' | 'rehydrate' | 'echo' | 'append', number[]>;

/**
 * Two walks of the same workflow take turns: one begins, one is in its last steps, so that both meet the same machine. The first
 * round warms the servers up and is not counted.
 */
async function benchSteps(program: string): Promise<void> {
  const cwd = projectDirectory();
  const ours = await serverIn(cwd, [program, 'mcp']);
  const echo = await serverIn(cwd, [path.join(import.meta.dirname, 'workflow/echo-server.ts')]);
  const floor = appendFloor(directory());
  const [early, late]: [Measured, Measured] = [nothingYet(), nothingYet()];
  const start = () => timed(() => ours.call('start_workflow', { workflowId: 'project.hundred' }));
  const advance = (answer: Answer) => timed(() => ours.call('continue_workflow', handIn(answer)));
  for (let round = 0; round <= rounds; round++) {
    let far = stepOf((await start()).value);
    for (let step = 0; step < STEPS - ENDS; step++) far = stepOf((await advance(far)).value);
    const started = await start();
    let near = stepOf(started.value);
    const into = (walk: Measured) => (round === 0 ? nothingYet() : walk);
    into(early).start.push(started.ms);
    for (let step = 0; step < ENDS; step++) {
      for (const walk of step % 2 === 0 ? [early, late] : [late, early]) {
        const noted = into(walk);
        const answer = walk === early ? near : far;
        noted.echo.push((await timed(() => echo.call('echo', handIn(answer)))).ms);
        noted.append.push((await timed(floor)).ms);
        const advanced = await advance(answer);
        noted.advance.push(advanced.ms);
        const next = stepOf(advanced.value);
        const { stateToken } = next;
        noted.rehydrate.push((await timed(() => ours.call('continue_workflow', { stateToken }))).ms);
        if (walk === early) near = next;
        else far = next;
      }
    }
    if (far.isComplete !== true) throw new Error('the walk has not ended');
  }
  await Promise.all([ours.close(), echo.close()]);

  const both = (name: keyof Measured) => [...early[name], ...late[name]];
  const p50 = (found: readonly number[]) => round3(quantile(found, 0.5));
  const [echoMs, appendMs, ms] = [p50(both('echo')), p50(both('append')), p50(both('advance'))];
  goal('handing in, more than an echo, next to an append', (ms - echoMs) / appendMs, 'at most', 1.5, {
    ms,
    p95ms: round3(quantile(both('advance'), 0.95)),
    echoMs,
    appendMs,
  });
  for (const name of ['advance', 'rehydrate'] as const) {
    const [first, last] = [p50(early[name]), p50(late[name])];
    goal(`${name}: the last ${ENDS} of ${STEPS} steps next to the first`, last / first, 'at most', 1.2, {
      first,
      last,
    });
  }
  figure('starting', { ms: p50(early.start), echoMs, appendMs });
  figure('showing again', { ms: p50(both('rehydrate')), echoMs });
}

function nothingYet(): Measured {
  return { start: [], advance: [], rehydrate: [], echo: [], append: [] };
}

async function benchStart(program: string): Promise<void> {
  const cwd = projectDirectory();
  const warm = await serverIn(cwd, [program, 'mcp']);
  const { stateToken } = stepOf(await warm.call('start_workflow', { workflowId: 'project.hundred' }));
  await warm.close();
  const bare = path.join(root, 'bare.mjs');
  writeFileSync(bare, 'process.stdin.once(\'data\', () => { process.stdout.write(\'{"id":0,"result":{}}\\n\'); });\n');
  const found: Record<'bare' | 'list' | 'rehydrate', number[]> = { bare: [], list: [], rehydrate: [] };
  const first = async (args: readonly string[], call: (client: StdioClient) => Promise<unknown>) => {
    const begun = performance.now();
    const client = await serverIn(cwd, args);
    await call(client);
    const ms = performance.now() - begun;
    await client.close();
    return ms;
  };
  for (let round = 0; round < 4 * rounds; round++) {
    found.bare.push(await first([bare], async () => undefined));
    found.list.push(await first([program, 'mcp'], client => client.call('list_workflows', {})));
    found.rehydrate.push(
      await first([program, 'mcp'], async client => stepOf(await client.call('continue_workflow', { stateToken }))),
    );
  }
  const ms = (name: keyof typeof found) => round3(quantile(found[name], 0.5));
  for (const [name, bench] of [
    ['rehydrate', 'start of the server to its first step shown'],
    ['list', 'start of the server to its workflows listed'],
  ] as const) {
    const more = { ms: ms(name), floor: 'bare node', floorMs: ms('bare'), unit: 'ms more' };
    goal(bench, ms(name) - ms('bare'), 'at most', 300, more);
  }
}

function handIn(answer: Answer): object {
  const { arguments: given } = answer.nextCall as { readonly arguments: object };
  return {
    ...given,
    output: { notesMarkdown: `What came of it.\n${'It was looked at with care. '.repeat(8)}` },
  };
}

function stepOf({ isError, structuredContent }: ToolAnswer): Answer {
  if (isError || structuredContent.kind === 'blocked') throw new Error(JSON.stringify(structuredContent));
  return structuredContent;
}

/** The program as it is published: a copy has no sources beside it, so that its bin runs what was built. */
function installed(): string {
  const home = directory();
  for (const part of ['bin', 'dist', 'package.json']) {
    cpSync(path.join(repository, 'packages/signalbox', part), path.join(home, part), { recursive: true });
  }
  symlinkSync(path.join(repository, 'node_modules'), path.join(home, 'node_modules'));
  return path.join(home, 'bin/signalbox.js');
}

/** A directory with the workflow of a hundred steps. */
function projectDirectory(): string {
  const cwd = directory();
  const workflows = path.join(cwd, '.signalbox/workflows');
  mkdirSync(workflows, { recursive: true });
  const steps = Array.from({ length: STEPS }, (_, index) => ({
    id: `step-${index}`,
    title: `Step ${index}`,
    prompt: `Do the work of step ${index}. ${'Look at what is there before you change it. '.repeat(10)}`,
  }));
  const workflow = { id: 'project.hundred', name: 'Hundred', description: 'A hundred steps.', version: '1.0.0', steps };
  writeFileSync(path.join(workflows, 'hundred.json'), JSON.stringify(workflow));
  return cwd;
}

function serverIn(cwd: string, args: readonly string[]): Promise<StdioClient> {
  return stdioClient(args, { PATH: process.env.PATH, HOME: cwd, SIGNALBOX_DATA_DIR: path.join(cwd, 'data') }, cwd);
}

function directory(): string {
  return mkdtempSync(path.join(root, 'part-'));
}

async function timed<T>(work: () => T | Promise<T>): Promise<{ readonly value: T; readonly ms: number }> {
  const begun = performance.now();
  const value = await work();
  return { value, ms: performance.now() - begun };
}

function quantile(found: readonly number[], share: number): number {
  const sorted = found.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function figure(bench: string, more: object): void {
  process.stdout.write(`${JSON.stringify({ bench, ...more })}\n`);
}

function goal(bench: string, value: number, kind: 'at most', reach: number, more: object): void {
  const ratio = round3(value);
  figure(bench, { ...more, ratio, [kind]: reach, reached: ratio <= reach });
}

function round3(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
