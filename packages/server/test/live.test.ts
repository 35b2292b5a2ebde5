import { request } from 'node:http';
import net from 'node:net';
import { thisMachine } from '@signalbox/app/host';
import { errorEnvelope, type ServerMessage, serverMessage, type TreeNode } from '@signalbox/model';
import { type RunningServer, startServer } from '@signalbox/server';
import { afterEach, describe, expect, it } from 'vitest';
import { PICTURE_MS } from '../../app/src/live/run-picture.ts';
import { TOKEN } from './http-asker.ts';
import { type LiveClient, liveClient } from './live-client.ts';
import { manualTimers } from './manual-timers.ts';
import { releasePlan } from './release-plan.ts';
import { type ScriptedHost, scriptedHost } from './scripted-host.ts';

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

interface Stage {
  readonly host: ScriptedHost;
  readonly server: RunningServer;
  connect(): Promise<LiveClient>;
}

async function stage(options: Partial<Parameters<typeof startServer>[0]> = {}): Promise<Stage> {
  const host = scriptedHost();
  const started = await startServer({ host, token: TOKEN, port: 0, timers: thisMachine().timers, ...options });
  if (!started.ok) throw new Error(started.error.message);
  const server = started.value;
  ended.push(() => server.close());
  return {
    host,
    server,
    async connect() {
      const client = await liveClient(server.url, { token: TOKEN });
      ended.push(() => client.close());
      return client;
    },
  };
}

const events = (messages: readonly ServerMessage[]) =>
  messages.flatMap(message => (message.kind === 'event' ? [message.stored.event.seq] : []));

/** The tree that a client has after all it was sent. */
function treeOf(messages: readonly ServerMessage[]): ReadonlyMap<string, TreeNode> {
  const tree = new Map<string, TreeNode>();
  for (const message of messages) {
    if (message.kind === 'state') for (const node of message.snapshot.tree) tree.set(node.id, node);
    if (message.kind !== 'nodes') continue;
    for (const node of message.put) tree.set(node.id, node);
    for (const id of message.gone) tree.delete(id);
  }
  return tree;
}

describe('the server', () => {
  it('[V20] listens on loopback only, and reports its address', async () => {
    const { server } = await stage();
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const answer = await fetch(`${server.url}/api/health`, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(await answer.json()).toMatchObject({ name: 'signalbox' });
  });

  it('[V20] a port that is taken is an envelope', async () => {
    const { server, host } = await stage();
    const second = await startServer({ host, token: TOKEN, port: server.port, timers: thisMachine().timers });
    expect(second).toMatchObject({ ok: false, error: { code: 'server/cannot-listen' } });
  });

  it('[V2] checks the host of real requests', async () => {
    const { server } = await stage();
    const status = await new Promise(resolve => {
      const asked = request(server.url, { headers: { host: 'evil.example' } }, answer => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asked.end();
    });
    expect(status).toBe(403);
  });

  it('[V6] reads a body without a declared length, up to a megabyte', async () => {
    const { server } = await stage();
    const post = (size: number) =>
      fetch(`${server.url}/api/runs`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        body: new Blob([JSON.stringify({ file: 'a.tsx', input: 'x'.repeat(size) })]).stream(),
        duplex: 'half',
      });
    expect((await post(500_000)).status).toBe(201);
    expect((await post(1_100_000)).status).toBe(413);
  });

  it('[V5] a method that no route has is answered with the envelope', async () => {
    const { server } = await stage();
    for (const method of ['OPTIONS', 'PUT']) {
      const answer = await fetch(`${server.url}/api/runs`, { method, headers: { authorization: `Bearer ${TOKEN}` } });
      expect([answer.status, errorEnvelope.parse(await answer.json()).code]).toEqual([404, 'request/unknown-route']);
    }
  });

  it('[V5] garbage on the socket ends that connection and nothing else', async () => {
    const { server } = await stage();
    const socket = net.connect(server.port, '127.0.0.1');
    const closed = new Promise(resolve => socket.on('close', resolve));
    socket.on('error', () => undefined);
    socket.resume();
    socket.write('\x16\x03\x01garbage\r\n\r\n');
    await closed;
    const answer = await fetch(`${server.url}/api/health`, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(answer.status).toBe(200);
  });
});

describe('a connection', () => {
  it.each([
    ['another host', { host: 'evil.example' }, 403],
    ['another origin', { origin: 'http://evil.example' }, 403],
  ])('[V21] for %s is refused before it is one', async (_name, headers, status) => {
    const { server } = await stage();
    await expect(liveClient(server.url, { headers })).rejects.toThrow(`${status}`);
  });

  it('[V21] of our own page is accepted', async () => {
    const { server } = await stage();
    const client = await liveClient(server.url, { headers: { origin: server.url }, token: TOKEN });
    expect(client.received).toEqual([{ kind: 'welcome' }]);
    client.close();
  });

  it('[V21] at another path, or with a query, is refused with the envelope', async () => {
    const { server } = await stage();
    for (const path of ['/api/other', `/api/ws?token=${TOKEN}`]) {
      const answer = await new Promise<string>(resolve => {
        const socket = net.connect(server.port, '127.0.0.1', () =>
          socket.write(
            `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
          ),
        );
        let text = '';
        socket.on('data', data => {
          text += data;
        });
        socket.on('end', () => resolve(text));
      });
      expect(answer).toMatch(/^HTTP\/1\.1 404 /);
      expect(errorEnvelope.parse(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).code).toBe('request/unknown-route');
    }
  });

  it.each([
    ['a wrong token', { kind: 'hello', token: 'wrong' }],
    ['a subscription', { kind: 'subscribe', run: 'all' }],
    ['garbage', [1, 2, 3]],
  ])('[V22] that begins with %s is ended, and told nothing', async (_name, message) => {
    const { server } = await stage();
    const client = await liveClient(server.url);
    client.say(message);
    expect(await client.closed).toBe(4401);
    expect(client.received).toEqual([]);
  });

  it('[V22] that sends nothing is ended', async () => {
    const manual = manualTimers();
    const { server } = await stage({ timers: manual.timers });
    const client = await liveClient(server.url);
    manual.advance(5_000);
    expect(await client.closed).toBe(4401);
  });

  it('[V23] gets an error for messages that are not understood, and continues', async () => {
    const { connect } = await stage();
    const client = await connect();
    client.socket.send('{"kind":');
    client.say({ kind: 'subscribe', run: 'x' });
    client.say({ kind: 'subscribe', run: '01890000-0000-7000-8000-00000000dead' });
    await client.until(received => received.filter(({ kind }) => kind === 'refused').length === 3);
    client.say({ kind: 'subscribe', run: 'all' });
    await client.first('runs');
  });

  it('[V23] with a message that is too large is ended', async () => {
    const { connect } = await stage();
    const client = await connect();
    client.say({ kind: 'hello', token: 'x'.repeat(70_000) });
    expect(await client.closed).toBe(1009);
  });

  it('[V24] that does not answer a ping is ended', async () => {
    const manual = manualTimers();
    const { server } = await stage({ timers: manual.timers });
    const client = await liveClient(server.url, { token: TOKEN });
    const pinged = new Promise(resolve => client.socket.once('ping', resolve));
    manual.advance(30_000);
    await pinged;
    // It answered the first; it does not read the second.
    client.socket.pause();
    manual.advance(30_000);
    manual.advance(30_000);
    client.socket.resume();
    expect(await client.closed).toBe(1006);
  });

  it('[V25] of a closing server is ended', async () => {
    const { server, connect } = await stage();
    const client = await connect();
    await server.close();
    expect(await client.closed).toBe(1001);
  });
});

describe('watching a run', () => {
  it('[V26] begins with the full state; then every event arrives once, in order', async () => {
    const { host, connect } = await stage();
    const run = await host.begin('release');
    await run.render(releasePlan, { build: 'running' });
    const client = await connect();
    client.say({ kind: 'subscribe', run: run.id, view: 'stored' });
    const state = await client.first('state');
    expect(state.next).toBe(2);
    expect(state.snapshot.tree).toHaveLength(8);
    for (const turn of [1, 2, 3]) await run.state('turn', turn);
    await client.until(received => events(received).length === 3);
    expect(events(client.received)).toEqual([2, 3, 4]);
    expect(await host.store.events(run.id, 2, 9)).toEqual(
      client.received.flatMap(message => (message.kind === 'event' ? [message.stored] : [])),
    );
    for (const message of client.received) expect(serverMessage.parse(message)).toEqual(message);
  });

  it('[V27] resumes from any event, while more are committed', async () => {
    const { host, connect } = await stage();
    const run = await host.begin('release');
    for (let turn = 1; turn <= 450; turn += 1) await run.state('turn', turn);
    const client = await connect();
    client.say({ kind: 'subscribe', run: run.id, from: 3 });
    for (let turn = 451; turn <= 900; turn += 1) await run.state('turn', turn);
    await client.until(received => events(received).length >= 898);
    expect(events(client.received)).toEqual(Array.from({ length: 898 }, (_, index) => index + 3));
    expect((await client.first('state')).next).toBe(3);
  });

  it('[V27] from an event that does not exist yet continues with what comes', async () => {
    const { host, connect } = await stage();
    const run = await host.begin('release');
    const client = await connect();
    client.say({ kind: 'subscribe', run: run.id, from: 99 });
    expect((await client.first('state')).next).toBe(1);
    await run.state('turn', 1);
    await client.first('event', ({ stored }) => stored.event.seq === 1);
  });

  it('[V28] the tree follows commits: statuses, reasons, nodes that come and go', async () => {
    const { host, connect } = await stage();
    const run = await host.begin('release');
    await run.render(releasePlan, { build: 'running' });
    const client = await connect();
    client.say({ kind: 'subscribe', run: run.id });
    await client.first('state');
    await run.status('build', 'succeeded');
    await run.status('review', 'blocked', 'rate_limit');
    await client.until(received => treeOf(received).get('review')?.reason === 'rate_limit');
    expect(treeOf(client.received).get('build')?.status).toBe('succeeded');
    await run.render({ ...releasePlan, children: [{ id: 'new', kind: 'while', data: { maxIterations: 5 } }] });
    await run.loop('new', 2);
    await run.state('turn', 1);
    await client.until(received => treeOf(received).get('new')?.iteration === 2);
    expect([...treeOf(client.received).keys()]).toEqual(['root', 'new']);
    const patches = client.received.filter(message => message.kind === 'nodes');
    expect(patches[0]?.put.map(({ id }) => id).every(id => ['build', 'review'].includes(id))).toBe(true);
  });

  it('[V28] open decisions, running tasks and the run itself follow too', async () => {
    const { host, connect } = await stage();
    const run = await host.begin('release');
    const client = await connect();
    client.say({ kind: 'subscribe', run: run.id });
    await client.first('state');
    const task = await run.startTask('review');
    const { id } = await run.ask('review', { cmd: 'make' });
    await client.first('tasks', ({ tasks }) => tasks[0]?.id === task);
    await client.first('decisions', ({ decisions }) => decisions[0]?.approvalId === id);
    await run.endTask(task);
    await run.become('completed');
    await client.first('run', ({ summary }) => summary.status === 'completed');
    await client.first('tasks', ({ tasks }) => tasks.length === 0);
  });

  it('[V29] agent output arrives joined, in order, each part once', async () => {
    const { host, connect } = await stage();
    const run = await host.begin('release');
    const task = await run.startTask('review');
    const client = await connect();
    client.say({ kind: 'subscribe', run: run.id, view: 'stored' });
    await client.first('state');
    const words = Array.from({ length: 300 }, (_, index) => `w${index} `);
    for (let at = 0; at < words.length; at += 30) await run.say(task, ...words.slice(at, at + 30));
    await client.first('stream', ({ next }) => next === 300);
    const parts = client.received.filter(message => message.kind === 'stream');
    expect(parts.flatMap(({ chunks }) => chunks.map(({ payload }) => payload)).join('')).toBe(words.join(''));
    expect(parts.flatMap(({ chunks }) => chunks).length).toBeLessThan(100);
    expect(parts.map(({ dropped }) => dropped).every(dropped => dropped === 0)).toBe(true);
  });

  it('[A585] a question that has changed since is sent as it was then, live and from any event on', async () => {
    const { host, connect } = await stage();
    const run = await host.begin('release');
    const told = (client: LiveClient) =>
      client.received.flatMap(message => (message.kind === 'event' ? [JSON.stringify(message.stored)] : []));
    const live = await connect();
    live.say({ kind: 'subscribe', run: run.id, from: 0 });
    const question = await run.ask('review', { cmd: 'make', why: 'to build' });
    await live.until(received => events(received).length === 2);
    await run.propose(question, { cmd: 'make clean', why: 'to clean up' });
    await live.until(received => events(received).length === 3);
    const later = await connect();
    later.say({ kind: 'subscribe', run: run.id, from: 0 });
    await later.until(received => events(received).length === 3);
    expect(told(later)).toEqual(told(live));
    expect(told(later).map(text => JSON.parse(text).event)).toMatchObject([
      { type: 'run.patch' },
      { type: 'approval.requested', context: 'to build', tool: { args: { cmd: 'make' } } },
      { type: 'approval.requested', context: 'to clean up', tool: { args: { cmd: 'make clean' } } },
    ]);
  });

  it('[A584] agent output arrives in its place among events, and names it', async () => {
    const { host, connect } = await stage();
    const run = await host.begin('release');
    const task = await run.startTask('review');
    const [contract, stored] = [await connect(), await connect()];
    contract.say({ kind: 'subscribe', run: run.id });
    stored.say({ kind: 'subscribe', run: run.id, view: 'stored' });
    await Promise.all([contract.first('state'), stored.first('state')]);
    for (const turn of [1, 2, 3]) {
      await run.say(task, `a${turn} `, `b${turn} `);
      await run.state('turn', turn);
    }
    for (const client of [contract, stored]) await client.until(received => events(received).length === 3);
    const places = (client: LiveClient) =>
      client.received.flatMap((message): readonly unknown[] => {
        if (message.kind === 'event') return [message.stored.event.seq];
        if (message.kind === 'stream')
          return message.chunks.map(({ payload, after, index }) => [payload, after, index]);
        if (message.kind !== 'said' || message.event.type !== 'message.assistant.delta') return [];
        return [[message.event.delta, message.event.after, message.event.offset]];
      });
    const expected = [['a1 b1 ', 1, 0], 2, ['a2 b2 ', 2, 2], 3, ['a3 b3 ', 3, 4], 4];
    expect([places(contract), places(stored)]).toEqual([expected, expected]);
  });

  it('[V30] ends with its subscription, and a second one starts over', async () => {
    const { host, connect } = await stage();
    const run = await host.begin('release');
    const other = await host.begin('other');
    const client = await connect();
    client.say({ kind: 'subscribe', run: run.id });
    client.say({ kind: 'subscribe', run: run.id, from: 0 });
    client.say({ kind: 'subscribe', run: other.id });
    await client.first('event', ({ run: of }) => of === run.id);
    client.say({ kind: 'unsubscribe', run: run.id });
    client.say({ kind: 'subscribe', run: 'all' });
    await client.first('runs');
    await run.state('turn', 1);
    await other.state('turn', 1);
    await client.first('event', ({ run: of }) => of === other.id);
    expect(events(client.received.filter(message => 'run' in message && message.run === run.id))).toEqual([0]);
  });
});

describe('a failure while serving a client', () => {
  it('[V35] ends only its connection', async () => {
    const faults: unknown[] = [];
    const { host, connect } = await stage({ onFault: thrown => faults.push(thrown) });
    const run = await host.begin('release');
    const broken = new Error('the disk is gone');
    const { runs, events } = host.store;
    host.store.runs = host.store.events = async () => {
      throw broken;
    };
    const [one, two] = [await connect(), await connect()];
    one.say({ kind: 'subscribe', run: 'all' });
    two.say({ kind: 'subscribe', run: run.id, from: 0 });
    expect([await one.closed, await two.closed]).toEqual([1011, 1011]);
    expect(faults).toEqual([broken, broken]);
    Object.assign(host.store, { runs, events });
    const three = await connect();
    three.say({ kind: 'subscribe', run: run.id, from: 0 });
    await three.first('event');
  });

  it('[V35] a picture that cannot be read is read again after the next commit', async () => {
    const faults: unknown[] = [];
    const { host, connect } = await stage({ onFault: thrown => faults.push(thrown) });
    const run = await host.begin('release');
    const client = await connect();
    client.say({ kind: 'subscribe', run: run.id });
    await client.first('state');
    const { decisions } = host.store;
    host.store.decisions = async () => {
      Object.assign(host.store, { decisions });
      throw new Error('once');
    };
    await run.render(releasePlan);
    await client.first('event');
    await run.status('build', 'running');
    await client.until(received => treeOf(received).get('build')?.status === 'running');
    expect(faults).toEqual([new Error('once')]);
  });
});

describe('watching all runs', () => {
  it('[V31] begins with the newest; then each run is sent after it changed', async () => {
    const { host, connect } = await stage();
    const first = await host.begin('first');
    const client = await connect();
    client.say({ kind: 'subscribe', run: 'all' });
    expect((await client.first('runs')).runs.map(({ id }) => id)).toEqual([first.id]);
    const second = await host.begin('second');
    await client.first('run', ({ run }) => run === second.id);
    await first.ask('x', {});
    await first.become('waiting');
    const { summary } = await client.first('run', message => message.summary.record.status === 'waiting');
    expect(summary).toMatchObject({ id: first.id, status: 'paused', openDecisions: 1 });
  });

  it('[V31] a run that changes all the time is sent a few times, and its end is sent', async () => {
    const manual = manualTimers();
    const { host, connect } = await stage({ timers: manual.timers });
    const run = await host.begin('busy');
    const client = await connect();
    client.say({ kind: 'subscribe', run: 'all' });
    await client.first('runs');
    const told = () => client.received.filter(({ kind }) => kind === 'run').length;
    for (let look = 1; look <= 5; look += 1) {
      for (let turn = 0; turn < 100; turn += 1) await run.state('turn', turn);
      manual.advance(PICTURE_MS);
      await client.until(() => told() === look);
    }
    await run.become('completed');
    manual.advance(PICTURE_MS);
    await client.first('run', ({ summary }) => summary.status === 'completed');
    expect(told()).toBe(6);
  });
});

describe('a client that does not read', () => {
  it('[V32] and reads again gets everything, each event once', async () => {
    // However long it takes, it is not too slow.
    const { host, connect } = await stage({ timers: manualTimers().timers });
    const run = await host.begin('release');
    const client = await connect();
    client.say({ kind: 'subscribe', run: run.id, from: 0 });
    await client.first('state');
    client.socket.pause();
    for (let turn = 0; turn < 40; turn += 1) {
      await host.act(run.id, { kind: 'signal', name: 'load', payload: 'x'.repeat(500_000) }, 'test');
    }
    client.socket.resume();
    await client.until(received => events(received).length >= 41);
    expect(events(client.received)).toEqual(Array.from({ length: 41 }, (_, index) => index));
  });
});
