import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Json } from '@signalbox/model';
import { startServer } from '@signalbox/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADAS_TOKEN, TOKEN, UNKNOWN } from '../http-asker.ts';
import { manualTimers } from '../manual-timers.ts';
import { memoryUsers } from '../memory-users.ts';
import { type ScriptedHost, scriptedHost } from '../scripted-host.ts';

let host: ScriptedHost;
let url: string;
let end: () => Promise<void>;

beforeAll(async () => {
  host = scriptedHost();
  const started = await startServer({
    host,
    token: TOKEN,
    users: memoryUsers({ [ADAS_TOKEN]: 'ada' }),
    port: 0,
    timers: manualTimers().timers,
  });
  if (!started.ok) throw new Error(started.error.message);
  url = started.value.url;
  end = started.value.close;
});
afterAll(() => end());

type Mode = 'legacy' | 'auto';

async function connect(mode: Mode, token = TOKEN): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }));
  return client;
}

async function withClient<T>(mode: Mode, use: (client: Client) => Promise<T>, token = TOKEN): Promise<T> {
  const client = await connect(mode, token);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

async function read(client: Client, uri: string) {
  const { contents } = await client.readResource({ uri });
  const [content] = contents;
  if (content === undefined || !('text' in content)) throw new Error('it has no text');
  return JSON.parse(content.text);
}

const call = (client: Client, name: string, args: Record<string, Json>) =>
  client.callTool({ name, arguments: args }) as Promise<CallToolResult>;

describe.each<Mode>(['legacy', 'auto'])('the operator’s MCP surface, protocol %s', mode => {
  it('[V86] has the tools of the specification, with schemas', () =>
    withClient(mode, async client => {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(
        expect.arrayContaining([
          'execution.start',
          'execution.pause',
          'execution.resume',
          'execution.stop',
          'execution.terminate',
          'node.cancel',
          'node.retry',
          'node.rerun_from',
          'execution.fork_from_frame',
          'state.set',
          'approval.respond',
        ]),
      );
      for (const { inputSchema, description } of tools) {
        expect(inputSchema.type).toBe('object');
        expect(description).toBeTruthy();
      }
    }));

  it('[V87] reads executions, frames, events, nodes, approvals, scripts and health', () =>
    withClient(mode, async client => {
      const run = await host.begin('release', { tags: ['ci'] });
      const task = await run.startTask('build');
      await run.say(task, 'hello');
      await run.ask('build', { tool: 'deploy', args: {} });
      const { resourceTemplates } = await client.listResourceTemplates();
      const { resources } = await client.listResources();
      expect([...resources, ...resourceTemplates].map(({ name }) => name).toSorted()).toEqual(
        'approvals artifacts events execution executions executions frame frames health node node-runs scripts scripts'.split(
          ' ',
        ),
      );
      const at = `signalbox://executions/${run.id}`;
      expect(await read(client, at)).toMatchObject({ id: run.id, name: 'release', tags: ['ci'], model_usage: {} });
      const { executions } = await read(client, 'signalbox://executions?tag=ci&limit=1');
      expect(executions).toMatchObject([{ name: 'release' }]);
      expect(await read(client, `${at}/events?from=0&limit=1`)).toMatchObject({ next: 1 });
      expect(await read(client, `${at}/frames`)).toMatchObject({ frames: expect.any(Array) });
      expect(await read(client, `${at}/approvals`)).toMatchObject({
        approvals: [{ status: 'pending', node_id: 'build' }],
      });
      expect(await read(client, `${at}/artifacts`)).toEqual({ artifacts: [], next: 0 });
      expect(await read(client, 'signalbox://scripts')).toHaveProperty('scripts');
      expect(await read(client, 'signalbox://health')).toMatchObject({
        status: 'ok',
        waiting: expect.any(Number),
        providers: [],
      });
    }));

  it('[V87] reports what it cannot read, and why', () =>
    withClient(mode, async client => {
      const run = await host.begin('x');
      for (const uri of [
        `signalbox://executions/${UNKNOWN}`,
        'signalbox://nothing',
        'signalbox://executions/%E0%A4%A',
        'file:///etc/passwd',
        `signalbox://executions/${run.id}/frames/99`,
        `signalbox://executions/${run.id}/frames/-1`,
        `signalbox://executions/${run.id}/nodes/none`,
        'signalbox://executions?limit=0',
      ]) {
        await expect(client.readResource({ uri }), uri).rejects.toThrow(/There is no|has no|does not exist|is invalid/);
      }
    }));

  it('[V88] acts in the name of the token’s owner', () =>
    withClient(
      mode,
      async client => {
        const run = await host.begin('paused');
        const answer = await call(client, 'execution.pause', { execution_id: run.id });
        expect(answer).toMatchObject({ structuredContent: { id: run.id } });
        expect(host.acted.at(-1)).toEqual({ run: run.id, action: { kind: 'pause' }, by: 'ada' });
      },
      ADAS_TOKEN,
    ));

  it('[V88] edits state with a reason, and forks from a frame', () =>
    withClient(mode, async client => {
      const run = await host.begin('edited');
      const set = { execution_id: run.id, key: 'count', value: 3, trigger: 'it was wrong' };
      expect(await call(client, 'state.set', set)).toMatchObject({
        structuredContent: { execution_id: run.id, key: 'count', status: 'running' },
      });
      expect(host.acted.at(-1)).toMatchObject({
        action: { kind: 'edit', key: 'count', value: 3, reason: 'it was wrong' },
        by: 'operator',
      });
      const forked = await call(client, 'execution.fork_from_frame', { execution_id: UNKNOWN, frame_index: 0 });
      expect(forked).toMatchObject({ isError: true, structuredContent: { code: 'run/unknown' } });
    }));

  it('[V88] answers a decision once, and refuses one of another execution', () =>
    withClient(mode, async client => {
      const [run, other] = [await host.begin('asks'), await host.begin('other')];
      const decision = await run.ask('build', { tool: 'deploy', args: {} });
      const respond = (id: string) =>
        call(client, 'approval.respond', {
          execution_id: id,
          approval_id: decision.id,
          decision: 'deny',
          comment: 'no',
        });
      expect(await respond(other.id)).toMatchObject({ isError: true, structuredContent: { code: 'decision/unknown' } });
      expect(await respond(run.id)).toMatchObject({
        structuredContent: { status: 'denied', responder: 'operator', comment: 'no' },
      });
    }));

  it('[V88] answers invalid arguments with the envelope', () =>
    withClient(mode, async client => {
      for (const args of [{}, { execution_id: 7 }, { execution_id: UNKNOWN, more: 1 }] as Record<string, Json>[]) {
        expect(await call(client, 'execution.pause', args)).toMatchObject({
          isError: true,
          structuredContent: { code: 'VALIDATION_ERROR' },
        });
      }
      expect(await call(client, 'execution.pause', { execution_id: UNKNOWN })).toMatchObject({
        isError: true,
        structuredContent: { code: 'run/unknown' },
      });
    }));
});

describe('a session of an operator', () => {
  it('[V89] is notified of commits from its handshake on, in order', () =>
    withClient('legacy', async client => {
      const heard: { readonly method: string; readonly params?: unknown }[] = [];
      const waiting = Promise.withResolvers<void>();
      client.fallbackNotificationHandler = async notification => {
        heard.push(notification);
        if (notification.method === 'signalbox.execution.status') waiting.resolve();
      };
      // The stream of a client opens after its handshake; what is committed before it does is not told.
      const greeting = await host.begin('greeting');
      for (let told = 0; heard.length === 0; told += 1) {
        await greeting.startTask(`task-${told}`);
        await new Promise(resolve => setImmediate(resolve));
      }
      const run = await host.begin('watched');
      await run.startTask('build');
      await run.ask('build', { tool: 'deploy', args: {} });
      await run.become('waiting');
      await waiting.promise;
      const mine = heard.filter(({ params }) => (params as { execution_id?: string }).execution_id === run.id);
      const names = mine.map(({ method }) => method);
      expect(names).toEqual(expect.arrayContaining(['signalbox.task.updated', 'signalbox.approval.requested']));
      expect(mine.at(-1)).toMatchObject({ method: 'signalbox.execution.status', params: { status: 'waiting' } });
    }));

  it('[V89] belongs to one user: another user’s token does not open it', async () => {
    const headers = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2025-11-25',
    };
    const ask = (token: string, body: object, session?: string) =>
      fetch(new URL('/mcp', url), {
        method: 'POST',
        headers: {
          ...headers,
          authorization: `Bearer ${token}`,
          ...(session !== undefined && { 'mcp-session-id': session }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
      });
    const begun = await ask(TOKEN, {
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
    });
    await begun.text();
    const session = begun.headers.get('mcp-session-id') ?? '';
    expect((await ask(TOKEN, { method: 'tools/list' }, session)).status).toBe(200);
    expect((await ask(ADAS_TOKEN, { method: 'tools/list' }, session)).status).toBe(404);
    expect((await ask('wrong', { method: 'tools/list' }, session)).status).toBe(401);
  });
});
