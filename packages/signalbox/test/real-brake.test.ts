import * as fs from 'node:fs';
import path from 'node:path';
import { AGENT_ROWS } from '@signalbox/adapters/acp';
import { echoAgentProgram, echoPrompt, type ModelReply, type ModelRequest, startModelServer } from '@signalbox/testkit';
import { afterAll, describe, expect, it, onTestFailed, onTestFinished } from 'vitest';
import { agentsCache, cachedAgent, isLeftOut } from '../../../scripts/agents-cache.ts';
import { sampled, sized } from '../../../test/sized.ts';
import { hasLayers } from '../../adapters/test/real-life.ts';
import { isAside, waysOf } from '../../adapters/test/real-ways.ts';
import { until } from '../../app/test/support/until.ts';
import { BUILTIN, ECHO, openRealHost, realFolder } from './real-host.ts';

/** One of the real agents each time, all of them in a full run; the echo agent and the one that comes along always. */
const tried = AGENT_ROWS.filter(({ isTried }) => isTried);
const chosen = sampled(tried, 1);
const there = new Set<string>();
for (const row of tried) if (hasLayers && (await cachedAgent(row, agentsCache())) !== undefined) there.add(row.id);
if (hasLayers) for (const own of [ECHO, BUILTIN]) there.add(own);
const LIVES = sized(2, 4, 20);

/** Milliseconds from each brake until the process table had nothing of the agent any more. */
const silences: number[] = [];
afterAll(() => {
  const sorted = silences.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0);
  console.log(`Time to silence of ${sorted.length} brakes: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, most ${at(1)} ms.`);
});

/** A command that writes a file as long as it runs. */
const beating = (mark: string) => `: ${mark}; i=0; while :; do i=$((i+1)); echo $i > beat; sleep 0.05; done`;

/** A model that only ever wants this command. */
function beatModel(agent: string, line: string): (request: ModelRequest) => ModelReply {
  const own = { tool: 'run_command', input: { command: ['sh', '-c', line], timeoutMs: 600_000 } };
  const call = agent === BUILTIN ? own : agent === ECHO ? undefined : waysOf(agent).command(line);
  return request => (isAside(request) || call === undefined ? { text: 'A title' } : { calls: [call] });
}

function plan(agent: string, prompt: string): string {
  const which = agent === BUILTIN ? 'model="anthropic:claude-sonnet-5-5"' : `plugin="${agent}"`;
  return `import { Agent, definePlan } from 'signalbox';
import * as z from 'zod';
export default definePlan({
  name: 'beat',
  state: z.object({ said: z.any(), failed: z.any() }),
  render: ctx => (
    <Agent id="agent" ${which} cwd="work" permissions="gated" retries={0} prompt={${JSON.stringify(prompt)}}
      onFinished={said => ctx.state.set('said', said)} onError={({ error }) => ctx.state.set('failed', error.message)} />
  ),
});
`;
}

/** Processes that are the agent's: they name the mark, or use a home of the folder. */
function living(folder: string, mark: string): readonly string[] {
  const home = `HOME=${path.join(folder, 'data', 'agent-homes')}/`;
  return fs.readdirSync('/proc').filter(pid => {
    if (!/^\d+$/.test(pid) || pid === String(process.pid)) return false;
    try {
      const line = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return line.includes(mark) || fs.readFileSync(`/proc/${pid}/environ`, 'utf8').includes(home);
    } catch {
      return false;
    }
  });
}

/** When the command wrote last; undefined if its layer is gone. */
function lastBeat(folder: string): number | undefined {
  const layers = path.join(folder, 'data', 'layers');
  const found = fs.existsSync(layers) ? fs.readdirSync(layers) : [];
  const times = found.flatMap(layer => {
    const file = fs.statSync(path.join(layers, layer, 'upper', 'beat'), { throwIfNoEntry: false });
    return file === undefined ? [] : [file.mtimeMs];
  });
  return times.length === 0 ? undefined : Math.max(...times);
}

describe.each([{ id: ECHO, title: 'The echo agent' }, { id: BUILTIN, title: 'The built-in agent' }, ...chosen])(
  '$title',
  ({ id }) => {
    const test = it.skipIf(isLeftOut(there.has(id), hasLayers));
    test('[X216, X217] falls silent in the middle of a command, and none of its events is quarantined', async () => {
      const folder = realFolder();
      const mark = `beat-${path.basename(folder)}`;
      const line = beating(mark);
      const model = await startModelServer(beatModel(id, line));
      const opened = await openRealHost({ folder, agent: id, model: id === ECHO ? echoAgentProgram : model.url });
      const { host, store, fleet } = opened;
      onTestFinished(async () => {
        await opened.close();
        await model.close();
        fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
      });
      const said: string[] = [];
      onTestFailed(() => console.error(said.join('\n')));
      const answer = async (decision: Parameters<typeof host.answer>[0]) => {
        await host.answer(decision, { resolution: APPROVE }, 'ada');
      };
      onTestFinished(
        store.subscribe('all', ({ events }) => {
          for (const { event } of events) {
            said.push(JSON.stringify(event).slice(0, 300));
            if (event.type === 'decision.asked') void answer(event.decision);
          }
        }),
      );
      const prompt = id === ECHO ? echoPrompt([{ do: 'terminal', command: 'sh', args: ['-c', line] }]) : 'Beat.';
      const run = await opened.start(plan(id, prompt));
      const ended = host.finished(run);
      for (let life = 1; life <= LIVES; life += 1) {
        await until(() => (lastBeat(folder) !== undefined && living(folder, mark).length > 0 ? true : undefined));
        const isLast = life === LIVES;
        const pulledAt = Date.now();
        const scope =
          life % 2 === 0 ? ({ type: 'workstream', workstream: 'beat' } as const) : ({ type: 'all' } as const);
        const action = { scope, reason: 'look first', behavior: isLast ? 'kill' : 'pause' } as const;
        const pulled = fleet.brake(action, 'ada');
        let beat = lastBeat(folder) ?? 0;
        await until(() => {
          beat = Math.max(beat, lastBeat(folder) ?? 0);
          return living(folder, mark).length === 0 ? true : undefined;
        });
        silences.push(Date.now() - pulledAt);
        expect(await pulled).toMatchObject({ ok: true });
        const told = await until(() => {
          const { agents } = fleet.brakes().brakes.findLast(({ released }) => released === undefined) ?? {};
          return agents?.find(({ silentAfterMs }) => silentAfterMs !== null);
        });
        // Our word is not better than what the files say.
        expect((told.silentAfterMs ?? 0) + CLOCKS_MS).toBeGreaterThanOrEqual(beat - pulledAt);
        expect([fs.readdirSync(path.join(folder, 'work')), living(folder, mark)]).toEqual([[], []]);
        if (!isLast) await until(() => (fleet.agents()[0]?.status === 'paused' ? true : undefined));
        expect(await fleet.releaseBrake(undefined, 'ada')).toMatchObject({ ok: true });
      }
      await ended;
      const [agent] = fleet.agents();
      expect(agent).toMatchObject({ of: { run, plan: 'beat', node: 'agent' }, status: 'killed' });
      // The built-in agent needs no process while it waits for the answer.
      expect(agent?.lives).toBeGreaterThanOrEqual(LIVES);
      const detail = agent && fleet.agent(agent.id);
      const messages = detail?.ok ? detail.value.messages : {};
      console.log(`${id}: ${JSON.stringify(messages)}`);
      expect(messages).toMatchObject({ quarantined: 0, repaired: 0, unknownFields: 0, dropped: 0, refused: 0 });
    });
  },
);

/** Times of files are rounded. */
const CLOCKS_MS = 10;
const APPROVE = { resolutionType: 'approve', rationale: 'fine', actionKind: 'review' } as const;
