import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { thisMachine } from '@signalbox/app/host';
import { mcpHttp, startServer } from '@signalbox/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AGENT_TOKEN, TOKEN } from '../http-asker.ts';
import { memoryUsers } from '../memory-users.ts';
import { scriptedHost } from '../scripted-host.ts';
import expectations from './conformance.json' with { type: 'json' };
import { judge } from './conformance-suite.ts';
import { fixtureServer } from './fixture-server.ts';
import { scriptedGuided } from './scripted-guided.ts';
import { tokenProxy } from './token-proxy.ts';

describe('the official conformance suite', () => {
  it.each(['2025-11-25', '2026-07-28'] as const)(
    '[V46] passes for %s in everything that the surface serves',
    async revision => {
      const { passed, failing } = await judge(await surface('/mcp/agent'), ['--requirements', revision]);
      const expected = expectations[revision];
      expect(failing).toEqual(Object.values(expected.failing).flat().sort());
      expect(passed.length).toBe(expected.passed);
    },
  );

  it.each([
    ['2025-11-25', 44],
    ['2026-07-28', 104],
  ] as const)('[V46] passes for %s in everything that the operator’s surface serves', async (revision, count) => {
    const { passed, failing } = await judge(await surface('/mcp'), ['--requirements', revision]);
    // It serves no prompts, and its resources and tools are others than those of the suite.
    const noPrompts = ['prompts-list/prompts-list', 'caching/sep-2549-prompts-list-caching-hints'];
    const notServed = [...Object.values(expectations[revision].failing).flat(), ...noPrompts];
    expect(failing.filter(check => !notServed.includes(check))).toEqual([]);
    expect(passed.length).toBe(count);
  });

  it.each([
    ['server-sse-polling', ['server-sse-priming-event', 'server-sse-retry-field', 'server-sse-disconnect-resume']],
    ['tools-call-with-progress', ['tools-call-with-progress']],
    ['tools-call-elicitation', ['tools-call-elicitation']],
  ])('[V46] a session carries what a server sends while it is called: %s', async (scenario, checked) => {
    const options = ['--scenario', scenario, '--spec-version', '2025-11-25'];
    const { passed, failing } = await judge(await fixtures(), options);
    expect(failing).toEqual([]);
    expect(passed).toEqual(expect.arrayContaining(checked.map(check => `${scenario}/${check}`)));
  });
});

/** A surface of the real server; the suite knows no token. */
async function surface(place: '/mcp' | '/mcp/agent'): Promise<string> {
  const started = await startServer({
    host: scriptedHost(),
    guided: scriptedGuided(),
    token: TOKEN,
    users: memoryUsers({ [AGENT_TOKEN]: { name: 'bot', role: 'agent' } }),
    port: 0,
    timers: thisMachine().timers,
  });
  if (!started.ok) throw new Error(started.error.message);
  onTestFinished(() => started.value.close());
  const proxy = await tokenProxy(new URL(started.value.url), place === '/mcp' ? TOKEN : AGENT_TOKEN);
  onTestFinished(() => proxy.close());
  return `${proxy.url}${place}`;
}

/** Another server on the same transport. */
async function fixtures(): Promise<string> {
  const { route, close } = mcpHttp(fixtureServer, { timers: thisMachine().timers });
  const server = createServer(getRequestListener(route, { overrideGlobalObjects: false }));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    await close();
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
