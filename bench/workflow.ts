/**
 * Guided workflows over MCP on stdio, on the built program (`npm run build` first), next to their floors, interleaved, one
 * JSON line a figure.
 *
 *   node bench/workflow.ts [--dir DIR] [--rounds N]
 *
 * Walks of a workflow of 100 steps: starting, handing in and showing again, next to a tool that only echoes, in a process of its
 * own on the same transport, and to the floor `append`; and the last ten steps next to the first ten. And what a model reads: the
 * bytes of the tools, and of the answers of steps. The start of the server is measured by `bench/program.ts`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { figure, goal, quantile, round3 } from './figures.ts';
import { append as appendFloor } from './floors/floors.mjs';
import { installed } from './program/installed.ts';
import { hundredSteps, STEPS, serverIn } from './workflow/hundred-steps.ts';
import type { ToolAnswer } from './workflow/stdio-client.ts';

/** Steps at either end of a walk that are measured. */
const ENDS = 10;

const { values } = parseArgs({
  options: { dir: { type: 'string' }, rounds: { type: 'string', default: '5' } },
});
const rounds = Number(values.rounds);
const root = mkdtempSync(path.join(values.dir ?? tmpdir(), 'signalbox-bench-'));

try {
  await benchSteps(installed(root));
} finally {
  rmSync(root, { recursive: true, force: true });
}

type Answer = ToolAnswer['structuredContent'];
type Measured = Record<'start' | 'advance' | 'rehydrate' | 'echo' | 'append', number[]>;
type Said = Record<'advance' | 'rehydrate', ToolAnswer>;

/**
 * Two walks of the same workflow take turns: one begins, one is in its last steps, so that both meet the same machine. The first
 * round warms the servers up and is not counted.
 */
async function benchSteps(program: string): Promise<void> {
  const cwd = directory();
  hundredSteps(cwd);
  const ours = await serverIn(cwd, [program, 'mcp']);
  const echo = await serverIn(cwd, [path.join(import.meta.dirname, 'workflow/echo-server.ts')]);
  const floor = appendFloor(directory());
  const [early, late]: [Measured, Measured] = [nothingYet(), nothingYet()];
  const tools = bytesOf(await ours.tools());
  let said: Partial<Said> = {};
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
        const shown = await timed(() => ours.call('continue_workflow', { stateToken }));
        noted.rehydrate.push(shown.ms);
        if (walk === early) said = { advance: advanced.value, rehydrate: shown.value };
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
  goal('handing in, more than an echo, next to an append', [(ms - echoMs) / appendMs], 'at most', 1.5, {
    ms,
    p95ms: round3(quantile(both('advance'), 0.95)),
    echoMs,
    appendMs,
  });
  for (const name of ['advance', 'rehydrate'] as const) {
    const [first, last] = [p50(early[name]), p50(late[name])];
    goal(`${name}: the last ${ENDS} of ${STEPS} steps next to the first`, [last / first], 'at most', 1.2, {
      first,
      last,
    });
  }
  figure('starting', { ms: p50(early.start), echoMs, appendMs });
  figure('showing again', { ms: p50(both('rehydrate')), echoMs });
  figure('bytes of the list of tools', { bytes: tools });
  for (const [name, { content, structuredContent }] of Object.entries(said)) {
    const bytes = { text: Buffer.byteLength(content[0].text), structured: bytesOf(structuredContent) };
    figure(`bytes of an answer: ${name}, step ${ENDS}`, bytes);
  }
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function nothingYet(): Measured {
  return { start: [], advance: [], rehydrate: [], echo: [], append: [] };
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

function directory(): string {
  return mkdtempSync(path.join(root, 'part-'));
}

async function timed<T>(work: () => T | Promise<T>): Promise<{ readonly value: T; readonly ms: number }> {
  const begun = performance.now();
  const value = await work();
  return { value, ms: performance.now() - begun };
}
