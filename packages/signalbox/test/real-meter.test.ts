import * as fs from 'node:fs';
import path from 'node:path';
import { AGENT_ROWS } from '@signalbox/adapters/acp';
import type { RunId, StoredEvent } from '@signalbox/app/host';
import { type ModelScript, type ScriptedCall, startModelServer } from '@signalbox/testkit';
import { describe, expect, it, onTestFailed, onTestFinished } from 'vitest';
import { agentsCache, cachedAgent, isLeftOut } from '../../../scripts/agents-cache.ts';
import { sampled, sized } from '../../../test/sized.ts';
import { hasLayers } from '../../adapters/test/real-life.ts';
import { inRoot, isAside, waysOf } from '../../adapters/test/real-ways.ts';
import { estimateInput } from '../../app/src/meter/call-estimate.ts';
import { runSpend } from '../../app/src/meter/run-spend.ts';
import { BUILTIN, filesWith, openMeteredHost, REAL_KEY } from './metered-host.ts';
import { realFolder } from './real-host.ts';
import { NOTES } from './real-task.ts';

const metered = AGENT_ROWS.filter(row => row.isTried && row.meter !== undefined);
const there = new Set<string>();
for (const row of metered) if (hasLayers && (await cachedAgent(row, agentsCache())) !== undefined) there.add(row.id);

/** What a subagent is asked. */
const SUBAGENT = 'Read the notes for me.';

/** What the model says that each of its answers took: less than any agent's request may take. */
const USAGE = { input: 2_000, output: 500 };
const EACH = USAGE.input + USAGE.output;

const plan = (agent: string, count = 1) => `import { Agent, definePlan, Parallel } from 'signalbox';
import * as z from 'zod';
export default definePlan({
  name: 'spends',
  state: z.object({ said: z.any() }),
  render: ctx => (
    <Parallel>${Array.from(
      { length: count },
      (_, at) => `
      <Agent id="agent${at === 0 ? '' : at}" ${agent === BUILTIN ? 'model="anthropic:claude-sonnet-5-5"' : `plugin="${agent}"`} cwd="work"
        permissions="gated" prompt="Read the notes again and again." maxTurns={50} onFinished={said => ctx.state.set('said', said)} />`,
    ).join('')}
    </Parallel>
  ),
});
`;

/** How a model lets an agent start a subagent. */
const STARTS: Readonly<Record<string, ScriptedCall>> = {
  claude: { tool: 'Agent', input: { description: 'Read', prompt: SUBAGENT, subagent_type: 'general-purpose' } },
  codex: { tool: 'spawn_agent', namespace: 'multi_agent_v1', input: { message: SUBAGENT } },
};

/** The agent starts a subagent and reads on, and so does the subagent: neither ends by itself. */
function withSubagent(agent: string, root: string): ModelScript {
  const { read } = waysOf(agent);
  const start = STARTS[agent];
  return request => {
    if (isAside(request)) return { text: 'A title', usage: USAGE };
    const starts = request.turn === 1 && !request.prompt.includes(SUBAGENT) && start !== undefined;
    return { ...inRoot({ calls: [starts ? start : read(NOTES.name)] }, root), usage: USAGE };
  };
}

/** A model that never ends by itself. */
function endless(agent: string, root: string): ModelScript {
  const { read } = waysOf(agent);
  return request => ({
    ...(isAside(request) ? { text: 'A title' } : inRoot({ calls: [read(NOTES.name)] }, root)),
    usage: USAGE,
  });
}

async function life(agent: string, script: (work: string) => ModelScript) {
  const folder = realFolder();
  const work = path.join(folder, 'work');
  fs.writeFileSync(path.join(work, NOTES.name), NOTES.before);
  const model = await startModelServer(script(work), { maxCalls: 200 });
  const opened = await openMeteredHost({ folder, agent, model: model.url });
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= opened.close());
  onTestFinished(async () => {
    await close();
    await model.close();
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  });
  onTestFailed(async () => {
    for (const { id, status } of (await opened.store.runs()).items) {
      console.error(id, status, JSON.stringify(await opened.store.decisions({ run: id })));
      for (const task of await opened.store.tasks(id)) {
        const chunks = await opened.store.stream(id, task.id, 0, 500);
        console.error(
          JSON.stringify(task).slice(0, 2_000),
          JSON.stringify(chunks.map(one => one.payload)).slice(-4_000),
        );
      }
    }
    const log = path.join(folder, 'data', 'logs', 'host.ndjson');
    console.error(fs.existsSync(log) ? fs.readFileSync(log, 'utf8') : 'no log');
    console.error(model.requests.map(({ path: at, status, refusal }) => [at, status, refusal].join(' ')).join('\n'));
  });
  return { ...opened, close, folder, model };
}

type Body = { readonly max_tokens?: number };
/** What the meter reserves for a request. */
const reserved = (body: unknown) => estimateInput(body as never) + ((body as Body).max_tokens ?? 32_000);

/** Room for a handful of calls: what the first one reserves, and a bit. */
const LIMITS: Readonly<Record<string, number>> = {
  claude: 60_000,
  codex: 65_000,
  gemini: 55_000,
  opencode: 60_000,
  goose: 45_000,
  copilot: 60_000,
};

/** Starting an agent takes seconds, so an ordinary run starts two of them. */
describe.each(sampled(metered, 2))('$title', ({ id }) => {
  const LIMIT = LIMITS[id] ?? 0;
  const test = it.skipIf(isLeftOut(there.has(id), hasLayers));
  test('[B190, A1102, A1104, X175] reaches its model as often as fits in the budget, then waits for a person', async () => {
    const { host, store, start, model, folder, close } = await life(id, work => endless(id, work));
    const run = await start(plan(id), { maxTotalTokens: LIMIT });
    await host.finished(run);
    const calls = model.requests.filter(({ asked, status }) => asked !== undefined && status === 200);
    expect(calls.length).toBeGreaterThan(1);
    // Every call fitted when it was sent; the one that was refused did not.
    for (const [index, { body }] of calls.entries()) expect(index * EACH + reserved(body)).toBeLessThanOrEqual(LIMIT);
    const events = (await store.events(run, 0, 10_000)).map(({ event }) => event);
    const refused = events.find(event => event.type === 'model.refused');
    const words = /used (\d+) of its \d+ tokens, and the next call may take (\d+)/.exec(refused?.reason ?? '') ?? [];
    expect(Number(words[1]) + Number(words[2])).toBeGreaterThan(LIMIT);
    const { inputTokens, outputTokens } = await store.usageOfTree(run);
    expect(inputTokens + outputTokens).toBe(calls.length * EACH);
    const open = await store.decisions({ run, status: ['open'] });
    expect(open.map(({ decision }) => decision.call)).toContain(`limit:maxTotalTokens:${LIMIT}`);
    expect(JSON.stringify(model.requests)).not.toContain(REAL_KEY);
    await close();
    expect(filesWith(folder, REAL_KEY)).toEqual([]);
  });
});

/** Spent and reserved together, as the log of the run tells them, at their highest; and what was spent in the end. */
function mostOf(events: readonly StoredEvent['event'][]) {
  const reservedBy = new Map<string, number>();
  let [spent, most] = [0, 0];
  for (const event of events) {
    if (event.type === 'model.called') reservedBy.set(event.call, event.input + event.output);
    if (event.type === 'model.answered') {
      reservedBy.delete(event.call);
      spent += (event.spent?.inputTokens ?? 0) + (event.spent?.outputTokens ?? 0);
    }
    const held = [...reservedBy.values()].reduce((sum, one) => sum + one, 0);
    most = Math.max(most, spent + held);
  }
  return { spent, most };
}

/** What holds of a budget however many calls an agent makes at once, and whoever makes them. */
async function expectKept({ store, model }: Awaited<ReturnType<typeof life>>, run: RunId, limit: number) {
  const events = (await store.events(run, 0, 10_000)).map(({ event }) => event);
  const { spent, most } = mostOf(events);
  const calls = model.requests.filter(({ asked, status }) => asked !== undefined && status === 200);
  expect([spent, most <= limit]).toEqual([calls.length * EACH, true]);
  const refused = events.filter(event => event.type === 'model.refused');
  const words = /used (\d+) of its \d+ tokens, and the next call may take (\d+)/.exec(refused[0]?.reason ?? '') ?? [];
  expect(Number(words[1]) + Number(words[2])).toBeGreaterThan(limit);
  const open = await store.decisions({ run, status: ['open'] });
  expect(open.map(({ decision }) => decision.call)).toContain(`limit:maxTotalTokens:${limit}`);
  // How long its node went on after a refusal is told with the call.
  const told = await runSpend(store, { id: run, limits: {} });
  const ended = told.calls.flatMap(({ endedAfterMs }) => (endedAfterMs === undefined ? [] : [endedAfterMs]));
  expect(ended.length).toBeGreaterThan(0);
  return { events, told };
}

/** Both in a full run; starting one takes seconds. */
describe.each(
  sampled(
    metered.filter(({ id }) => STARTS[id] !== undefined),
    1,
  ),
)('$title and its subagents', ({ id }) => {
  const test = it.skipIf(isLeftOut(there.has(id), hasLayers));
  test('[A1309, B190] spend from one budget, and their calls are told apart', async () => {
    const lived = await life(id, work => withSubagent(id, work));
    const limit = 2 * (LIMITS[id] ?? 0);
    const run = await lived.start(plan(id), { maxTotalTokens: limit });
    await lived.host.finished(run);
    const { told } = await expectKept(lived, run, limit);
    const parts = told.subagents.map(({ node, subagent }) => [node, subagent === null ? null : typeof subagent.id]);
    expect(parts).toEqual([
      ['agent', null],
      ['agent', 'string'],
    ]);
    // Both are in the budget of their node: nothing is counted twice, or not at all.
    const sum = told.subagents.reduce((all, { inputTokens, outputTokens }) => all + inputTokens + outputTokens, 0);
    expect(sum).toBe(told.total.inputTokens + told.total.outputTokens);
  });
});

describe.each(sized([], ['goose'], ['goose', 'codex']))('eight nodes of %s in parallel', id => {
  const test = it.skipIf(isLeftOut(there.has(id), hasLayers));
  test('[A1104] spend from one budget', async () => {
    const lived = await life(id, work => endless(id, work));
    const limit = 3 * (LIMITS[id] ?? 0);
    const run = await lived.start(plan(id, 8), { maxTotalTokens: limit });
    await lived.host.finished(run);
    await expectKept(lived, run, limit);
  });
});
