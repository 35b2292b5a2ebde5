import * as fs from 'node:fs';
import path from 'node:path';
import { AGENT_ROWS } from '@signalbox/adapters/acp';
import { allRunsOf } from '@signalbox/app/all-runs';
import type { RunId } from '@signalbox/app/host';
import { type ModelScript, startModelServer } from '@signalbox/testkit';
import { describe, expect, it, onTestFailed, onTestFinished } from 'vitest';
import { agentsCache, cachedAgent, isLeftOut } from '../../../scripts/agents-cache.ts';
import { sized } from '../../../test/sized.ts';
import { hasLayers } from '../../adapters/test/real-life.ts';
import { BUILTIN, livingIn, openRealHost, realFolder } from './real-host.ts';
import { answerTo, NOTES, taskModel, taskPlan } from './real-task.ts';
import { contractFacts } from './real-task-facts.ts';

const tried = AGENT_ROWS.filter(({ isTried }) => isTried);
const there = new Set<string>();
for (const row of tried) if (hasLayers && (await cachedAgent(row, agentsCache())) !== undefined) there.add(row.id);
if (hasLayers) there.add(BUILTIN);

/** Runs a task once, with a person who answers everything. */
async function done(agent: string, script: (work: string) => ModelScript) {
  const folder = realFolder();
  const work = path.join(folder, 'work');
  fs.writeFileSync(path.join(work, NOTES.name), NOTES.before);
  const model = await startModelServer(script(work));
  const opened = await openRealHost({ folder, agent, model: model.url });
  const { host, store } = opened;
  onTestFinished(async () => {
    await opened.close();
    await model.close();
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  });
  const said: string[] = [];
  onTestFailed(() => {
    const asked = model.requests.map(({ path: at, refusal, asked: request }) => [at, refusal, request?.since]);
    console.error(`${agent}:\n${[...said, ...asked.map(one => JSON.stringify(one).slice(0, 1_000))].join('\n')}`);
  });
  onTestFinished(
    store.subscribe('all', ({ events }) => {
      for (const { event } of events) {
        said.push(JSON.stringify(event).slice(0, 500));
        if (event.type === 'decision.asked') void answer(event.decision);
      }
    }),
  );
  async function answer(id: Parameters<typeof host.answer>[0]): Promise<void> {
    const found = await store.decision(id);
    await host.answer(id, { resolution: answerTo(found?.decision.kind ?? '') }, 'ada');
  }
  const run = await opened.start(taskPlan(agent));
  expect(await host.finished(run)).toMatchObject({
    status: 'completed',
    output: { said: expect.stringMatching(/Done\.$/) },
  });
  return { folder, run, host, notes: () => fs.readFileSync(path.join(work, NOTES.name), 'utf8') };
}

type Done = Awaited<ReturnType<typeof done>>;

async function contractEvents({ host }: Done, run: RunId) {
  const told = await allRunsOf(host).events(run, { from: 0, limit: 999, view: 'contract' });
  if (!told.ok) throw new Error(told.error.message);
  return (told.value ?? []).map(({ event }) => event);
}

/** The content of the turn's diff. */
async function diffOf({ host }: Done, run: RunId): Promise<string | undefined> {
  const runs = allRunsOf(host);
  const page = await runs.artifacts({ run, limit: 50 });
  const found = page.ok ? page.value.items.find(({ name }) => name === 'diff.patch') : undefined;
  const whole = found === undefined ? undefined : await runs.artifact(found.id);
  const content = whole?.ok ? await whole.value.content() : undefined;
  return content?.ok ? Buffer.from(content.value).toString('utf8') : undefined;
}

/** What the transcript remarks on the agent. */
async function notesOf({ host }: Done, run: RunId): Promise<readonly unknown[]> {
  const tasks = await host.reader.tasks(run);
  const chunks = await Promise.all(tasks.map(({ id }) => host.reader.stream(run, id, 0, 10_000)));
  return chunks.flat().flatMap(({ payload }) => {
    const { kind, text } = (payload ?? {}) as { readonly kind?: unknown; readonly text?: unknown };
    return kind === 'note' ? [text] : [];
  });
}

const DIFF = ['@@ -1,2 +1,3 @@', ' one', ' two', '+three'];
/** They say that a command was completed, whatever its exit code. */
const TELLS_NO_EXIT = ['gemini', 'opencode', 'copilot'];
const FACTS = [
  'node running',
  'approval.requested edit',
  'approval.resolved edit approved',
  'tool.started edit',
  'tool.completed edit ok',
  'approval.requested command',
  'approval.resolved command approved',
  'tool.started command',
  'tool.completed command',
  'approval.requested decision',
  'approval.resolved decision approved',
  'message Done.',
  'artifact diff',
  'node idle',
  'phase DONE',
];

describe.each([{ id: BUILTIN, title: 'the built-in agent' }, ...tried])('$title', ({ id }) => {
  const test = it.skipIf(isLeftOut(there.has(id), hasLayers));
  test('[B113, B114] does the task as every other agent does, and its edit can be undone', async () => {
    const life = await done(id, work => taskModel(id, work));
    const { run, host, folder, notes } = life;
    const facts = contractFacts(await contractEvents(life, run));
    // The agent that comes along has no tool to ask a person with.
    const wanted = id === BUILTIN ? FACTS.filter(fact => !fact.includes('decision')) : FACTS;
    const ended = TELLS_NO_EXIT.includes(id) ? 'tool.completed command ok' : 'tool.completed command failed';
    expect(facts).toEqual(wanted.map(fact => (fact === 'tool.completed command' ? ended : fact)));
    expect([notes(), livingIn(folder)]).toEqual([NOTES.after, []]);
    // Nothing odd happened, and its model knew the tool by which it asks a person.
    expect(await notesOf(life, run)).toEqual([]);
    const lines = (await diffOf(life, run))?.split('\n') ?? [];
    expect(lines.filter(line => DIFF.includes(line))).toEqual(DIFF);

    const calls = await host.checkpoints(run);
    const edit = calls.ok ? calls.value.find(one => one.changesFiles && one.outcome === 'succeeded') : undefined;
    const undone = await host.undo(run, edit?.call ?? '', {}, 'ada');
    expect(undone).toMatchObject({ ok: true, value: { paths: [NOTES.name] } });
    expect(notes()).toBe(NOTES.before);
  });

  if (sized(false, true, true))
    test('[B113] that changes nothing has an empty diff', async () => {
      const life = await done(id, () => () => ({ text: 'Done.' }));
      expect([await diffOf(life, life.run), life.notes()]).toEqual(['', NOTES.before]);
    });
});
