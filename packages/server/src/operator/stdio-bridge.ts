/**
 * Forwards messages between a client on standard streams and the server that owns the data directory.
 *
 * B1  Every request is answered once: by the server, or with why that failed. A request whose answer was cut off gets an error that says
 *     that its outcome is unknown.
 * B2  Notifications and the handshake are forwarded one after another; requests do not wait for each other.
 * B3  With 2025-11-25 the session's news are requested from the handshake on, and again after a disconnect.
 * B4  Only messages are written.
 */
import { once } from 'node:events';
import type { Machine } from '@signalbox/app/host';
import { defined, type ErrorEnvelope, errorEnvelope, failure, parsedJson } from '@signalbox/model';
import type { EventSourceMessage } from 'eventsource-parser';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import * as z from 'zod';
import { BODY_MAX_BYTES } from '../http/body-text.ts';
import { boundedLines } from '../mcp/bounded-lines.ts';
import { type StdioStreams, tooLongLine } from '../mcp/mcp-stdio.ts';
import { type BridgeId, type BridgeMessage, bridgeMessage, modernHeaders, refusedLine } from './bridge-message.ts';

export interface BridgeOptions {
  /** The current address of the server. */
  readonly server: () => { readonly url: string; readonly token: string };
  readonly timers: Machine['timers'];
  readonly onFault: (thrown: unknown) => void;
  /** Aborted when the program should end. */
  readonly ending?: AbortSignal;
}

/** How long it waits before it requests news again. */
const AGAIN_MS = 1_000;

/** Serves one client on the standard streams until it closes its end, or the program should end. */
export async function bridgeOnStdio(
  { server, timers, onFault, ending }: BridgeOptions,
  { input, output }: StdioStreams = { input: process.stdin, output: process.stdout },
): Promise<void> {
  const ended = new AbortController();
  const underWay = new Map<BridgeId, AbortController>();
  let session: { readonly id: string; readonly revision: string } | undefined;

  /** Waits while the client does not read, and thereby holds up the server. */
  async function write(line: string): Promise<void> {
    if (output.write(`${line}\n`) || ended.signal.aborted) return;
    await once(output, 'drain', { signal: ended.signal }).catch(() => undefined);
  }

  function ask(method: string, signal: AbortSignal, headers: Record<string, string>, body?: string): Promise<Response> {
    const { url, token } = server();
    return fetch(new URL('/mcp', url), {
      method,
      signal,
      headers: {
        accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
        ...headers,
      },
      ...defined({ body }),
    });
  }

  const sessionHeaders = (): Record<string, string> =>
    session === undefined ? {} : { 'mcp-session-id': session.id, 'mcp-protocol-version': session.revision };

  async function handOn(line: string, message: BridgeMessage | undefined): Promise<void> {
    const { id, method, revision } = message ?? {};
    const own = new AbortController();
    if (id !== undefined) underWay.set(id, own);
    const isModern = message !== undefined && revision !== undefined;
    const headers = isModern ? modernHeaders(message) : sessionHeaders();
    try {
      const response = await ask('POST', AbortSignal.any([own.signal, ended.signal]), headers, line);
      await handBack(response, id);
      if (method === 'notifications/initialized' && session !== undefined) void follow();
    } catch (thrown) {
      // A canceled request is not answered.
      if (own.signal.aborted || ended.signal.aborted) return;
      if (id !== undefined) await write(refusedLine(id, unreachable()));
      else onFault(thrown);
    } finally {
      if (id !== undefined && underWay.get(id) === own) underWay.delete(id);
    }
  }

  /** Writes the messages of a response; if none of them answers the request, an error. */
  async function handBack(response: Response, id: BridgeId | undefined): Promise<void> {
    let isAnswered = id === undefined;
    const newSession = response.headers.get('mcp-session-id');
    for await (const text of messagesOf(response)) {
      const given = parsedJson(text);
      const { data: agreed } = handshakeAnswer.safeParse(given);
      if (newSession !== null && agreed !== undefined) {
        session = { id: newSession, revision: agreed.result.protocolVersion };
      }
      const message = rpc.safeParse(given);
      if (!message.success) {
        const error = errorEnvelope.safeParse(given);
        await write(refusedLine(id, error.success ? error.data : unreachable()));
        isAnswered = true;
        continue;
      }
      // Refusals below the level of tool calls have no request id.
      const isOurs = message.data.id === null && message.data.error !== undefined && id !== undefined;
      isAnswered ||= isOurs || message.data.id === id;
      await write(JSON.stringify(isOurs ? { ...message.data, id } : given));
    }
    if (!isAnswered) await write(refusedLine(id, cutOff()));
  }

  async function follow(): Promise<void> {
    let last: string | undefined;
    while (!ended.signal.aborted && session !== undefined) {
      try {
        const headers = { ...sessionHeaders(), ...defined({ 'last-event-id': last }) };
        const response = await ask('GET', ended.signal, headers);
        if (!response.ok || response.body === null) return onFault(new Error(await response.text()));
        for await (const { id, data } of sentEvents(response.body)) {
          last = id ?? last;
          if (data !== '') await write(data);
        }
      } catch (thrown) {
        if (!ended.signal.aborted) onFault(thrown);
      }
      await new Promise<void>(resolve => {
        const stop = timers.after(AGAIN_MS, resolve);
        ended.signal.addEventListener('abort', () => [stop(), resolve()], { once: true });
      });
    }
  }

  const lines = boundedLines(BODY_MAX_BYTES, ends => void write(tooLongLine(ends)));
  const close = () => {
    input.unpipe(lines);
    input.pause();
    lines.end();
  };
  if (ending?.aborted === true) close();
  else ending?.addEventListener('abort', close, { once: true });
  let before: Promise<unknown> = Promise.resolve();
  for await (const line of textLines(input.pipe(lines))) {
    if (line.trim() === '') continue;
    const message = bridgeMessage(line);
    // Over HTTP, a request of 2026-07-28 is canceled by ending it.
    if (message?.method === 'notifications/cancelled' && message.revision !== undefined) {
      underWay.get(message.params?.requestId ?? '')?.abort();
      continue;
    }
    const isAwaited = message?.id === undefined || message.method === 'initialize';
    await before;
    const handed = handOn(line, message);
    if (isAwaited) before = handed;
  }
  ended.abort();
  if (session !== undefined) await ask('DELETE', AbortSignal.timeout(AGAIN_MS), sessionHeaders()).catch(onFault);
}

const rpc = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]).optional(),
  error: z.unknown().optional(),
});
const handshakeAnswer = z.object({ result: z.object({ protocolVersion: z.string() }) });

/** The events of a stream, as they arrive. */
function sentEvents(body: ReadableStream<Uint8Array>): ReadableStream<EventSourceMessage> {
  return body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
}

/** The messages of a response, each as text. */
async function* messagesOf(response: Response): AsyncGenerator<string> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true && response.body !== null) {
    for await (const { data } of sentEvents(response.body)) if (data !== '') yield data;
    return;
  }
  const text = await response.text();
  if (text !== '') yield text;
}

async function* textLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  for await (const chunk of chunks) yield* chunk.toString('utf8').split('\n');
}

function unreachable(): ErrorEnvelope {
  return failure('request/unreachable', {
    message: 'The process that owns the data directory does not answer.',
    suggestion:
      'It may have ended: start "signalbox serve" again, or restart this program. Nothing that was acknowledged is lost.',
    retry: { kind: 'retryable_after_ms', afterMs: AGAIN_MS },
  });
}

function cutOff(): ErrorEnvelope {
  return failure('request/unreachable', {
    message:
      'The connection to the process that owns the data directory was cut off before it answered; the outcome of the request is unknown.',
    suggestion: 'Read the current state before you send it again.',
  });
}
