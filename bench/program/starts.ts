import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { goal, median, paired, round3 } from '../figures.ts';
import { hundredSteps, serverIn } from '../workflow/hundred-steps.ts';
import type { StdioClient } from '../workflow/stdio-client.ts';
import { followed } from './followed-run.ts';
import { lifeOf } from './node-process.ts';
import { type Place, planIn } from './place.ts';
import { markingPlan, markingScript, writingPlan } from './plan-files.ts';

/** A start is short: it is measured so many times more often. */
const STARTS_A_ROUND = 4;

/** From the start of `resume` to the first new task of a run of 1,000 steps that was killed after 500. */
export async function benchResume(place: Place): Promise<void> {
  const mark = path.join(place.directory(), 'mark');
  const { home, plan } = planIn(place, markingPlan(1_000, mark));
  const bare = path.join(home, 'bare.mjs');
  writeFileSync(bare, markingScript(mark));
  // Compiled code is cached a second after a start or at the end, which a killed run may not reach.
  await followed([place.program, 'run', planIn(place, writingPlan(200)).plan, '--data-dir', path.join(home, 'first')]);
  const killed = path.join(home, 'killed');
  const { id } = await followed([place.program, 'run', plan, '--data-dir', killed], 500);
  const untilMark = async (work: () => Promise<unknown>) => {
    rmSync(mark, { force: true });
    const started = performance.timeOrigin + performance.now();
    await work();
    return Number(readFileSync(mark, 'utf8')) - started;
  };
  const [own, floor]: [number[], number[]] = [[], []];
  for (let round = 0; round < STARTS_A_ROUND * place.rounds; round++) {
    const data = path.join(home, `data-${round}`);
    cpSync(killed, data, { recursive: true });
    floor.push(await untilMark(() => lifeOf([bare])));
    own.push(await untilMark(() => followed([place.program, 'resume', id, '--data-dir', data], 1)));
    rmSync(data, { recursive: true });
  }
  moreThanBare('resume of 1,000 steps killed after 500, to the first new step', own, floor, 220);
}

/** `show` of a run with 2,000 nodes, 1,000 steps with a task each, and `ls`, from start to exit. */
export async function benchLook(place: Place): Promise<void> {
  const { home, plan } = planIn(place, writingPlan(1_000));
  const data = ['--data-dir', path.join(home, 'data')];
  const { id } = await followed([place.program, 'run', plan, ...data]);
  const found: Record<'bare' | 'show' | 'ls', number[]> = { bare: [], show: [], ls: [] };
  // As in a pipe: what is printed is read.
  const line = () => undefined;
  for (let round = 0; round < STARTS_A_ROUND * place.rounds; round++) {
    found.bare.push(await lifeOf(['-e', '0'], { line }));
    found.show.push(await lifeOf([place.program, 'show', id, ...data], { line }));
    found.ls.push(await lifeOf([place.program, 'ls', ...data], { line }));
  }
  moreThanBare('show of a run with 2,000 nodes', found.show, found.bare, 90);
  moreThanBare('ls', found.ls, found.bare, 50);
}

/** From the start of `mcp` to the answer to its first tool call, next to a bare Node that answers a line with a line. */
export async function benchMcp(place: Place): Promise<void> {
  const cwd = place.directory();
  hundredSteps(cwd);
  const bare = path.join(cwd, 'bare.mjs');
  writeFileSync(bare, 'process.stdin.once(\'data\', () => { process.stdout.write(\'{"id":0,"result":{}}\\n\'); });\n');
  const answered = async (args: readonly string[], call: (client: StdioClient) => Promise<unknown>) => {
    const begun = performance.now();
    const client = await serverIn(cwd, args);
    await call(client);
    const ms = performance.now() - begun;
    await client.close();
    return ms;
  };
  const mcp = [place.program, 'mcp'];
  const warm = await serverIn(cwd, mcp);
  const { structuredContent } = await warm.call('start_workflow', { workflowId: 'project.hundred' });
  await warm.close();
  const { stateToken } = structuredContent;
  const found: Record<'bare' | 'list' | 'step', number[]> = { bare: [], list: [], step: [] };
  for (let round = 0; round < STARTS_A_ROUND * place.rounds; round++) {
    found.bare.push(await answered([bare], async () => undefined));
    found.list.push(await answered(mcp, client => client.call('list_workflows', {})));
    found.step.push(await answered(mcp, client => client.call('continue_workflow', { stateToken })));
  }
  moreThanBare('mcp to its workflows listed', found.list, found.bare, 120);
  moreThanBare('mcp to a step shown again', found.step, found.bare, 120);
}

function moreThanBare(bench: string, own: readonly number[], floor: readonly number[], reach: number): void {
  const more = paired(own, floor, (ms, bareMs) => ms - bareMs);
  goal(bench, more, 'at most', reach, {
    unit: 'ms more',
    ms: round3(median(own)),
    floor: 'bare node',
    floorMs: round3(median(floor)),
  });
}
