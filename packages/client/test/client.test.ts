import net from 'node:net';
import { thisMachine } from '@signalbox/app/host';
import { type Client, createClient, type News } from '@signalbox/client';
import type { RunId, WireStoredEvent } from '@signalbox/model';
import { type RunningServer, startServer } from '@signalbox/server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { releasePlan } from '../../server/test/release-plan.ts';
import { type ScriptedHost, scriptedHost } from '../../server/test/scripted-host.ts';

const TOKEN = 'a-token-of-this-test';
const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

let host: ScriptedHost;
let server: RunningServer;
let client: Client;

async function serve(): Promise<RunningServer> {
  const started = await startServer({ host, token: TOKEN, port: 0, timers: thisMachine().timers });
  if (!started.ok) throw new Error(started.error.message);
  ended.push(() => started.value.close());
  return started.value;
}

beforeEach(async () => {
  host = scriptedHost();
  server = await serve();
  client = createClient({ url: server.url, token: TOKEN });
});

const value = async <T>(answer: Promise<{ ok: true; value: T } | { ok: false; error: { message: string } }>) => {
  const result = await answer;
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
};

describe('a client', () => {
  it('[C1] has a method for every route', async () => {
    expect(await value(client.health())).toMatchObject({ name: 'signalbox' });
    expect((await createClient({ url: `${server.url}/`, token: TOKEN }).health()).ok).toBe(true);
    const begun = await value(client.start({ file: 'a.tsx', name: 'release' }, { idempotencyKey: 'k' }));
    expect((await value(client.start({ file: 'a.tsx' }, { idempotencyKey: 'k' }))).id).toBe(begun.id);
    const run = host.run(begun.id);
    await run.render(releasePlan, { build: 'running' });
    await run.state('turn', 1);
    const task = await run.startTask('review');
    await run.say(task, 'hello');
    const decision = await run.ask('review', { cmd: 'make' });
    expect((await value(client.runs({ status: ['running', 'paused'], name: 'release', limit: 5 }))).runs).toHaveLength(
      1,
    );
    expect((await value(client.run(run.id))).tree).toHaveLength(8);
    expect((await value(client.events(run.id, { from: 1, limit: 1 }))).next).toBe(2);
    expect((await value(client.frames(run.id))).frames).toHaveLength(1);
    expect((await value(client.tree(run.id, 0))).tree).toHaveLength(8);
    expect((await value(client.state(run.id))).state).toEqual({ turn: 1 });
    expect((await value(client.state(run.id, 0))).state).toEqual({});
    expect((await value(client.transitions(run.id, { key: 'turn' }))).transitions).toHaveLength(1);
    expect((await value(client.tasks(run.id))).tasks).toHaveLength(1);
    expect((await value(client.stream(run.id, task))).chunks).toHaveLength(1);
    expect((await value(client.decisions({ run: run.id }))).approvals).toHaveLength(1);
    expect((await value(client.spending({ run: run.id, since: '2026-01-01T00:00:00.000Z' }))).spending).toEqual([]);
    expect((await value(client.resolve(decision.id, { status: 'approved' }))).decision.status).toBe('answered');
    await value(client.signal(run.id, 'go', { a: 1 }));
    await value(client.retry(run.id, 'a/b c'));
    await value(client.cancel(run.id, 'build'));
    expect((await value(client.pause(run.id))).record.status).toBe('paused');
    expect((await value(client.resume(run.id))).record.status).toBe('running');
    expect((await value(client.stop(run.id, 'late'))).stopReason).toBe('late');
    await value(client.resume(run.id, { useCurrent: true }));
    expect((await value(client.terminate(run.id))).record.status).toBe('stopped');
    expect(host.acted[1]?.action).toEqual({ kind: 'retry', node: 'a/b c' });
  });

  it('[C26] a bundle comes as bytes, or it says why there is none', async () => {
    const run = await host.begin('release');
    const bytes = new TextDecoder().decode(await value(client.bundle(run.id)));
    expect(bytes).toMatch(new RegExp(`^(bundle of ${run.id}\n)+$`));
    const unknown = await client.bundle('01890000-0000-7000-8000-00000000dead' as RunId);
    expect(unknown).toMatchObject({ ok: false, error: { code: 'run/unknown' } });
  });

  it('[C2] gives back the server’s envelope', async () => {
    const unknown = await client.run('01890000-0000-7000-8000-00000000dead' as RunId);
    expect(unknown).toMatchObject({ ok: false, error: { code: 'run/unknown' } });
    const stranger = createClient({ url: server.url, token: 'wrong' });
    expect(await stranger.runs()).toMatchObject({ ok: false, error: { code: 'request/unauthorized' } });
  });

  it('[C2] says that a server did not answer, and whether to ask again', async () => {
    await server.close();
    expect(await client.runs()).toMatchObject({
      ok: false,
      error: { code: 'request/unreachable', retry: { kind: 'retryable_after_ms' } },
    });
    const run = '01890000-0000-7000-8000-00000000dead' as RunId;
    const cutOff = createClient({
      url: server.url,
      token: 'any',
      fetch: () => Promise.reject(new TypeError('cut off')),
    });
    expect(await cutOff.pause(run)).toMatchObject({
      ok: false,
      error: {
        code: 'request/unreachable',
        retry: { kind: 'not_retryable' },
        message: expect.stringContaining('not known'),
      },
    });
    expect(await cutOff.start({ file: 'a' }, { idempotencyKey: 'k' })).toMatchObject({
      error: { retry: { kind: 'retryable_after_ms' } },
    });
  });

  it('[A917] says that nothing was done if nobody listens', async () => {
    await server.close();
    // A new connection, not one that was open when the server closed.
    const late = createClient({ url: server.url.replace('127.0.0.1', 'localhost'), token: 'any' });
    expect(await late.pause('01890000-0000-7000-8000-00000000dead' as RunId)).toMatchObject({
      error: {
        code: 'request/unreachable',
        retry: { kind: 'retryable_after_ms' },
        message: expect.not.stringContaining('not known'),
      },
    });
  });

  it.each([
    ['a page', 200, '<html>'],
    ['another shape', 200, '{"runs": 7}'],
    ['an error that is no envelope', 502, 'Bad Gateway'],
  ])('[C3] does not believe %s', async (_name, status, body) => {
    const fetch = async () => new Response(body, { status });
    const misled = createClient({ url: 'http://127.0.0.1:1', token: TOKEN, fetch });
    expect(await misled.runs()).toMatchObject({ ok: false, error: { code: 'request/bad-answer' } });
  });

  it('[C11] checks a long list in parts: all of it is believed, or nothing', async () => {
    const run = '01890000-0000-7000-8000-00000000dead' as RunId;
    const node = (index: number) => ({
      id: `n${index}`,
      nodeId: run,
      index,
      kind: 'task',
      label: `Task ${index}`,
      status: 'idle',
      iteration: 0,
    });
    const tree: object[] = Array.from({ length: 1_234 }, (_, index) => node(index));
    const ask = () => {
      const fetch = async () => new Response(JSON.stringify({ frame: 3, tree }));
      return createClient({ url: 'http://127.0.0.1:1', token: TOKEN, fetch }).tree(run, 3);
    };
    expect(await ask()).toEqual({ ok: true, value: { frame: 3, tree } });
    tree[1_111] = { ...node(1_111), status: 'odd' };
    expect(await ask()).toMatchObject({ ok: false, error: { code: 'request/bad-answer' } });
  });
});

/**
 * An address that stays while servers come and go behind it: a port that was given back may be somebody else's the next moment.
 * Where there is no server, a connection ends at once.
 */
async function front(target: () => RunningServer | undefined): Promise<string> {
  const door = net.createServer(incoming => {
    const { port } = target() ?? {};
    incoming.on('error', () => undefined);
    if (port === undefined) {
      incoming.destroy();
      return;
    }
    const outgoing = net.connect(port, '127.0.0.1').on('error', () => undefined);
    // A server knows itself by its own address only.
    incoming.once('data', first => {
      outgoing.write(first.toString('latin1').replace(`:${own}\r\n`, `:${port}\r\n`), 'latin1');
      incoming.pipe(outgoing).pipe(incoming);
    });
    incoming.on('close', () => outgoing.destroy());
    outgoing.on('close', () => incoming.destroy());
  });
  await new Promise<void>(resolve => door.listen(0, '127.0.0.1', resolve));
  ended.push(() => door.close());
  const { port: own } = door.address() as net.AddressInfo;
  return `http://127.0.0.1:${own}`;
}

/** Keeps what a watch tells. */
function ear() {
  const heard: News[] = [];
  const waiting = new Set<() => void>();
  return {
    heard,
    tell(news: News) {
      heard.push(news);
      for (const look of [...waiting]) look();
    },
    until: (isSo: (heard: readonly News[]) => boolean) =>
      new Promise<void>(resolve => {
        const look = () => {
          if (!isSo(heard)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    events: () => heard.flatMap((news): readonly WireStoredEvent[] => (news.kind === 'event' ? [news.stored] : [])),
    statuses: () => heard.flatMap(news => (news.kind === 'connection' ? [news.status] : [])),
  };
}

describe('watching', () => {
  it('[C4] tells the state and then what follows', async () => {
    const run = await host.begin('release');
    const listener = ear();
    ended.push(client.watch(run.id, listener.tell).close);
    await listener.until(heard => heard.some(({ kind }) => kind === 'state'));
    await run.render(releasePlan, { build: 'running' });
    await listener.until(heard => heard.some(({ kind }) => kind === 'nodes'));
    expect(listener.heard.map(({ kind }) => kind).slice(0, 3)).toEqual(['connection', 'connection', 'state']);
    expect(listener.statuses()).toEqual(['connecting', 'live']);
  });

  it('[C25] an outline is told without the contract’s nodes, edges and artifacts; all else is the same', async () => {
    const run = await host.begin('release');
    await run.render(releasePlan, { build: 'running' });
    const [whole, outline] = [ear(), ear()];
    ended.push(client.watch(run.id, whole.tell).close);
    ended.push(client.watch(run.id, outline.tell, { outline: true }).close);
    const [all, less] = await Promise.all(
      [whole, outline].map(async listener => {
        await listener.until(heard => heard.some(({ kind }) => kind === 'state'));
        return listener.heard.flatMap(news => (news.kind === 'state' ? [news.snapshot] : []))[0];
      }),
    );
    const { nodes, edges, artifacts, ...rest } = all ?? {};
    expect(less).toEqual(rest);
    expect([Object.keys(nodes ?? {}).length > 0, edges, artifacts]).toEqual([true, {}, {}]);
    await run.state('turn', 1);
    await outline.until(() => outline.events().length === 1);
  });

  it('[C4] all runs are watched the same way', async () => {
    const listener = ear();
    ended.push(client.watch('all', listener.tell).close);
    await listener.until(heard => heard.some(({ kind }) => kind === 'runs'));
    const run = await host.begin('release');
    await listener.until(heard => heard.some(news => news.kind === 'run' && news.run === run.id));
  });

  it('[C5] goes on after the server was away: no event is lost, none comes twice', async () => {
    const run = await host.begin('release');
    const listener = ear();
    let serving: RunningServer | undefined = server;
    const lasting = createClient({ url: await front(() => serving), token: TOKEN });
    ended.push(lasting.watch(run.id, listener.tell, { from: 0 }).close);
    let turn = 0;
    const work = async (times: number) => {
      for (const end = turn + times; turn < end; turn += 1) await run.state('turn', turn);
    };
    for (let restart = 0; restart < 3; restart += 1) {
      await work(120);
      await listener.until(() => listener.statuses().filter(status => status === 'live').length > restart);
      const leaving = serving;
      serving = undefined;
      await leaving?.close();
      await work(150);
      serving = await serve();
      await work(30);
    }
    const all = await host.store.events(run.id, 0, 10_000);
    await listener.until(() => listener.events().length >= all.length);
    expect(listener.events()).toEqual(all);
    expect(listener.statuses().filter(status => status === 'lost').length).toBeGreaterThanOrEqual(3);
  });

  it('[C6] waits longer each time, up to a bound, and begins again after it was connected', async () => {
    const waits: number[] = [];
    const connections: { opened(): void; received(text: string): void; closed(code: number): void }[] = [];
    const timers: (() => void)[] = [];
    const lonely = createClient({
      url: 'http://127.0.0.1:1',
      token: TOKEN,
      random: () => 1,
      after: (ms, run) => {
        waits.push(ms);
        timers.push(run);
        return () => undefined;
      },
      connect: (_url, events) => {
        connections.push(events);
        return { send: () => undefined, close: () => undefined };
      },
    });
    const watched = lonely.watch('all', () => undefined);
    for (let turn = 0; turn < 8; turn += 1) {
      connections.at(-1)?.closed(1006);
      timers.at(-1)?.();
    }
    expect(waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
    connections.at(-1)?.received('{"kind":"welcome"}');
    connections.at(-1)?.closed(1006);
    expect(waits.at(-1)).toBe(250);
    watched.close();
  });

  it('[C7] ends where it cannot go on: a wrong token, an unknown run', async () => {
    const stranger = ear();
    createClient({ url: server.url, token: 'wrong' }).watch('all', stranger.tell);
    await stranger.until(() => stranger.statuses().includes('ended'));
    expect(stranger.heard.at(-1)).toMatchObject({ error: { code: 'request/unauthorized' } });
    const lost = ear();
    client.watch('01890000-0000-7000-8000-00000000dead' as RunId, lost.tell);
    await lost.until(() => lost.statuses().includes('ended'));
    expect(lost.heard.at(-1)).toMatchObject({ error: { code: 'run/unknown' } });
  });

  it('[C8] tells nothing after it was closed', async () => {
    const run = await host.begin('release');
    const listener = ear();
    const watched = client.watch(run.id, listener.tell);
    const other = ear();
    ended.push(client.watch(run.id, other.tell).close);
    await listener.until(heard => heard.some(({ kind }) => kind === 'state'));
    await other.until(heard => heard.some(({ kind }) => kind === 'state'));
    watched.close();
    const told = listener.heard.length;
    await run.state('turn', 1);
    await other.until(() => other.events().length === 1);
    expect(listener.heard.length).toBe(told);
  });

  it('[C9] a gap makes it connect anew from where it was; what came before is not told again', () => {
    const sent: string[] = [];
    const connections: { opened(): void; received(text: string): void }[] = [];
    const timers: (() => void)[] = [];
    const listener = ear();
    const run = '01890000-0000-7000-8000-00000000dead' as RunId;
    const event = (seq: number) =>
      JSON.stringify({
        kind: 'event',
        run,
        stored: {
          event: { v: 1, id: run, runId: run, seq, ts: '2026-01-01T00:00:00Z', type: 'x' },
          hash: `sha256:${'0'.repeat(64)}`,
        },
      });
    createClient({
      url: 'http://127.0.0.1:1',
      token: TOKEN,
      after: (_ms, again) => {
        timers.push(again);
        return () => undefined;
      },
      connect: (_url, events) => {
        connections.push(events);
        return { send: text => sent.push(text), close: () => undefined };
      },
    }).watch(run, listener.tell, { from: 4 });
    const say = (...texts: readonly string[]) => {
      for (const text of texts) connections.at(-1)?.received(text);
    };
    connections[0]?.opened();
    say('{"kind":"welcome"}', event(3), event(4), event(4), event(5), event(7));
    timers[0]?.();
    connections[1]?.opened();
    say('{"kind":"welcome"}', event(6), event(7));
    expect(listener.events().map(stored => stored.event.seq)).toEqual([4, 5, 6, 7]);
    expect(sent.map(text => JSON.parse(text)).filter(({ kind }) => kind === 'subscribe')).toEqual([
      { kind: 'subscribe', run, view: 'stored', from: 4 },
      { kind: 'subscribe', run, view: 'stored', from: 6 },
    ]);
  });
});
