import { errorEnvelope, ok } from '@signalbox/model';
import { createAgentMcp, type McpRoute, mcpHttp } from '@signalbox/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { boundedEventStore } from '../../src/mcp/event-store.ts';
import { manualTimers } from '../manual-timers.ts';
import { blocked, scriptedGuided } from './scripted-guided.ts';

const URL = 'http://127.0.0.1:4280/mcp/agent';
const MINUTE = 60_000;

/** The surface without a socket; `finish` lets calls of continue_workflow be answered. */
function stage() {
  const manual = manualTimers();
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const guided = scriptedGuided({
    continue: async () => {
      await finished;
      return ok(blocked);
    },
  });
  const { route, close } = mcpHttp(createAgentMcp(guided), { timers: manual.timers });
  onTestFinished(close);
  return { close, finish, advance: manual.advance, waiting: () => manual.waiting, ...asking(route) };
}

function asking(route: McpRoute) {
  const ask = (method: string, headers: Record<string, string>, body?: object) =>
    route(
      new Request(URL, {
        method,
        headers: {
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          'mcp-protocol-version': '2025-11-25',
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify({ jsonrpc: '2.0', ...body }) }),
      }),
    );
  return {
    ask,
    async begin(): Promise<string> {
      const answer = await ask('POST', {}, handshake);
      expect(answer.status).toBe(200);
      await answer.text();
      const id = answer.headers.get('mcp-session-id') ?? '';
      await ask('POST', { 'mcp-session-id': id }, { method: 'notifications/initialized' });
      return id;
    },
    list: (session: string) => ask('POST', { 'mcp-session-id': session }, { id: 2, method: 'tools/list' }),
    go: (session: string, id: number) =>
      ask(
        'POST',
        { 'mcp-session-id': session },
        { id, method: 'tools/call', params: { name: 'continue_workflow', arguments: { stateToken: 'st.0' } } },
      ),
    resume: (session: string, lastEventId: string) =>
      ask('GET', { 'mcp-session-id': session, 'last-event-id': lastEventId }),
  };
}

const handshake = {
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

interface SentEvent {
  readonly id: string;
  readonly data: string;
}

/** Reads until one more event has come. */
async function nextEvent(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<SentEvent> {
  let text = '';
  while (!text.includes('\n\n')) {
    const { done, value } = await reader.read();
    if (done) throw new Error('the stream has ended');
    text += new TextDecoder().decode(value);
  }
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(text)?.[1] ?? '';
  return { id: field('id'), data: field('data') };
}

function readerOf({ body }: Response) {
  if (body === null) throw new Error('there is no body');
  return body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
}

async function refusal(answer: Response): Promise<readonly [number, string]> {
  const { error } = (await answer.json()) as { error: { data: unknown } };
  return [answer.status, errorEnvelope.parse(error.data).code];
}

describe('MCP sessions', () => {
  it('[V42] begin with the handshake, have unique ids, and end when their client ends them', async () => {
    const { begin, list, ask } = stage();
    const [one, other] = [await begin(), await begin()];
    expect(one).not.toBe(other);
    expect(await (await list(one)).text()).toContain('continue_workflow');
    expect((await ask('DELETE', { 'mcp-session-id': one })).status).toBe(200);
    expect(await refusal(await list(one))).toEqual([404, 'request/unknown-session']);
    expect((await list(other)).status).toBe(200);
    expect(await refusal(await ask('GET', { 'mcp-session-id': 'made-up' }))).toEqual([404, 'request/unknown-session']);
  });

  it('[V42] are optional: a request without one is answered independently', async () => {
    const { ask } = stage();
    const answer = await ask('POST', {}, { id: 1, method: 'tools/list' });
    expect([answer.status, answer.headers.get('mcp-session-id')]).toEqual([200, null]);
    expect(await answer.text()).toContain('continue_workflow');
    expect((await ask('GET', {})).status).toBe(405);
  });

  it('[V42] a refused handshake leaves none', async () => {
    const { ask, waiting } = stage();
    const answer = await ask('POST', { accept: 'text/html' }, handshake);
    expect([answer.status, await answer.text()]).toEqual([406, expect.stringContaining('Not Acceptable')]);
    expect([answer.headers.get('mcp-session-id'), waiting()]).toEqual([null, 0]);
  });

  it('[V43] end after five minutes without requests', async () => {
    const { begin, list, advance } = stage();
    const session = await begin();
    advance(4 * MINUTE);
    await (await list(session)).text();
    advance(4 * MINUTE);
    await (await list(session)).text();
    advance(5 * MINUTE);
    expect((await list(session)).status).toBe(404);
  });

  it('[V43] continue while a stream is open, and end five minutes after it was closed', async () => {
    const { begin, list, ask, advance } = stage();
    const session = await begin();
    const stream = readerOf(await ask('GET', { 'mcp-session-id': session }));
    advance(60 * MINUTE);
    await (await list(session)).text();
    advance(60 * MINUTE);
    const second = await ask('GET', { 'mcp-session-id': session });
    expect([second.status, await second.text()]).toEqual([409, expect.stringContaining('Only one')]);
    await stream.cancel();
    advance(5 * MINUTE - 1);
    await (await list(session)).text();
    advance(5 * MINUTE);
    expect((await list(session)).status).toBe(404);
  });

  it('[V43] leave no session and no timer when the server closes', async () => {
    const { begin, ask, close, waiting } = stage();
    const session = await begin();
    const stream = readerOf(await ask('GET', { 'mcp-session-id': session }));
    await begin();
    expect(waiting()).toBe(1);
    await close();
    expect((await stream.read()).done).toBe(true);
    expect(waiting()).toBe(0);
  });

  it('[V44] a client that lost its connection gets the answer of its call, once, and of no other', async () => {
    const { begin, go, resume, finish } = stage();
    const session = await begin();
    const lost = readerOf(await go(session, 7));
    const { id: opened, data } = await nextEvent(lost);
    expect(data).toBe('');
    await lost.cancel();
    const kept = readerOf(await go(session, 8));
    await nextEvent(kept);

    const again = readerOf(await resume(session, opened));
    finish();
    const answered = await nextEvent(again);
    expect(JSON.parse(answered.data)).toMatchObject({ id: 7, result: { structuredContent: { kind: 'blocked' } } });
    expect((await again.read()).done).toBe(true);
    expect(JSON.parse((await nextEvent(kept)).data)).toMatchObject({ id: 8 });

    expect(await (await resume(session, answered.id)).text()).toBe('');
    expect(JSON.parse((await nextEvent(readerOf(await resume(session, opened)))).data)).toMatchObject({ id: 7 });
  });

  it('[V44] an answer that came while nobody listened is sent too', async () => {
    const { begin, go, resume, finish } = stage();
    const session = await begin();
    const lost = readerOf(await go(session, 7));
    const { id } = await nextEvent(lost);
    await lost.cancel();
    finish();
    await new Promise(resolve => setImmediate(resolve));
    expect(JSON.parse((await nextEvent(readerOf(await resume(session, id)))).data)).toMatchObject({ id: 7 });
  });

  it.each(['999', 'x', '-1', '0x1'])('[V44] an event that is not known is refused: %s', async id => {
    const { begin, resume } = stage();
    const session = await begin();
    expect((await resume(session, id)).status).toBe(400);
  });

  it('[V45] are bounded: the one that was idle longest is replaced, one in use is not', async () => {
    const { begin, list } = stage();
    const sessions: string[] = [];
    for (let count = 0; count < 64; count++) sessions.push(await begin());
    const [first = '', second = ''] = sessions;
    await (await list(first)).text();
    await begin();
    expect([(await list(first)).status, (await list(second)).status]).toEqual([200, 404]);
  });

  it('[V45] a session is refused with a retry if all are in use', async () => {
    const { begin, ask } = stage();
    for (let count = 0; count < 64; count++) await ask('GET', { 'mcp-session-id': await begin() });
    expect(await refusal(await ask('POST', {}, handshake))).toEqual([503, 'request/too-many']);
  });
});

describe('events kept for reconnecting', () => {
  const message = (id: number) => ({ jsonrpc: '2.0' as const, id, result: { text: 'x'.repeat(100) } });
  const replayed = async (store: ReturnType<typeof boundedEventStore>, after: string) => {
    const sent: unknown[] = [];
    await store.replayEventsAfter(after, { send: async (_, told) => void sent.push('id' in told && told.id) });
    return sent;
  };

  it.each([
    ['events', { events: 3, bytes: 1_000_000 }],
    ['bytes', { events: 1_000, bytes: 500 }],
  ])('[V44] is bounded in %s, and the oldest goes first', async (_name, most) => {
    const store = boundedEventStore(most);
    const ids: string[] = [];
    for (let id = 0; id < 50; id++) ids.push(await store.storeEvent('s', message(id)));
    expect(await store.getStreamIdForEventId?.(ids[46] ?? '')).toBe(undefined);
    expect(await replayed(store, ids[47] ?? '')).toEqual([48, 49]);
    await expect(replayed(store, ids[0] ?? '')).rejects.toThrow('not kept');
  });
});
