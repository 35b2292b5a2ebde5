import { type AddressInfo, connect, createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMeterServer } from '../../src/index.ts';
import { KEY, metered, REAL, send, toldCall } from './metered.ts';

/** What comes back for bytes as they are, until the other side closes or one whole answer without a body is there. */
function raw(url: string, text: string): Promise<string> {
  const { port, host } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(text.replaceAll('HOST', host)));
    let read = '';
    socket.on('data', part => {
      read += part.toString('latin1');
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(read));
  });
}

const asks = (line: string, headers = '', body = '{}') =>
  `${line}\r\nHost: HOST\r\nx-api-key: ${KEY}\r\nConnection: close\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
const statusIn = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

describe('an agent that attacks the gateway', () => {
  it('[V441] is refused whatever path or method has more than one reading, and nothing is sent on', async () => {
    const seen: string[] = [];
    const { url, away } = await metered((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.end();
    });
    for (const target of [
      'http://evil.example/v1/messages',
      'x://evil.example/v1/messages',
      '//evil.example/v1/messages',
      '/v1//messages',
      '/v1/../v1/messages',
      '/v1/./messages',
      '/v1/messages/%2e%2e/messages',
      '/v1/messages%2Fcount_tokens',
      '/v1/messages%3f/messages/count_tokens',
      '/v1/messages%00/messages/count_tokens',
      '/v1\\messages',
      '/v1/messages;a/messages/count_tokens',
      '/v1/messages#/messages/count_tokens',
      '*',
    ])
      expect([target, statusIn(await raw(url, asks(`POST ${target} HTTP/1.1`)))]).toEqual([target, 400]);
    for (const name of ['X-HTTP-Method-Override', 'X-Http-Method', 'X-Method-Override'])
      expect(statusIn(await raw(url, asks('GET /v1beta/models/m HTTP/1.1', `${name}: POST\r\n`)))).toBe(400);
    expect(statusIn(await raw(url, asks('GET /v1beta/models/m?$httpMethod=POST HTTP/1.1')))).toBe(400);
    expect([seen, away.length]).toEqual([[], 18]);
  });

  it('[V441] gets nothing through by two lengths, two framings, upgrades or tunnels', async () => {
    const seen: string[] = [];
    const { url } = await metered(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      seen.push(`${request.method} ${request.url} ${request.headers.upgrade ?? ''}${body}`);
      response.end();
    });
    const line = 'POST /v1/messages HTTP/1.1';
    const inner = `POST /v1/hidden HTTP/1.1\r\nHost: HOST\r\nx-api-key: ${KEY}\r\n\r\n`;
    expect(statusIn(await raw(url, asks(line, 'Content-Length: 40\r\n')))).toBe(400);
    expect(statusIn(await raw(url, asks(line, 'Transfer-Encoding: chunked\r\n', `0\r\n\r\n${inner}`)))).toBe(400);
    expect(await raw(url, `CONNECT evil.example:443 HTTP/1.1\r\nHost: HOST\r\nx-api-key: ${KEY}\r\n\r\n`)).toBe('');
    expect(statusIn(await raw(url, asks(line, `X-Large: ${'a'.repeat(20_000)}\r\n`)))).toBe(431);
    expect(seen).toEqual([]);
    expect(statusIn(await raw(url, asks(line, 'Upgrade: websocket\r\n')))).toBe(200);
    expect(statusIn(await raw(url, asks('POST /v1/messages HTTP/1.0')))).toBe(200);
    // One after the other on one connection: each is asked about.
    const two = asks(line).replace('Connection: close\r\n', '') + asks(line);
    expect((await raw(url, two)).match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    expect(seen).toEqual(Array.from({ length: 4 }, () => 'POST /v1/messages {}'));
  });

  it('[V442] finds its key replaced only where keys belong, so that no provider quotes the real one', async () => {
    let seen: readonly string[] = [];
    const { url } = await metered((request, response) => {
      seen = [...request.rawHeaders, request.url ?? ''];
      response.end();
    });
    const headers = {
      authorization: `Bearer ${KEY}`,
      'anthropic-beta': KEY,
      'user-agent': `a ${KEY}`,
      'x-api-key': '',
    };
    await send(`${url}/v1/messages?key=${KEY}&beta=${KEY}`, headers);
    expect(seen.filter(text => text.includes(REAL))).toEqual([
      `Bearer ${REAL}`,
      `/v1/messages?key=${REAL}&beta=${KEY}`,
    ]);
  });

  it.each(['plain', 'gzip', 'header'])('[V443] is not given an error that quotes the real key: %s', async how => {
    const { call, told } = toldCall();
    const { url } = await metered(
      (_, response) => {
        const text = JSON.stringify({ error: `invalid key ${how === 'header' ? '' : REAL}` });
        response.writeHead(401, {
          ...(how === 'gzip' && { 'content-encoding': 'gzip' }),
          ...(how === 'header' && { 'x-key': REAL }),
        });
        response.end(how === 'gzip' ? gzipSync(text) : text);
      },
      () => ({ kind: 'pass', call }),
    );
    const { status, bytes, head } = await send(`${url}/v1/messages`, { 'x-api-key': KEY });
    expect([status, told]).toEqual([401, ['answered 401', 'settled ended', 'committed']]);
    expect(bytes.toString() + head.join()).not.toContain(REAL);
    expect(bytes.toString()).toContain('quotes the key');
  });
});

describe('an agent that sends slowly', () => {
  it('[V445] holds up its own requests, and those of nobody else', async () => {
    const edge = createMeterServer({ heldBytes: 1_000_000 });
    onTestFinished(() => edge.close());
    const door = {
      holder: () => ({
        ...{ real: REAL, upstream: 'http://127.0.0.1:1' },
        ask: async () => ({ kind: 'refuse', status: 402, body: {} }) as const,
      }),
      turnedAway: () => {},
    };
    const [slow, other] = [await edge.listen(door), await edge.listen(door)];
    const { port, host } = new URL(slow.url);
    const socket = connect(Number(port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write(`POST /v1/messages HTTP/1.1\r\nHost: ${host}\r\nx-api-key: ${KEY}\r\nContent-Length: 900000\r\n\r\n{`);
    const large = JSON.stringify('x'.repeat(500_000));
    const own = send(`${slow.url}/v1/messages`, { 'x-api-key': KEY }, large);
    expect((await send(`${other.url}/v1/messages`, { 'x-api-key': KEY }, large)).status).toBe(402);
    socket.destroy();
    expect((await own).status).toBe(402);
  });
});

describe('a provider that closes connections', () => {
  /** Answers the first request of each connection; `next` is what happens to the second one. */
  async function closing(next: 'close' | 'close in the answer', first: 'answer' | 'close' = 'answer') {
    const bodies: string[] = [];
    const provider = createServer(socket => {
      let requests = 0;
      socket.on('error', () => {});
      socket.on('data', data => {
        bodies.push(data.toString().split('\r\n\r\n')[1] ?? '');
        if (first === 'close') return void socket.resetAndDestroy();
        if (requests++ === 0) return void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        if (next === 'close in the answer') socket.write('HTTP/1.1 2', () => socket.resetAndDestroy());
        else socket.resetAndDestroy();
      });
    });
    await new Promise<void>(resolve => provider.listen(0, '127.0.0.1', resolve));
    const edge = createMeterServer();
    onTestFinished(async () => {
      await edge.close();
      provider.close();
    });
    const calls: ReturnType<typeof toldCall>[] = [];
    const upstream = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    const { url } = await edge.listen({
      holder: () => ({
        ...{ real: REAL, upstream },
        async ask() {
          const call = toldCall();
          calls.push(call);
          return { kind: 'pass', call: call.call };
        },
      }),
      turnedAway: () => {},
    });
    const ask = async (body: string) => (await send(`${url}/v1/messages`, { 'x-api-key': KEY }, body)).status;
    return { ask, bodies, calls };
  }

  it('[V444] just as a request goes out on one that was used before gets it again, once, and it is counted once', async () => {
    const { ask, bodies, calls } = await closing('close');
    expect([await ask('"one"'), await ask('"two"')]).toEqual([200, 200]);
    expect(bodies).toEqual(['"one"', '"two"', '"two"']);
    expect(calls.map(({ told }) => told)).toEqual(
      Array.from({ length: 2 }, () => ['answered 200', 'settled ended', 'committed']),
    );
  });

  it('[V444] after a byte of the answer, or on a new connection, does not', async () => {
    const begun = await closing('close in the answer');
    expect([await begun.ask('"one"'), await begun.ask('"two"')]).toEqual([200, 502]);
    expect(begun.bodies).toEqual(['"one"', '"two"']);
    const fresh = await closing('close', 'close');
    expect(await fresh.ask('"one"')).toBe(502);
    expect([fresh.bodies, fresh.calls[0]?.told]).toEqual([['"one"'], ['settled cut', 'committed']]);
  });
});
