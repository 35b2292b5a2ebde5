import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { thisMachine } from '@signalbox/app/runs';
import { mcpHttp, startServer } from '@signalbox/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { TOKEN } from '../http-asker.ts';
import { scriptedHost } from '../scripted-host.ts';
import expectations from './conformance.json' with { type: 'json' };
import { fixtureServer } from './fixture-server.ts';
import { scriptedGuided } from './scripted-guided.ts';
import { tokenProxy } from './token-proxy.ts';

const program = path.join(import.meta.dirname, '../../../../node_modules/.bin/conformance');
const checks = z.array(z.object({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }));

/** `scenario/check`, in order. */
interface Judged {
  readonly passed: readonly string[];
  readonly failing: readonly string[];
}

describe('the official conformance suite', () => {
  it.each(['2025-11-25', '2026-07-28'] as const)(
    '[V46] passes for %s in everything that the surface serves',
    async revision => {
      const { passed, failing } = await judge(await agentSurface(), ['--requirements', revision]);
      const expected = expectations[revision];
      expect(failing).toEqual(Object.values(expected.failing).flat().sort());
      expect(passed.length).toBe(expected.passed);
    },
  );

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

/** The agent's surface on the real server; the suite knows no token. */
async function agentSurface(): Promise<string> {
  const started = await startServer({
    host: scriptedHost(),
    guided: scriptedGuided(),
    token: TOKEN,
    port: 0,
    timers: thisMachine().timers,
  });
  if (!started.ok) throw new Error(started.error.message);
  onTestFinished(() => started.value.close());
  const proxy = await tokenProxy(new URL(started.value.url), TOKEN);
  onTestFinished(() => proxy.close());
  return `${proxy.url}/mcp/agent`;
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

async function judge(url: string, options: readonly string[]): Promise<Judged> {
  const results = mkdtempSync(path.join(tmpdir(), 'conformance-'));
  onTestFinished(() => rmSync(results, { recursive: true, force: true }));
  const args = [program, 'server', '--url', url, ...options, '--timeout', '240000', '-o', results];
  const suite = spawn(process.execPath, args, { stdio: 'ignore' });
  await new Promise((resolve, reject) => suite.once('error', reject).once('close', resolve));

  const judged = readdirSync(results).flatMap(folder => {
    const scenario = folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    const found = checks.parse(JSON.parse(readFileSync(path.join(results, folder, 'checks.json'), 'utf8')));
    return found.map(({ id, status }) => ({ name: `${scenario}/${id}`, status }));
  });
  const named = (wanted: string) =>
    judged
      .filter(({ status }) => status === wanted)
      .map(({ name }) => name)
      .sort();
  return { passed: named('SUCCESS'), failing: named('FAILURE') };
}
