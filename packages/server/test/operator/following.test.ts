import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { errorEnvelope } from '@signalbox/model';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { boundedStream } from '../../src/mcp/bounded-stream.ts';
import { keptNews } from '../../src/operator/subscriptions.ts';
import { TOKEN } from '../http-asker.ts';
import { type ScriptedHost, scriptedHost } from '../scripted-host.ts';
import { type OperatorStage, operatorStage, type Told } from './operator-stage.ts';

const MINUTE = 60_000;

let host: ScriptedHost;
let stage: OperatorStage;
beforeAll(async () => {
  host = scriptedHost();
  stage = await operatorStage(host);
});
afterAll(() => stage.close());

const subscription = (method: string, uri: string, id = 7) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: `resources/${method}`, params: { uri } });

/** The notifications of a session up to the end of its run. */
async function toldUntilEnd(next: () => Promise<{ readonly told: Told }>, run: string): Promise<readonly Told[]> {
  const told: Told[] = [];
  for (;;) {
    const { told: one } = await next();
    told.push(one);
    const { method, params } = one;
    if (method === 'signalbox.execution.status' && params.execution_id === run) return told;
  }
}

describe('2025-11-25', () => {
  it('[V116] a session is notified of changes of its subscriptions only, until it unsubscribes', async () => {
    const [run, other] = [await host.begin('one'), await host.begin('other')];
    const session = await stage.begin();
    const headers = { 'mcp-session-id': session };
    const frames = `signalbox://executions/${run.id}/frames?from=3`;
    const asked = await stage.ask('POST', { headers, body: subscription('subscribe', frames) });
    expect(await asked.text()).toContain('"result":{}');
    const stream = await stage.listen(session);
    onTestFinished(() => stream.close());
    await other.render({ id: 'a', kind: 'task' });
    await run.render({ id: 'a', kind: 'task' });
    await run.status('a', 'running');
    await run.become('paused');
    const told = await toldUntilEnd(stream.next, run.id);
    const changed = told.filter(({ method }) => method === 'notifications/resources/updated');
    expect(changed.map(({ params }) => params.uri)).toEqual([frames]);
    await (await stage.ask('POST', { headers, body: subscription('unsubscribe', frames) })).text();
    await run.render({ id: 'b', kind: 'task' });
    await run.become('running');
    const later = await toldUntilEnd(stream.next, run.id);
    expect(later.filter(({ method }) => method === 'notifications/resources/updated')).toEqual([]);
  });

  it('[V116] subscribing to a missing resource, or without a session, is refused', async () => {
    const session = await stage.begin();
    const asks = [
      stage.ask('POST', { headers: { 'mcp-session-id': session }, body: subscription('subscribe', 'signalbox://x') }),
      stage.ask('POST', { body: subscription('subscribe', 'signalbox://executions') }),
    ];
    const [unknown, none] = await Promise.all(asks.map(async ask => (await ask).text()));
    expect(unknown).toContain('There is no resource signalbox://x');
    expect(none).toContain('Begin one with');
  });

  it('[V117] reconnection with Last-Event-ID replays what was missed, in order and once', async () => {
    const run = await host.begin('lost');
    const session = await stage.begin();
    const stream = await stage.listen(session);
    await run.render({ id: 'a', kind: 'task' });
    const { id, told } = await stream.next();
    expect(told).toMatchObject({ method: 'signalbox.frame.created', params: { frame_index: 0 } });
    await stream.close();
    for (let frame = 1; frame <= 40; frame += 1) await run.render({ id: `n${frame}`, kind: 'task' });
    const again = await stage.listen(session, id);
    onTestFinished(() => again.close());
    await run.render({ id: 'last', kind: 'task' });
    await run.become('completed');
    const replayed = (await toldUntilEnd(again.next, run.id)).filter(each => each.method === 'signalbox.frame.created');
    expect(replayed.map(({ params }) => params.frame_index)).toEqual(Array.from({ length: 41 }, (_, n) => n + 1));
  });

  it('[V117] if missed events are no longer kept, their number is reported, and the rest follows', async () => {
    const run = await host.begin('long gone');
    const session = await stage.begin();
    const stream = await stage.listen(session);
    const task = await run.startTask('a');
    const { id } = await stream.next();
    await stream.close();
    await run.say(task, ...Array.from({ length: keptNews.events + 50 }, (_, n) => String(n)));
    const again = await stage.listen(session, id);
    onTestFinished(() => again.close());
    const gap = await again.next();
    expect(gap.told).toMatchObject({ method: 'signalbox.events.missed', params: { count: 50 } });
    expect((await again.next()).told.params).toMatchObject({ payload: { text: '50' } });
    await again.close();
    // A client that is lost right after that resumes where the rest begins.
    const third = await stage.listen(session, gap.id);
    onTestFinished(() => third.close());
    expect((await third.next()).told.params).toMatchObject({ payload: { text: '50' } });
  });

  it.each(['_GET_stream:999999', '_GET_stream:x', 'other:0', '0', '_GET_stream:-2', '%00'])(
    '[V117] an event that never was is refused with the envelope: %s',
    async id => {
      const refused = await stage.listen(await stage.begin(), id);
      const { error } = JSON.parse(await refused.text());
      expect([refused.status, errorEnvelope.parse(error.data).code]).toEqual([400, 'VALIDATION_ERROR']);
    },
  );

  it('[V89] commits between the handshake and the stream are reported', async () => {
    const run = await host.begin('early');
    const session = await stage.begin();
    await run.render({ id: 'a', kind: 'task' });
    const stream = await stage.listen(session);
    expect((await stream.next()).told).toMatchObject({ params: { execution_id: run.id, frame_index: 0 } });
    await stream.close();
  });

  it('[V43] a session ends after five minutes without requests or open streams, and gets no more', async () => {
    const own = await operatorStage(host);
    onTestFinished(() => own.close());
    const session = await own.begin();
    const list = () =>
      own.ask('POST', {
        headers: { 'mcp-session-id': session },
        body: JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' }),
      });
    const ask = async () => {
      const answer = await list();
      await answer.text();
      return answer.status;
    };
    own.timers.advance(5 * MINUTE - 1);
    expect(await ask()).toBe(200);
    const stream = await own.listen(session);
    own.timers.advance(60 * MINUTE);
    expect(await ask()).toBe(200);
    const { waiting } = own.timers;
    await stream.close();
    // A stream that is closed is open for the server until it hears of that.
    while (own.timers.waiting === waiting) await new Promise(resolve => setImmediate(resolve));
    own.timers.advance(5 * MINUTE - 1);
    expect(await ask()).toBe(200);
    own.timers.advance(5 * MINUTE);
    expect(await ask()).toBe(404);
  });
});

describe('2026-07-28', () => {
  it('[V116] a listener is notified of changes of the named resources only', async () => {
    const [run, other] = [await host.begin('one'), await host.begin('other')];
    const client = await stage.connect('auto');
    onTestFinished(() => client.close());
    const heard: Told[] = [];
    const end = Promise.withResolvers<void>();
    client.fallbackNotificationHandler = async note => void heard.push(note as Told);
    client.setNotificationHandler('notifications/resources/updated', note => {
      heard.push(note as Told);
      if (note.params.uri === `signalbox://executions/${run.id}/approvals`) end.resolve();
    });
    const at = `signalbox://executions/${run.id}`;
    const { honoredFilter, close } = await client.listen({
      resourceSubscriptions: [`${at}/frames`, `${at}/approvals`],
    });
    expect(honoredFilter).toEqual({ resourceSubscriptions: [`${at}/frames`, `${at}/approvals`] });
    await other.render({ id: 'a', kind: 'task' });
    await run.render({ id: 'a', kind: 'task' });
    await run.status('a', 'running');
    await run.render({ id: 'b', kind: 'task' });
    await run.ask('b', { tool: 'deploy' });
    await end.promise;
    expect(heard.map(({ params }) => params.uri)).toEqual([`${at}/frames`, `${at}/frames`, `${at}/approvals`]);
    await close();
  });

  it('[V116] the health changes with that of model providers', async () => {
    const client = await stage.connect('auto');
    onTestFinished(() => client.close());
    const heard = Promise.withResolvers<string>();
    client.setNotificationHandler('notifications/resources/updated', ({ params: { uri } }) => heard.resolve(uri));
    const { close } = await client.listen({ resourceSubscriptions: ['signalbox://health'] });
    const model = { provider: 'acme', model: 'acme-1' };
    const leave = await host.rateLimits.enter(model, new AbortController().signal);
    leave?.({ kind: 'answered' });
    expect(await heard.promise).toBe('signalbox://health');
    const [content] = (await client.readResource({ uri: 'signalbox://health' })).contents;
    expect(JSON.parse(content !== undefined && 'text' in content ? content.text : '')).toMatchObject({
      providers: [{ name: 'acme', health: 'ok', rate_limits: [] }],
    });
    await close();
  });

  it('[V116] the change of the events of an execution carries the notifications of the commit', async () => {
    const run = await host.begin('news');
    const client = await stage.connect('auto');
    onTestFinished(() => client.close());
    const uri = `signalbox://executions/${run.id}/events`;
    const heard: unknown[] = [];
    const end = Promise.withResolvers<void>();
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      const news = params._meta?.['signalbox/news'] as readonly Told[];
      heard.push(...news.map(({ method, params: { execution_id: _, ...rest } }) => [method, rest]));
      if (news.some(({ method }) => method === 'signalbox.execution.status')) end.resolve();
    });
    const { close } = await client.listen({ resourceSubscriptions: [uri] });
    await run.render({ id: 'a', kind: 'task' });
    const task = await run.startTask('a');
    await run.say(task, 'hello');
    await run.become('completed');
    await end.promise;
    expect(heard).toEqual([
      ['signalbox.frame.created', { frame_index: 0, reason: 'start', state_keys_changed: [] }],
      ['signalbox.task.updated', { task_id: task, status: 'running' }],
      ['signalbox.agent.stream', { run_id: task, chunk_type: 'token', payload: { text: 'hello' } }],
      ['signalbox.execution.status', { status: 'completed', reason: null }],
    ]);
    await close();
  });
});

describe('a stream whose client does not read', () => {
  const events = (count: number, bytes: number) => {
    let sent = 0;
    let isCanceled = false;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent === count) return controller.close();
        sent += 1;
        controller.enqueue(new Uint8Array(bytes));
      },
      cancel: () => {
        isCanceled = true;
      },
    });
    const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    return { response, facts: () => ({ sent, isCanceled }) };
  };
  const aTurn = () => new Promise(resolve => setImmediate(resolve));

  it('[V118] ends when too much waits for it, and its source is told', async () => {
    const { response, facts } = events(1_000, 100);
    const bounded = boundedStream(response, 1_000);
    for (let turns = 0; turns < 100; turns += 1) await aTurn();
    expect(facts().sent).toBeLessThan(20);
    expect(facts().isCanceled).toBe(true);
    expect((await bounded.arrayBuffer()).byteLength).toBe(1_000);
  });

  it.each(['2025-11-25', '2026-07-28'])('[V118] is ended by the server, which goes on: %s', async version => {
    const run = await host.begin('flood');
    const task = await run.startTask('a');
    const session = await stage.begin();
    const stream =
      version === '2025-11-25' ? await silentStream({ method: 'GET', session }) : await silentStream({ run: run.id });
    // More than a socket takes by itself.
    const text = 'x'.repeat(100_000);
    for (let chunk = 0; chunk < 300; chunk += 1) {
      await run.say(task, text);
      await aTurn();
    }
    expect(await stream.bytes()).toBeLessThan(300 * 100_000);
    expect((await stage.ask('POST', { body: request('tools/list') })).status).toBe(200);
    expect(stage.faults).toEqual([]);
  });

  it('[V118] may be sent one event of any size, and is complete when it is read', async () => {
    expect((await boundedStream(events(1, 5_000).response, 1_000).arrayBuffer()).byteLength).toBe(5_000);
    const { response } = events(50, 100);
    expect((await boundedStream(response, 10_000).arrayBuffer()).byteLength).toBe(5_000);
  });
});

const request = (method: string, params = {}) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

/** A stream that nobody reads until it is asked how much of it came. */
async function silentStream({ method = 'POST', session, run }: { method?: string; session?: string; run?: string }) {
  const meta = (field: string) => `io.modelcontextprotocol/${field}`;
  const params = {
    notifications: { resourceSubscriptions: [`signalbox://executions/${run}/events`] },
    _meta: {
      [meta('protocolVersion')]: '2026-07-28',
      [meta('clientInfo')]: { name: 'test', version: '1' },
      [meta('clientCapabilities')]: {},
    },
  };
  const asked = httpRequest(new URL('/mcp', stage.url), {
    method,
    headers: {
      accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
      'content-type': 'application/json',
      authorization: `Bearer ${TOKEN}`,
      ...(session === undefined
        ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }
        : { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': session }),
    },
  });
  asked.end(method === 'GET' ? undefined : request('subscriptions/listen', params));
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  return {
    async bytes() {
      let bytes = 0;
      for await (const chunk of response) bytes += (chunk as Buffer).length;
      return bytes;
    },
  };
}
