/**
 * Agents over ACP next to their floors, by turns, one JSON line a figure. The agent is the echo agent of `testkit`, confined and on a layer.
 *
 *   node bench/agents.ts [part ...] [--dir DIR] [--rounds N]
 *
 * start   from the call of the runner to the agent's first update, over a bare `node` that writes a line
 * turn    a turn with one permission, of the same agent over a bare pipe: no sandbox, no layer, lines written by hand. The commits of a turn
 *         are counted and made in memory
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { type EchoStep, echoAgentProgram, echoPrompt } from '@signalbox/testkit';
import { confinedAgents } from './agents/confined-agents.ts';
import { goal, median, paired, round3, timed } from './figures.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { dir: { type: 'string' }, rounds: { type: 'string', default: '20' } },
});
const parts: Readonly<Record<string, () => Promise<void>>> = { start: benchStart, turn: benchTurn };
const unknown = positionals.find(part => !(part in parts));
if (unknown !== undefined) throw new Error(`No part "${unknown}". Parts: ${Object.keys(parts).join(' ')}.`);
const rounds = Number(values.rounds);
const root = mkdtempSync(path.join(values.dir ?? tmpdir(), 'signalbox-bench-'));
process.on('exit', () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
const agents = await confinedAgents(root);
const says: readonly EchoStep[] = [{ do: 'say', text: 'Done.' }];
// The first start finds out what the machine can do.
await agents.turn(says);
for (const [name, bench] of Object.entries(parts))
  if (positionals.length === 0 || positionals.includes(name)) await bench();

async function benchStart(): Promise<void> {
  const [own, floor]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    floor.push(await timed(bareLine));
    const begun = performance.now();
    let first: number | undefined;
    await agents.turn(says, () => {
      first ??= performance.now();
    });
    own.push((first ?? Number.NaN) - begun);
  }
  goal('agent over ACP, from its start to its first update', paired(own, floor, subtracted), 'at most', 150, {
    ...{
      unit: 'ms more',
      ms: round3(median(own)),
      floor: 'bare node that writes a line',
      floorMs: round3(median(floor)),
    },
  });
}

async function benchTurn(): Promise<void> {
  const steps: readonly EchoStep[] = [
    {
      do: 'ask',
      id: 'e',
      kind: 'edit',
      title: 'Edit',
      input: {},
      allowed: [{ do: 'write', file: 'a.txt', text: 'a' }],
    },
    ...says,
  ];
  const [own, floor]: [number[], number[]] = [[], []];
  let commits = 0;
  for (let round = 0; round < rounds; round++) {
    floor.push(await timed(() => overPipe(steps)));
    own.push(
      await timed(async () => {
        commits = await agents.turn(steps);
      }),
    );
  }
  goal('turn of an agent over ACP with one permission, of a bare pipe', paired(own, floor, divided), 'at most', 3, {
    ...{ unit: 'times', ms: round3(median(own)), floor: 'bare pipe', floorMs: round3(median(floor)), commits },
  });
}

function subtracted(one: number, other: number): number {
  return one - other;
}

function divided(one: number, other: number): number {
  return one / other;
}

/** A bare Node, until its first line is here. */
function bareLine(): Promise<unknown> {
  const child = spawn(process.execPath, ['-e', 'console.log(1)'], { stdio: ['ignore', 'pipe', 'inherit'] });
  return Promise.all([
    new Promise(resolve => child.stdout.once('data', resolve)),
    new Promise(resolve => child.once('close', resolve)),
  ]);
}

/** The turn without us: the agent's own process, and lines written by hand. */
async function overPipe(steps: readonly EchoStep[]): Promise<void> {
  const child = spawn(process.execPath, [echoAgentProgram], { cwd: agents.root, stdio: ['pipe', 'pipe', 'inherit'] });
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const prompt = [{ type: 'text', text: echoPrompt(steps) }];
  send({ id: 1, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {} } });
  for await (const line of createInterface(child.stdout)) {
    const { id, method, result } = JSON.parse(line) as {
      readonly id?: number;
      readonly method?: string;
      readonly result?: { readonly sessionId?: string };
    };
    if (method === 'session/request_permission')
      send({ id, result: { outcome: { outcome: 'selected', optionId: 'yes' } } });
    else if (method !== undefined) continue;
    else if (id === 1) send({ id: 2, method: 'session/new', params: { cwd: agents.root, mcpServers: [] } });
    else if (id === 2) send({ id: 3, method: 'session/prompt', params: { sessionId: result?.sessionId, prompt } });
    else break;
  }
  const ended = new Promise(resolve => child.once('close', resolve));
  child.stdin.end();
  await ended;
}
