import {
  type ClientRequest,
  createServer,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { MeterDoor, MeterEdge, MeteredCall, MeterPlace } from '@signalbox/app/host';
import { errorCode } from './error-code.ts';
import { quotesKey } from './quoted-key.ts';
import { createBytePool, readBody } from './request-body.ts';
import { headersOf, passedOn, presentedKey, withKey } from './request-headers.ts';
import { overridesMethod, pathOf } from './request-target.ts';

export interface MeterServerOptions {
  /** Called with whatever was thrown while a request was answered. */
  readonly onFault?: ((thrown: unknown) => void) | undefined;
  /** Bytes of requests of one attempt that are held at once; others are not read until there is room. */
  readonly heldBytes?: number;
}

const LOOPBACK = '127.0.0.1';
/** The status of a call whose provider was not reached. */
const UNREACHED = 502;
/** How a connection ends that its other side closed. */
const STALE: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);
const MOST_ERROR = 8 * 1024 * 1024;
const HELD_BYTES = 128 * 1024 * 1024;

/**
 * The gateway through which agents call their models.
 *
 * 1. Each attempt has a port of its own, on loopback. Only its own keys let in there, and only while it is under way; a request that a web page
 *    sends is refused.
 * 2. What an agent and its provider say to each other is passed on byte by byte, as it comes: only the key is replaced. A slow reader slows the
 *    provider down, so memory is bounded.
 * 3. The bytes that end an answer are held until what it spent is committed. If it cannot be, the connection is cut.
 */
export function createMeterServer({
  onFault = () => undefined,
  heldBytes = HELD_BYTES,
}: MeterServerOptions = {}): MeterEdge {
  const agents = { 'http:': new HttpAgent({ keepAlive: true }), 'https:': new HttpsAgent({ keepAlive: true }) };
  const places = new Set<MeterPlace>();

  async function listen(door: MeterDoor): Promise<MeterPlace> {
    let port = 0;
    // One of its own: an agent that sends large requests slowly holds up nobody else.
    const pool = createBytePool(heldBytes);
    // Connections close with the attempt. One that closed for idling could do so just as the agent sends its next request.
    const timeouts = { headersTimeout: 10_000, requestTimeout: 120_000, keepAliveTimeout: 0 };
    const server = createServer(timeouts, (request, response) => {
      serve(request, response).catch(thrown => {
        onFault(thrown);
        response.destroy();
      });
    });

    async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const { method = 'GET', url = '/' } = request;
      const path = pathOf(url);
      const query = new URLSearchParams(url.slice(url.indexOf('?') + 1 || url.length));
      const asked = { method, path: path ?? url.slice(0, 200).split('?', 1).join('') };
      const away = (status: number, why: string, key?: string) => {
        door.turnedAway(asked, why, key);
        refuse(response, status, { error: { type: 'permission_error', message: `Signalbox: ${why}` } });
      };
      if (request.headers.host !== `${LOOPBACK}:${port}` || request.headers.origin !== undefined)
        return away(403, 'this address is for agents that Signalbox started');
      const key = presentedKey(request.headers, query);
      const holder = key === undefined ? undefined : door.holder(key);
      if (key === undefined || holder === undefined)
        return away(401, 'the key is missing or wrong, or its attempt has ended', key);
      if (path === undefined || overridesMethod(request.headers, query))
        return away(400, 'it cannot be told what is asked for: the path or the method has more than one reading');
      const body = await readBody(request, pool);
      if (body === undefined) return away(413, 'the request is too large');
      let sent = false;
      try {
        const headers = headersOf(request.headers);
        const verdict = await holder.ask({ method, path, headers, body: body.bytes });
        if (verdict.kind === 'refuse') return refuse(response, verdict.status, verdict.body);
        const { call } = verdict;
        const target = new URL(holder.upstream + withKey(url, key, holder.real));
        sent = true;
        await pass({ request, response, target, call, key, real: holder.real, bytes: body.bytes, done: body.release });
      } finally {
        if (!sent) body.release();
      }
    }

    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, LOOPBACK, resolve);
    });
    port = (server.address() as AddressInfo).port;
    // Waiting for agents is no reason to stay alive.
    server.unref();
    const place: MeterPlace = {
      url: `http://${LOOPBACK}:${port}`,
      async close() {
        places.delete(place);
        const closed = new Promise<void>(resolve => server.close(() => resolve()));
        server.closeAllConnections();
        await closed;
      },
    };
    places.add(place);
    return place;
  }

  function pass(passage: Passage): Promise<void> {
    const { request, response, target, call, key, real, bytes, done } = passage;
    const over = Promise.withResolvers<void>();
    const isSecure = target.protocol === 'https:';
    const options = {
      agent: agents[isSecure ? 'https:' : 'http:'],
      method: request.method ?? 'GET',
      headers: [...passedOn(request.rawHeaders, { host: target.host, key, real })],
      setHost: false,
    };
    let outgoing: ClientRequest;
    let isOver = false;
    let isConnected = false;
    /** Counts what came, and ends both sides. */
    const cut = (): void => {
      if (isOver) return;
      isOver = true;
      outgoing.destroy();
      const settled = call?.settle('cut') ?? Promise.resolve();
      settled
        .finally(() => response.destroy())
        .then(
          () => over.resolve(),
          thrown => over.reject(thrown),
        );
    };
    call?.signal.addEventListener('abort', cut, { once: true });
    response.once('close', () => {
      if (!response.writableFinished) cut();
    });

    const answered = (answer: IncomingMessage): void => {
      done();
      const status = answer.statusCode ?? 502;
      call?.answered(status, headersOf(answer.headers));
      response.sendDate = false;
      const flowing =
        status >= 400
          ? passError(answer, passage, cut)
          : flow(answer, response, call, cut, () => writeHead(answer, response));
      flowing.then(
        () => {
          isOver = true;
          call?.signal.removeEventListener('abort', cut);
          over.resolve();
        },
        thrown => {
          cut();
          over.reject(thrown);
        },
      );
    };
    const failed = (cause: unknown): void => {
      done();
      if (isOver || response.headersSent) {
        cut();
        return;
      }
      isOver = true;
      const settled = call?.settle(isConnected ? 'cut' : 'unreached') ?? Promise.resolve();
      settled.then(() => {
        refuse(response, UNREACHED, {
          error: { type: 'api_error', message: `Signalbox: the provider cannot be reached (${errorCode(cause)}).` },
        });
        over.resolve();
      }, over.reject);
    };
    const send = (isAgain: boolean): void => {
      // Again on a connection of its own: others of the pool may be as old.
      const how = isAgain ? { ...options, agent: false as const } : options;
      const sent = (isSecure ? httpsRequest : httpRequest)(target, how);
      outgoing = sent;
      let hasAnswer = () => false;
      sent.once('socket', socket => {
        const before = socket.bytesRead;
        hasAnswer = () => socket.bytesRead > before;
        isConnected = !socket.connecting;
        // A connection that is used again has listeners of its own time only.
        if (!isConnected)
          socket.once('connect', () => {
            isConnected = true;
          });
      });
      sent.once('error', cause => {
        // The provider closed an idle connection as the request was on its way: nothing of an answer came, so it was not taken up.
        const isStale = sent.reusedSocket && STALE.has(errorCode(cause)) && !hasAnswer();
        if (isStale && !isAgain && !isOver) return send(true);
        failed(cause);
      });
      sent.once('response', answered);
      sent.end(bytes);
    };
    send(false);
    if (call?.signal.aborted === true) cut();
    return over.promise;
  }

  return {
    listen,
    async close() {
      await Promise.all([...places].map(place => place.close()));
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

interface Passage {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: URL;
  readonly call: MeteredCall | undefined;
  readonly key: string;
  readonly real: string;
  readonly bytes: Buffer;
  /** The provider has begun to answer, or cannot: the bytes of the request are needed no more. */
  done(): void;
}

function writeHead(answer: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, [...passedOn(answer.rawHeaders)]);
  // At once, and as the bytes that they are: to flush them alone, Node encodes them again.
  response.write(Buffer.alloc(0));
}

/** Errors are short and no streams. One that quotes the real key is not passed on: whoever asked must not read it. */
async function passError(answer: IncomingMessage, { response, call, real }: Passage, cut: () => void): Promise<void> {
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of answer as AsyncIterable<Buffer>) {
      length += part.length;
      if (length > MOST_ERROR) return cut();
      parts.push(part);
    }
  } catch {
    return cut();
  }
  const body = Buffer.concat(parts);
  await call?.settle('ended');
  if (quotesKey(answer, body, real)) {
    const message = 'Signalbox: the provider answered with an error that quotes the key, so it is not passed on.';
    return refuse(response, answer.statusCode ?? UNREACHED, { error: { type: 'api_error', message } });
  }
  writeHead(answer, response);
  await new Promise<void>(resolve => {
    response.once('close', resolve);
    response.end(body, resolve);
  });
}

/**
 * Passes an answer on. Its only suspensions are a reader that is slow and the commit before its end. An answer that is no stream ends with its last
 * byte, so one chunk of it is always held back.
 */
function flow(
  answer: IncomingMessage,
  response: ServerResponse,
  call: MeteredCall | undefined,
  cut: () => void,
  begin: () => void,
): Promise<void> {
  begin();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const isHeldBack = call !== undefined && !/^text\/event-stream/i.test(answer.headers['content-type'] ?? '');
  let held: Buffer | undefined;
  /** What the next bytes wait for. An answer may end meanwhile. */
  let holding: Promise<unknown> = Promise.resolve();

  const write = (chunk: Buffer): void => {
    if (response.write(chunk)) return;
    answer.pause();
    response.once('drain', () => answer.resume());
  };
  const pass = (chunk: Buffer): void => {
    if (!isHeldBack) write(chunk);
    else if (held !== undefined) write(held);
    if (isHeldBack) held = chunk;
  };
  const afterCommit = (chunk: Buffer): void => {
    answer.pause();
    holding = (call?.settle('ended') ?? Promise.resolve()).then(() => {
      answer.resume();
      pass(chunk);
    });
    holding.catch(reject);
  };

  answer.on('data', (chunk: Buffer) => {
    const taken = call?.take(chunk) ?? false;
    if (taken === false) return pass(chunk);
    if (taken === true) return afterCommit(chunk);
    answer.pause();
    holding = taken.then(isLast => {
      answer.resume();
      if (!isLast) return pass(chunk);
      afterCommit(chunk);
      return holding;
    });
    holding.catch(reject);
  });
  answer.once('end', () => {
    const settled = holding.then(() => call?.settle('ended'));
    settled.then(() => {
      if (held !== undefined) response.write(held);
      response.end(resolve);
    }, reject);
  });
  // Cut by the provider: the agent sees it as it happened.
  const lost = () => {
    if (answer.complete) return;
    cut();
    resolve();
  };
  answer.once('error', lost);
  answer.once('close', lost);
  response.once('close', resolve);
  return promise;
}

function refuse(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    // Vendors' packages repeat no request that says so. A provider that was not reached may be tried again.
    ...(status !== UNREACHED && { 'x-should-retry': 'false' }),
  });
  response.end(text);
}
