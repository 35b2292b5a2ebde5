import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openGuidedSessions, openGuidedTools } from '@signalbox/app/guided';
import { thisMachine } from '@signalbox/app/host';
import { type ArtifactId, ok, type Timestamp } from '@signalbox/model';
import { createAccess, createHttpApp } from '@signalbox/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { NOTES } from '../../../guided/test/support/agent-calls.ts';
import { freshId, newRun, startRun } from '../../../runs/test/builders.ts';
import { artifactOf } from '../../../runs/test/contract/sample-artifact.ts';
import { type Operation, operations, wireSchemas } from '../../src/openapi/operations.ts';
import { auth, code, TOKEN } from '../http-asker.ts';
import { memoryUsers, noAgents, noFleet, noSettings } from '../memory-users.ts';
import { releasePlan } from '../release-plan.ts';
import { scriptedHost } from '../scripted-host.ts';

/** Answers with a list in them that come whole, and why that is no danger. */
const whole: Readonly<Record<string, string>> = {
  '/api/health': 'as many providers as are set up',
  '/api/providers': 'as many as are set up',
  '/api/recoveries': 'at most 200 are kept',
  '/api/installed-agents': 'as many as the register and the configuration have',
  '/api/agents': 'as many as the project has',
  '/api/agents/:agent': 'the last 100 things that happened to one agent',
  '/api/decisions': 'those of agents that wait, and one page of those of runs',
  '/api/brake': 'the engaged ones, and the last 50',
  '/api/trust/:agent': 'the last 50 changes',
  '/api/trust/:agent/simulation': 'the calls of one agent that differ',
  '/api/coherence': 'the issues of the project',
  '/api/knowledge/artifacts': 'the artifacts of agents',
  '/api/fleet': 'a picture of one moment',
  '/api/fleet/log': 'as many as were asked for; `before` goes back',
  '/api/settings': 'as many settings as there are',
  '/api/limits': 'as many as the configuration has',
  '/api/runs/:run': 'a picture of one moment',
  '/api/runs/:run/frames/:frame/tree': 'a picture of one moment',
  '/api/runs/:run/diff': 'a picture of one moment',
  '/api/runs/:run/changes': 'a picture of one moment',
  '/api/runs/:run/compare/:other': 'a picture of two runs, bounded',
  '/api/runs/:run/usage': 'the nodes of one run that called a model',
  '/api/plans/files': 'the files of allowed folders, bounded',
  '/api/find': 'paged, but only with words to look for: V379 walks it',
  '/api/runs/:run/nodes/:node/input': 'what one node was given, bounded',
  '/api/sessions/:session': 'bounded, and what is left out is counted',
  '/api/workflows/:workflow': 'what one file says',
  '/api/workflows/:workflow/forms': 'what one file says',
  '/api/plans/describe': 'what one file says',
};

/** Lists whose cursor is a name, and goes on after it whether it is there or not. */
const named = new Set(['/api/users']);

const listsOf = ({ answer }: Operation): readonly string[] => {
  if (answer === undefined || answer === 'bytes') return [];
  const { shape } = wireSchemas[answer] as unknown as { readonly shape?: Record<string, z.ZodType> };
  return Object.entries(shape ?? {}).flatMap(([name, schema]) => (isList(schema) ? [name] : []));
};

function isList(schema: z.ZodType): boolean {
  const { def } = schema as unknown as { readonly def: { readonly type: string; readonly innerType?: z.ZodType } };
  return def.type === 'array' || (def.innerType !== undefined && isList(def.innerType));
}

const reads = operations.filter(({ method }) => method === 'get');
const lists = reads.filter(operation => listsOf(operation).length > 0 && whole[operation.path] === undefined);

const dataDirectory = mkdtempSync(path.join(tmpdir(), 'lists-'));
afterAll(() => rmSync(dataDirectory, { recursive: true }));
const options = { dataDirectory, directories: [], machine: thisMachine() };
const names: Record<string, string> = {};
let ask: (place: string) => Promise<Response>;

/** At least two of everything that is listed. */
beforeAll(async () => {
  const host = scriptedHost();
  const checkpoint = { tool: 'shell', task: 't', outcome: 'succeeded', elapsedMs: 1, summary: null } as const;
  const facts = { changesFiles: true, beyond: false, undone: false, at: '2026-01-01T00:00:00.000Z' as Timestamp };
  const unset = { node: undefined, directory: undefined };
  const calls = ['one', 'two', 'three'].map(call => ({ ...checkpoint, ...facts, ...unset, call }));
  const run = await host.begin('release');
  await run.render(releasePlan);
  await run.render(releasePlan);
  for (const turn of [1, 2, 3]) await run.state('turn', turn);
  const task = await run.startTask('review');
  await run.startTask('build');
  await run.say(task, 'one ', 'two ', 'three');
  await run.ask('deploy', { prompt: 'Ship?' }, 'human');
  await run.ask('deploy', { prompt: 'Really?' }, 'human');
  for (const day of ['2026-01-01', '2026-01-02', '2026-01-03']) {
    const counts = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, toolCalls: 0, costMicroUsd: 1, wallMs: 1 };
    const at = `${day}T00:00:00.000Z` as Timestamp;
    await host.store.commit({ at, usage: [{ call: day, at, ...counts }] }, { run: run.id, version: 'any' });
  }
  const artifacts = [1, 2, 3].map(() => artifactOf(freshId<ArtifactId>()));
  await host.store.commit({ at: facts.at, artifacts }, { run: run.id, version: 'any' });
  const { head, source } = (await host.store.run(run.id)) ?? {};
  if (head === undefined) throw new Error('no run');
  for (const name of ['a.tsx', 'b.tsx']) {
    const of = { root: '/plans', entry: `/plans/${name}`, files: [], packages: [], engine: '1' };
    const origin = { kind: 'fork', run: run.id, frame: 0, head } as const;
    await startRun(host.store, newRun({ name, origin, source: source ?? of }));
  }
  const tools = openGuidedTools(options);
  for (const summary of ['Which branch?', 'Which build?']) {
    const started = await tools.start({ workflowId: 'wr.bug-investigation' });
    if (!started.ok) throw new Error(started.error.message);
    const { stateToken, ackToken = '' } = started.value;
    const output = { notesMarkdown: NOTES, needsFromUser: [{ reason: 'needs_user_account_access', summary }] };
    await tools.continue({ stateToken, ackToken, output } as Parameters<typeof tools.continue>[0]);
  }
  const app = createHttpApp({
    host: { ...host, checkpoints: async () => ok(calls) },
    sessions: openGuidedSessions(options),
    workflows: tools,
    users: memoryUsers({ a: 'ada', b: 'ben', c: 'cleo' }),
    settings: noSettings,
    agents: noAgents,
    fleet: noFleet,
    access: createAccess(TOKEN, () => 4280),
  });
  Object.assign(names, { run: run.id, task });
  ask = async place => app.request(place, { headers: auth });
});

const placeOf = ({ path: place }: Operation) => place.replace(/:(\w+)/g, (_, name: string) => names[name] ?? name);
const cursorOf = ({ query }: Operation) => ['after', 'from'].find(name => query !== undefined && name in query.shape);

describe('lists', () => {
  it('[V130] have a limit and a cursor; those returned whole are known, with reasons', () => {
    const without = lists.filter(
      operation => cursorOf(operation) === undefined || !('limit' in (operation.query?.shape ?? {})),
    );
    expect(without.map(({ path: place }) => place)).toEqual([]);
    const unneeded = Object.keys(whole).filter(place => !reads.some(operation => operation.path === place));
    expect(unneeded).toEqual([]);
    for (const { path: place } of lists) expect(whole).not.toHaveProperty([place]);
  });

  it.each(lists.map(operation => [operation.path, operation] as const))(
    '[V130] %s one by one is the same whole',
    async (_, operation) => {
      const [name = ''] = listsOf(operation);
      const cursor = cursorOf(operation) ?? '';
      const page = async (query: string) => {
        const answer = await ask(`${placeOf(operation)}${query}`);
        const body = (await answer.json()) as Record<string, unknown>;
        expect([answer.status, body]).toMatchObject([200, { [name]: expect.any(Array) }]);
        return { items: body[name] as readonly unknown[], next: body.next as string | number | undefined };
      };
      const all = await page('');
      expect(all.items.length).toBeGreaterThan(1);
      const walked: unknown[] = [];
      for (let next: string | number | undefined = ''; ; ) {
        const part = await page(`?limit=1${next === '' ? '' : `&${cursor}=${encodeURIComponent(next)}`}`);
        expect(part.items.length).toBeLessThan(2);
        walked.push(...part.items);
        // A list that grows at its end says where it will go on.
        if (part.next === undefined || part.items.length === 0) break;
        next = part.next;
      }
      expect(walked).toEqual(all.items);
    },
  );

  it.each(lists.map(operation => [operation.path, operation] as const))(
    '[V130] %s refuses a limit or a place that cannot be',
    async (_, operation) => {
      for (const limit of ['0', '-1', '1.5', 'many', '100000']) {
        expect(await code(ask(`${placeOf(operation)}?limit=${limit}`))).toEqual([400, 'VALIDATION_ERROR']);
      }
      if (named.has(operation.path)) return;
      for (const place of ['nowhere', '~nowhere', '-1', '']) {
        const asked = `${placeOf(operation)}?${cursorOf(operation)}=${encodeURIComponent(place)}`;
        const refused = await ask(asked);
        // Nothing is 0 where a place is a number.
        if (place === '' && refused.status === 200) continue;
        expect([place, ...(await code(refused))]).toEqual([place, 400, 'VALIDATION_ERROR']);
      }
    },
  );
});
