import * as fs from 'node:fs';
import path from 'node:path';
import { AGENT_ROWS } from '@signalbox/adapters/acp';
import { type ModelScript, startModelServer } from '@signalbox/testkit';
import { describe, expect, it, onTestFailed, onTestFinished } from 'vitest';
import { agentsCache, cachedAgent, isLeftOut } from '../../../scripts/agents-cache.ts';
import { sampled } from '../../../test/sized.ts';
import { hasLayers } from '../../adapters/test/real-life.ts';
import { inRoot, isAside, waysOf } from '../../adapters/test/real-ways.ts';
import { estimateInput } from '../../app/src/meter/call-estimate.ts';
import { BUILTIN, filesWith, openMeteredHost, REAL_KEY } from './metered-host.ts';
import { realFolder } from './real-host.ts';
import { NOTES } from './real-task.ts';

const metered = AGENT_ROWS.filter(row => row.isTried && row.meter !== undefined);
const there = new Set<string>();
for (const row of metered) if (hasLayers && (await cachedAgent(row, agentsCache())) !== undefined) there.add(row.id);

/** What the model says that each of its answers took: less than any agent's request may take. */
const USAGE = { input: 2_000, output: 500 };
const EACH = USAGE.input + USAGE.output;

const plan = (agent: string) => `import { Agent, definePlan } from 'signalbox';
import * as z from 'zod';
export default definePlan({
  name: 'spends',
  state: z.object({ said: z.any() }),
  render: ctx => (
    <Agent id="agent" plugin="${agent}" cwd="work" permissions="gated" prompt="Read the notes again and again." maxTurns={50}
      onFinished={said => ctx.state.set('said', said)} />
  ),
});
`;

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
void BUILTIN;
