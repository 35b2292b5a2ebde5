import * as fs from 'node:fs';
import type { Json } from '@signalbox/model';
import type { AgentQuestion } from '@signalbox/runs';
import type { ModelReply, ModelRequest, ScriptedCall } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { agentsCache, cachedAgent, isLeftOut } from '../../../scripts/agents-cache.ts';
import { sampled, sized } from '../../../test/sized.ts';
import { AGENT_ROWS } from '../src/acp/index.ts';
import { idleTimers } from './builders.ts';
import { createMemoryTask, type MemoryTask } from './memory-session.ts';
import { hasLayers, openRealLife, type RealLife, type RealLifeOptions } from './real-life.ts';
import { inRoot, isAside, turnCounter, waysOf } from './real-ways.ts';

const LAST: ModelReply = { text: 'Done.' };
/** Some put their own notes before what the model says. */
const DONE = { kind: 'done', output: expect.stringMatching(/Done\.$/) };
const WANTED = 'exactly these arguments';

/** A model that makes these calls one after the other, then one that a person asks for instead, and says when it is done. */
function model(calls: readonly ScriptedCall[], instead?: ScriptedCall) {
  const turnOf = turnCounter();
  return (request: ModelRequest): ModelReply => {
    if (isAside(request)) return { text: 'A title' };
    const said = request.since.map(part => part.text).join('\n');
    if (instead !== undefined && said.includes(WANTED)) return { calls: [instead] };
    const call = said.includes(WANTED) ? undefined : calls[turnOf(request) - 1];
    return call === undefined ? LAST : { calls: [call] };
  };
}

/**
 * Starting an agent takes seconds, so an ordinary run starts each of them once here: half of them to see whether they ask, obey and stay
 * inside, the others to see whether one that does not ask is found out. The tasks through a host (real-task) cover much of the rest.
 */
const isThorough = sized(false, true, true);

const cache = agentsCache();
const tried = AGENT_ROWS.filter(row => row.isTried);
const asking = sampled(tried, 3);
const installed = new Map<string, string>();
for (const row of tried) {
  const agent = hasLayers ? await cachedAgent(row, cache) : undefined;
  if (agent?.directory !== undefined) installed.set(row.id, agent.directory);
}
const names = (wanted: boolean) => tried.flatMap(({ id }) => (installed.has(id) === wanted ? [id] : [])).join(', ');
console.log(`Real agents: ran: ${names(true) || 'none'}; not installed: ${names(false) || 'none'}.`);

describe.each(tried)('$title', row => {
  const way = waysOf(row.id);
  const { command, write } = way;
  const directory = installed.get(row.id);
  const test = it.skipIf(isLeftOut(directory !== undefined, hasLayers));
  /** Calls name the root by a placeholder, because it is made with the life. */
  const open = async (
    script: (request: ModelRequest) => ModelReply,
    more: Pick<RealLifeOptions, 'change' | 'timers'> = {},
  ) => {
    let root = '';
    const life = await openRealLife({
      ...{ row, directory: directory ?? '', userHome: way.careless },
      script: request => inRoot(script(request), root),
      ...more,
    });
    root = life.root;
    return life;
  };

  if (isThorough)
    test('[B80] answers a prompt', async () => {
      const life = await open(model([]));
      const task = createMemoryTask();
      expect(await attempt(life, task).ended).toEqual(DONE);
      expect([task.questions.size, life.tree()]).toEqual([0, {}]);
      const spent = (of: 'inputTokens' | 'outputTokens' | 'costMicroUsd') =>
        [...task.spent.values()].reduce((sum, usage) => sum + usage[of], 0);
      const { usage, cost } = row.reports;
      expect([spent('inputTokens'), spent('outputTokens')]).toEqual(usage ? [100, 20] : [0, 0]);
      expect(spent('costMicroUsd') > 0).toBe(cost);
    });

  if (asking.includes(row))
    test('[B80, B81, B117, B150] asks before it acts, whatever its user allows it elsewhere; acts if it may, in its directory only', async () => {
      let script = model([]);
      const life = await open(request => script(request));
      const [token, profile, sibling] = ['data/token', 'user/.bashrc', 'sibling'].map(name => `${life.base}/${name}`);
      fs.writeFileSync(`${token}`, 'our-own-token');
      fs.mkdirSync(`${sibling}`);
      const out = `cat ${token}; echo x >> ${profile}; echo x > ${sibling}/made; kill -9 ${process.pid}; echo tried`;
      script = model([
        command(`printf hi > {root}/made.txt; ${out}`),
        write('other.txt', 'ho'),
        command('printf no > {root}/denied.txt'),
      ]);
      const task = createMemoryTask();
      const { next, ended } = attempt(life, task);
      const asked: string[] = [];
      for (let question = await next(); question !== undefined; question = await next()) {
        const shown = JSON.stringify(question.proposal);
        if (asked.length === 0) await expectClosed(life.ports(), row.id === 'opencode');
        asked.push(shown);
        expect([question.kind, life.tree()]).toEqual([kindOf(question), {}]);
        const isDenied = shown.includes('denied.txt');
        answer(
          task,
          question,
          isDenied ? { resolutionType: 'reject', rationale: 'Not that.' } : { resolutionType: 'approve' },
        );
      }
      expect(await ended).toEqual(DONE);
      expect(life.tree()).toEqual({ 'made.txt': 'hi', 'other.txt': expect.stringMatching(/^ho\n?$/) });
      // One asks about directories outside of its own, too.
      for (const name of ['data/token', 'other.txt', 'denied.txt'])
        expect(asked.filter(shown => shown.includes(name)).length).toBeGreaterThan(0);
      const told = said(life);
      expect(told).toContain('Not that.');
      expect([told.includes('tried'), told.includes('our-own-token')]).toEqual([true, false]);
      expect([fs.existsSync(`${profile}`), fs.readdirSync(`${sibling}`)]).toEqual([false, []]);
      // Some tell only their model how a command ended.
      expect(told).toMatch(/No such file.*No such process/s);
    });

  if (isThorough)
    test('[B80] does what a person wants instead', async () => {
      const wanted = command('printf ho > {root}/made.txt');
      const life = await open(model([command('printf hi > {root}/made.txt')], wanted));
      const task = createMemoryTask();
      const { asked, ended } = attempt(life, task);
      const question = await asked();
      const { input } = question.proposal as { input: Json };
      const tellsInput = Object.keys(input as object).length > 0;
      const modifiedArgs = tellsInput
        ? JSON.parse(JSON.stringify(input).replaceAll('printf hi', 'printf ho'))
        : { command: 'printf ho > made.txt' };
      answer(task, question, { resolutionType: 'modify', modifiedArgs });
      // An agent that does not tell arguments cannot be known to use the wanted ones.
      if (!tellsInput) answer(task, await asked(), { resolutionType: 'approve' });
      expect(await ended).toEqual(DONE);
      expect([life.tree(), task.questions.size]).toEqual([{ 'made.txt': 'ho' }, tellsInput ? 1 : 2]);
    });

  if (isThorough)
    test('[B80] asks once about what it may always do', async () => {
      const again = command('printf x >> {root}/made.txt');
      const life = await open(model([again, again]));
      const task = createMemoryTask();
      const { asked, ended } = attempt(life, task);
      answer(task, await asked(), { resolutionType: 'approve', alwaysApprove: true });
      expect(await ended).toEqual(DONE);
      expect([life.tree(), task.questions.size]).toEqual([{ 'made.txt': 'xx' }, 1]);
    });

  if (isThorough)
    test('[B80] ends when it is canceled, and leaves nothing behind', async () => {
      const life = await open(model([command('printf hi > {root}/made.txt'), command('printf ho > {root}/more.txt')]));
      const task = createMemoryTask();
      const { asked, ended, abort } = attempt(life, task);
      const first = await asked();
      answer(task, first, { resolutionType: 'approve' });
      await asked();
      abort();
      expect(await ended).toMatchObject({ kind: 'failed', error: { code: 'canceled' } });
      expect(life.tree()).toEqual({});
      // It has 5 s to end by itself.
      await expect.poll(life.isAnyAlive).toBe(false);
    });

  if (isThorough)
    test('[B110] that says nothing for too long is ended, and leaves nothing behind', async () => {
      const timers = idleTimers();
      const stalled = (request: ModelRequest): ModelReply =>
        isAside(request) ? { text: 'A title' } : { ...LAST, fault: { kind: 'slow-start' } };
      const life = await open(stalled, { timers });
      const { ended } = attempt(life, createMemoryTask());
      await Promise.race([life.model.holding(), ended]);
      timers.fire();
      expect(await ended).toMatchObject({ kind: 'failed', error: { code: 'agent-silent', class: 'retryable' } });
      expect([life.tree(), life.isAnyAlive()]).toEqual([{}, false]);
    });

  if (isThorough)
    test('[B82] that dies with a question open is answered afterwards, and acts once', async () => {
      const life = await open(model([command('printf x >> {root}/made.txt')]));
      const task = createMemoryTask();
      const { asked, ended } = attempt(life, task);
      const question = await asked();
      await life.kill();
      expect(await ended).toEqual({ kind: 'blocked', reason: `approval_required:${question.kind}` });
      expect([life.tree(), life.isAnyAlive()]).toEqual([{}, false]);
      answer(task, question, { resolutionType: 'approve' });
      expect(await attempt(life, task).ended).toEqual(DONE);
      expect([life.tree(), task.questions.size, life.starts()]).toEqual([{ 'made.txt': 'x' }, 1, 2]);
    });

  if (isThorough || !asking.includes(row))
    test('[B83] that is not made to ask is found out, and nothing of it is applied', async () => {
      // Files that it writes through us are asked about here, whatever its settings.
      const call = row.files === 'client' ? command('printf hi > {root}/made.txt') : write('made.txt', 'hi');
      const life = await open(model([call]), { change: way.unasking });
      const task = createMemoryTask();
      expect(await attempt(life, task).ended).toMatchObject({ kind: 'failed', error: { code: 'agent-violation' } });
      expect([life.tree(), task.questions.size]).toEqual([{}, 0]);
    });
});

/** What listens there has nothing for a stranger. */
async function expectClosed(ports: readonly number[], isListening: boolean): Promise<void> {
  expect(ports.length > 0).toBe(isListening);
  for (const port of ports) {
    const status = (place: string) => fetch(`http://127.0.0.1:${port}${place}`).then(({ status: told }) => told);
    expect([port, await status('/'), await status('/session')]).toEqual([port, 401, 401]);
  }
}

/** One attempt of an agent. What it is waited for fails at once if the attempt ends before. */
function attempt(life: RealLife, task: MemoryTask) {
  const session = task.session();
  const ended = life.run(session);
  const early = ended.then(outcome => {
    throw new Error(`it ended before it asked: ${JSON.stringify(outcome)}`);
  });
  // Nobody may wait for it.
  early.catch(() => undefined);
  return {
    ended,
    abort: () => session.abort(),
    asked: (): Promise<AgentQuestion> => Promise.race([task.asked(), early]),
    /** The next question; undefined if the attempt ends before. */
    next: (): Promise<AgentQuestion | undefined> => Promise.race([task.asked(), ended.then(() => undefined)]),
  };
}

function answer(task: MemoryTask, { call }: AgentQuestion, resolution: Parameters<MemoryTask['answer']>[1]): void {
  const whole = { rationale: '', actionKind: 'update', ...resolution } as const;
  task.answers.set(call, whole);
  task.waiting.get(call)?.(whole);
}

function kindOf({ proposal }: AgentQuestion): string {
  const { kind } = proposal as { readonly kind: string };
  return { execute: 'command_exec', edit: 'file_edit' }[kind] ?? 'external_api';
}

/** Everything that the model was told. */
function said({ model: server }: RealLife): string {
  return server.requests.flatMap(({ asked }) => asked?.since.map(part => part.text) ?? []).join('\n');
}
