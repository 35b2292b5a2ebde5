import { readFileSync } from 'node:fs';
import { clientMessage, userRole } from '@signalbox/model';
import { accessReference, createAccess, createHttpApp, createRunMetrics } from '@signalbox/server';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import {
  agentToolAccess,
  opens,
  operatorResourceAccess,
  operatorToolAccess,
  routeAccess,
  socketAccess,
  socketKeyOf,
} from '../../src/access/access-table.ts';
import { guard } from '../../src/access/guard.ts';
import { assertDeclared, guardedPaths } from '../../src/access/route-needs.ts';
import type { Asked } from '../../src/http/asked.ts';
import { agentTools } from '../../src/mcp/tool-definitions.ts';
import { operations } from '../../src/openapi/operations.ts';
import { operatorResources } from '../../src/operator/resources.ts';
import { operatorTools } from '../../src/operator/tools.ts';
import { auth, TOKEN } from '../http-asker.ts';
import { scriptedGuided } from '../mcp/scripted-guided.ts';
import { memoryUsers, noAgents, noFleet, noSettings } from '../memory-users.ts';
import { noSessions } from '../no-sessions.ts';
import { scriptedHost } from '../scripted-host.ts';

const sorted = (names: Iterable<string>) => [...new Set(names)].toSorted();
const access = createAccess(TOKEN, () => 4280);

describe('the access table', () => {
  it('[V180] has exactly the routes that are served', () => {
    const host = scriptedHost();
    const reached = async () => new Response('reached');
    const { routes } = createHttpApp({
      host,
      access,
      sessions: noSessions,
      workflows: scriptedGuided({}),
      users: memoryUsers(),
      settings: noSettings,
      agents: noAgents,
      fleet: noFleet,
      metrics: createRunMetrics(host),
      agentMcp: reached,
      operatorMcp: reached,
    });
    const served = routes.filter(({ path }) => !path.endsWith('*')).map(({ method, path }) => `${method} ${path}`);
    expect(sorted(served)).toEqual(sorted(Object.keys(routeAccess)));
    const described = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    const api = Object.keys(routeAccess).filter(key => key.includes(' /api/'));
    expect(sorted(described)).toEqual(sorted(api));
    const open = operations.filter(({ isOpen }) => isOpen).map(({ path }) => path);
    expect(open).toEqual(
      Object.entries(routeAccess).flatMap(([key, needed]) => (needed === 'no token' ? [key.split(' ')[1]] : [])),
    );
  });

  it('[V180] has exactly the tools, resources and messages', () => {
    expect(sorted(operatorTools.map(({ name }) => name))).toEqual(sorted(Object.keys(operatorToolAccess)));
    expect(sorted(agentTools.map(({ name }) => name))).toEqual(sorted(Object.keys(agentToolAccess)));
    const byQuery = operatorResources.flatMap(({ name, accessOf }) => [
      name,
      ...(accessOf === undefined ? [] : [accessOf(new URLSearchParams('file=x'))]),
    ]);
    expect(sorted(byQuery)).toEqual(sorted(Object.keys(operatorResourceAccess)));
    const run = '01890000-0000-7000-8000-000000000001';
    const said = clientMessage.options.flatMap(({ shape: { kind } }) =>
      [run, 'all', 'fleet'].map(of => socketKeyOf({ kind: kind.value, token: '', run: of } as never)),
    );
    expect(sorted(said)).toEqual(sorted(Object.keys(socketAccess)));
  });

  it('[V180] keeps a server from starting with a route that it lacks, which nobody reaches', async () => {
    const app = new Hono<Asked>();
    app.on(
      'ALL',
      guardedPaths,
      guard(access, undefined, context => context.text('unknown', 404)),
    );
    app.get('/api/secrets', context => context.text('reached'));
    app.get('/api/hidden/*', context => context.text('reached'));
    expect(() => assertDeclared(app.routes)).toThrow('GET /api/secrets');
    for (const place of ['/api/secrets', '/api/hidden/x'])
      expect((await app.request(place, { headers: auth })).status).toBe(404);
  });

  it('[V183] lets no role both raise decisions and answer them', () => {
    const raising = [routeAccess['ALL /mcp/agent'], ...Object.values(agentToolAccess)];
    const answering = [
      routeAccess['POST /api/approvals/:decision/resolve'],
      routeAccess['POST /api/decisions/:id/resolve'],
      routeAccess['POST /api/sessions/:session/gaps/:gap/answer'],
      operatorToolAccess['approval.respond'],
    ];
    const both = userRole.options.filter(
      role => raising.some(needed => opens(role, needed)) && answering.some(needed => opens(role, needed)),
    );
    expect(both).toEqual([]);
    expect(userRole.options.filter(role => answering.every(needed => opens(role, needed)))).toEqual([
      'approver',
      'operator',
      'owner',
    ]);
  });

  it('[V188] matches its written reference', () => {
    const written = new URL('../../../../docs/reference/access.md', import.meta.url);
    expect(readFileSync(written, 'utf8'), '`npm run generate` mends it').toBe(accessReference());
    for (const key of [...Object.keys(routeAccess), ...Object.keys(operatorToolAccess), ...Object.keys(socketAccess)])
      expect(accessReference()).toContain(`| \`${key}\` |`);
  });
});
