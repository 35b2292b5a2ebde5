import { readFileSync } from 'node:fs';
import { type ErrorEnvelope, type Operation, ok, operations, type Result, type RunSummary } from '@signalbox/model';
import { apiReference, createAccess, createHttpApp } from '@signalbox/server';
import { beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import type { Handler, Handlers, Place } from '../../src/http/handlers.ts';
import type { Served } from '../../src/http/serve-operations.ts';
import { auth, code, TOKEN, UNKNOWN } from '../http-asker.ts';
import { scriptedGuided } from '../mcp/scripted-guided.ts';
import { memoryUsers, noAgents, noFleet, noSettings } from '../memory-users.ts';
import { noSessions } from '../no-sessions.ts';
import { releasePlan } from '../release-plan.ts';
import { scriptedHost } from '../scripted-host.ts';

const host = scriptedHost();
const app = createHttpApp({
  host,
  sessions: noSessions,
  workflows: scriptedGuided({}),
  users: memoryUsers(),
  settings: noSettings,
  agents: noAgents,
  fleet: noFleet,
  access: createAccess(TOKEN, () => 4280),
});

/** Asks for something with a field that no operation has. */
function askWithOddField(route: string, names: Readonly<Record<string, string>>): Promise<Response> {
  const [method = '', path = ''] = route.split(' ');
  const place = path.replace(/:(\w+)/g, (_, name: string) => names[name] ?? UNKNOWN);
  if (method === 'GET') return Promise.resolve(app.request(`${place}?odd=1`, { headers: auth }));
  const headers = { ...auth, 'content-type': 'application/json' };
  return Promise.resolve(app.request(place, { method, headers, body: '{"odd":1}' }));
}

const names: Record<string, string> = {};
beforeAll(async () => {
  const run = await host.begin('release');
  await run.render(releasePlan);
  const decision = await run.ask('deploy', { prompt: 'Ship?' }, 'human');
  Object.assign(names, { run: run.id, decision: decision.id });
});

describe('operations', () => {
  const taking = Object.entries<Operation>(operations).filter(([, { input }]) => input !== undefined);
  it.each(taking)('[V286] %s refuses a field that it does not have', async (_, { route }) => {
    expect(await code(askWithOddField(route, names))).toEqual([400, 'VALIDATION_ERROR']);
  });

  const placed = taking.filter(([, { route }]) => /:(run|decision)\b/.test(route));
  it.each(placed)('[V286] %s says first that what its path names is not there', async (_, { route }) => {
    const unknown = route.includes(':run') ? 'run/unknown' : 'decision/unknown';
    expect(await code(askWithOddField(route, {}))).toEqual([404, unknown]);
  });

  it('[V285] does not compile without its handler, or with another input or answer', () => {
    expectTypeOf<Omit<Handlers, 'reset'>>().not.toExtend<Served>();
    expectTypeOf<(place: Place<'reset'>) => Result<{ id: string }, ErrorEnvelope>>().not.toExtend<Handler<'reset'>>();
    expectTypeOf<(place: { edge: string }) => Result<RunSummary, ErrorEnvelope>>().not.toExtend<Handler<'reset'>>();
    expectTypeOf<(place: object, input: { frame: string }) => Result<RunSummary, ErrorEnvelope>>().not.toExtend<
      Handler<'fork'>
    >();
    expectTypeOf<(place: Place<'reset'>) => Promise<Result<RunSummary, ErrorEnvelope>>>().toExtend<Handler<'reset'>>();
    // @ts-expect-error bytes are a response
    const bundle: Handler<'bundle'> = () => ok(new Uint8Array());
    expect(bundle).toBeTypeOf('function');
  });

  it('[V287] match their written reference', () => {
    const written = new URL('../../../../docs/reference/api.md', import.meta.url);
    expect(readFileSync(written, 'utf8'), '`npm run generate` updates it').toBe(apiReference());
    for (const [name, { route }] of Object.entries(operations))
      expect(apiReference()).toContain(`| \`${name}\` | \`${route}\` |`);
  });
});
