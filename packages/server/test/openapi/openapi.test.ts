import { createAccess, createHttpApp } from '@signalbox/server';
import { describe, expect, it } from 'vitest';
import { openApi } from '../../src/openapi/openapi.ts';
import { operations } from '../../src/openapi/operations.ts';
import { auth, TOKEN } from '../http-asker.ts';
import { scriptedGuided } from '../mcp/scripted-guided.ts';
import { memoryUsers, noAgents, noFleet, noSettings } from '../memory-users.ts';
import { noSessions } from '../no-sessions.ts';
import { scriptedHost } from '../scripted-host.ts';

const app = createHttpApp({
  host: scriptedHost(),
  sessions: noSessions,
  workflows: scriptedGuided({}),
  users: memoryUsers(),
  settings: noSettings,
  agents: noAgents,
  fleet: noFleet,
  access: createAccess(TOKEN, () => 4280),
});

describe('the description of the API', () => {
  it('[V90] has exactly the existing routes', () => {
    const served = app.routes
      .filter(({ method, path }) => method !== 'ALL' && path.startsWith('/api/'))
      .map(({ method, path }) => `${method.toLowerCase()} ${path}`);
    const described = operations.map(({ method, path }) => `${method} ${path}`);
    expect([...new Set(served)].toSorted()).toEqual([...described].toSorted());
  });

  it('[V90] is served, and all its references resolve', async () => {
    const answer = await app.request('/api/openapi.json', { headers: auth });
    expect(answer.status).toBe(200);
    const text = await answer.text();
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(openApi('0.1.0'))));
    const { components } = JSON.parse(text);
    const names = new Set([...text.matchAll(/"#\/components\/schemas\/([^"/]+)"/g)].map(([, name]) => name));
    expect(names.size).toBeGreaterThan(20);
    for (const name of names) expect(components.schemas, String(name)).toHaveProperty(String(name));
    expect(text).not.toMatch(/"\$ref":"(?!#\/components\/schemas\/)/);
  });
});
