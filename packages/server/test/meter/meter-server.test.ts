import { createHash } from 'node:crypto';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { MeterVerdict } from '@signalbox/app/host';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMeterServer } from '../../src/index.ts';
import { KEY, metered, REAL, send, toldCall } from './metered.ts';

const withKey = { 'x-api-key': KEY };
const bodyOf = async (request: IncomingMessage) => Buffer.concat(await request.toArray()).toString('utf8');
const events = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });

describe('the gateway to models', () => {
  it('[V380] lets in nobody without the key of an attempt that is under way, and says who was turned away', async () => {
    const asked: string[] = [];
    const { url, away } = await metered((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    const statusOf = async (headers: Readonly<Record<string, string>>) =>
      (await send(`${url}/v1/messages`, headers)).status;
    expect(await statusOf({})).toBe(401);
    expect(await statusOf({ 'x-api-key': 'sk-of-another' })).toBe(401);
    expect(await statusOf({ ...withKey, origin: 'https://page.example' })).toBe(403);
    expect(await statusOf({ ...withKey, host: 'rebound.example' })).toBe(403);
    expect([asked, away.length]).toEqual([[], 4]);
    expect(JSON.stringify(away)).not.toContain('sk-of');
    expect(await statusOf(withKey)).toBe(200);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('[V381] passes on both sides byte by byte, with the real key in the place of the own one', async () => {
    const seen: { readonly head: readonly string[]; readonly url: string; readonly body: string }[] = [];
    const packed = gzipSync('{"answer":1}');
    const { url, upstream } = await metered(async (request, response) => {
      seen.push({ head: request.rawHeaders, url: request.url ?? '', body: await bodyOf(request) });
      response.sendDate = false;
      response.writeHead(200, [
        'Content-Type',
        'application/json',
        'Content-Encoding',
        'gzip',
        'X-Odd',
        'ä'.normalize(),
        'Content-Length',
        String(packed.length),
      ]);
      response.end(packed);
    });
    const body = '{"text": "\\u00e4 ünicode",\n "key": "as it is"}';
    const places = [
      ['/v1/messages?beta=true', { 'x-api-key': KEY }],
      ['/v1/responses', { Authorization: `Bearer ${KEY}` }],
      ['/v1beta/models/m:generateContent', { 'X-Goog-Api-Key': KEY }],
      [`/v1beta/models/m:generateContent?alt=sse&key=${KEY}`, {}],
    ] as const;
    for (const [at, headers] of places) {
      const sent = await send(`${url}${at}`, { ...headers, 'X-Own-Header': 'As It Is' }, body);
      expect(sent.bytes).toEqual(packed);
      const kept = sent.head.filter(
        (_, index) => !/^(connection|keep-alive)$/i.test(sent.head[index - (index % 2)] ?? ''),
      );
      expect(kept).toEqual([
        'Content-Type',
        'application/json',
        'Content-Encoding',
        'gzip',
        'X-Odd',
        'ä',
        'Content-Length',
        String(packed.length),
      ]);
    }
    expect(seen.map(one => one.url)).toEqual(places.map(([at]) => at.replace(KEY, REAL)));
    for (const [index, { head, body: got }] of seen.entries()) {
      expect(got).toBe(body);
      expect(head).toContain('X-Own-Header');
      expect(head[head.findIndex(name => name.toLowerCase() === 'host') + 1]).toBe(new URL(upstream).host);
      expect(JSON.stringify([head, seen[index]?.url])).not.toContain(KEY);
      expect(JSON.stringify([head, seen[index]?.url])).toContain(REAL);
    }
  });

  it('[V382] refuses with the status and body that the meter gives, and sends nothing on', async () => {
    const asked: string[] = [];
    const refusal: MeterVerdict = { kind: 'refuse', status: 402, body: { error: { message: 'no more' } } };
    const { url } = await metered(
      request => void asked.push(request.url ?? ''),
      () => refusal,
    );
    const { status, head, bytes } = await send(`${url}/v1/messages`, withKey);
    expect([status, JSON.parse(bytes.toString())]).toEqual([402, { error: { message: 'no more' } }]);
    expect(head[head.indexOf('x-should-retry') + 1]).toBe('false');
    expect(asked).toEqual([]);
  });

  it('[V383] holds the event that ends a stream until what it spent is committed', async () => {
    const { call, told, hold, commit } = toldCall();
    hold();
    const { url } = await metered(
      (_, response) => {
        events(response).write('data: first\n\n');
        setImmediate(() => response.end('data: LAST\n\n'));
      },
      () => ({ kind: 'pass', call }),
    );
    const heard: string[] = [];
    const ended = new Promise<void>(resolve => {
      request(`${url}/v1/messages`, { method: 'POST', headers: withKey, agent: false }, answer => {
        answer.setEncoding('utf8').on('data', part => {
          heard.push(part);
        });
        answer.on('end', resolve);
      }).end('{}');
    });
    await expect.poll(() => told.includes('settled ended')).toBe(true);
    expect([heard.join(''), told]).toEqual(['data: first\n\n', ['answered 200', 'settled ended']]);
    commit();
    await ended;
    expect(heard.join('')).toBe('data: first\n\ndata: LAST\n\n');
  });

  it('[V383] holds the last bytes of an answer that is no stream', async () => {
    const { call, told, hold, commit } = toldCall();
    hold();
    const { url } = await metered(
      (_, response) => response.writeHead(200, { 'content-type': 'application/json', 'content-length': 2 }).end('{}'),
      () => ({ kind: 'pass', call }),
    );
    let isOver = false;
    const sent = send(`${url}/v1/messages`, withKey).then(answer => {
      isOver = true;
      return answer;
    });
    await expect.poll(() => told.includes('settled ended')).toBe(true);
    expect(isOver).toBe(false);
    commit();
    expect((await sent).bytes.toString()).toBe('{}');
  });

  it('[V383] cuts the connection if nothing can be committed', async () => {
    const { call, hold, lose, told } = toldCall();
    hold();
    const { url, faults } = await metered(
      (_, response) => events(response).end('data: first\n\ndata: LAST\n\n'),
      () => ({ kind: 'pass', call }),
    );
    const sent = send(`${url}/v1/messages`, withKey);
    await expect.poll(() => told.includes('settled ended')).toBe(true);
    lose(new Error('the disk is full'));
    const { isWhole, bytes } = await sent;
    expect([isWhole, bytes.toString()]).toEqual([false, '']);
    await expect.poll(() => faults.length).toBe(1);
  });

  it('[V384] counts a stream by what came, if the provider cuts it, the agent goes, or the attempt ends', async () => {
    const cases = ['provider', 'agent', 'attempt'] as const;
    for (const who of cases) {
      const { call, told, end } = toldCall();
      const began = Promise.withResolvers<ServerResponse>();
      const { url } = await metered(
        (_, response) => {
          events(response).write('data: first\n\n');
          began.resolve(response);
        },
        () => ({ kind: 'pass', call }),
      );
      const outgoing = request(`${url}/v1/messages`, { method: 'POST', headers: withKey, agent: false });
      outgoing.on('error', () => {});
      const answered = new Promise<IncomingMessage>(resolve => outgoing.once('response', resolve));
      outgoing.end('{}');
      const answer = await answered;
      answer.on('error', () => {});
      await new Promise(resolve => answer.once('data', resolve));
      const response = await began.promise;
      const closed = new Promise(resolve => answer.once('close', resolve));
      if (who === 'provider') response.destroy();
      else if (who === 'agent') outgoing.destroy();
      else end();
      await closed;
      await expect.poll(() => told).toEqual(['answered 200', 'settled cut', 'committed']);
      await expect.poll(() => response.destroyed).toBe(true);
    }
  });

  it('[V385] says that a provider cannot be reached', async () => {
    const { call, told } = toldCall();
    const edge = createMeterServer();
    onTestFinished(() => edge.close());
    const { url } = await edge.listen({
      holder: () => ({ real: REAL, upstream: 'http://127.0.0.1:1', ask: async () => ({ kind: 'pass', call }) }),
      turnedAway: () => {},
    });
    const { status, bytes } = await send(`${url}/v1/messages`, withKey);
    expect([status, told]).toEqual([502, ['settled unreached', 'committed']]);
    expect(bytes.toString()).toContain('ECONNREFUSED');
  });

  it('[V386] passes on 100 MB to a reader that is slow, in bounded memory and unchanged', async () => {
    const chunk = Buffer.alloc(1_048_576, 'data: {"type":"content_block_delta"}\n\n');
    const { call } = toldCall();
    let sent = 0;
    const made = createHash('sha256');
    const { url } = await metered(
      async (_, response) => {
        events(response);
        for (; sent < 100; sent++) {
          made.update(chunk);
          if (!response.write(chunk)) await new Promise(resolve => response.once('drain', resolve));
        }
        response.end();
      },
      () => ({ kind: 'pass', call }),
    );
    const read = createHash('sha256');
    let most = 0;
    let bytes = 0;
    await new Promise<void>((resolve, reject) => {
      request(`${url}/v1/messages`, { method: 'POST', headers: withKey, agent: false }, async answer => {
        try {
          // Nothing is read yet: the provider stops once every buffer is full.
          await expect.poll(() => sent > 0).toBe(true);
          for await (const part of answer as AsyncIterable<Buffer>) {
            bytes += part.length;
            read.update(part);
            most = Math.max(most, sent * chunk.length - bytes);
          }
          resolve();
        } catch (thrown) {
          reject(thrown);
        }
      }).end('{}');
    });
    expect([bytes, read.digest('hex')]).toEqual([100 * chunk.length, made.digest('hex')]);
    // What is on its way: the buffers of four sockets, never the whole stream.
    expect(most).toBeLessThan(32 * 1_048_576);
  });

  it('[V387] serves 50 streams at once, each of them whole', async () => {
    const { url } = await metered(
      (_, response) => {
        events(response);
        let left = 40;
        const next = () => {
          if (left-- === 0) return void response.end('data: LAST\n\n');
          response.write(`data: ${left}\n\n`);
          setImmediate(next);
        };
        next();
      },
      () => ({ kind: 'pass', call: toldCall().call }),
    );
    const all = await Promise.all(Array.from({ length: 50 }, () => send(`${url}/v1/messages`, withKey)));
    const whole = `${Array.from({ length: 40 }, (_, at) => `data: ${39 - at}\n\n`).join('')}data: LAST\n\n`;
    expect(all.map(({ bytes }) => bytes.toString())).toEqual(Array.from({ length: 50 }, () => whole));
  });

  it('[V388] refuses a request that is too large', async () => {
    const { url } = await metered((_, response) => response.end());
    const outgoing = request(`${url}/v1/messages`, {
      ...{ method: 'POST', agent: false },
      headers: { ...withKey, 'content-length': String(65 * 1_048_576) },
    });
    outgoing.on('error', () => {});
    const status = await new Promise(resolve => {
      outgoing.once('response', ({ statusCode }) => resolve(statusCode));
      outgoing.flushHeaders();
    });
    outgoing.destroy();
    expect(status).toBe(413);
  });
});
