import { randomUUID } from 'node:crypto';
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpServerFactory,
  type ServerEventBus,
} from '@modelcontextprotocol/server';
import type { Machine } from '@signalbox/app/host';
import { type ErrorEnvelope, failure, parsedJson } from '@signalbox/model';
import { BODY_MAX_BYTES, bodyText } from '../http/body-text.ts';
import { errorStatus } from '../http/error-status.ts';
import { boundedStream } from './bounded-stream.ts';
import type { KeptEvents } from './event-store.ts';
import { createMcpSessions } from './mcp-sessions.ts';

/** Answers one request of an MCP client. Who may ask was settled before. */
export type McpRoute = (request: Request) => Promise<Response>;

export interface McpHttpOptions {
  readonly timers: Machine['timers'];
  /** Ids of MCP sessions, that nobody can guess. */
  readonly newSessionId?: (() => string) | undefined;
  readonly onFault?: ((thrown: unknown) => void) | undefined;
  /** What is kept of a session for a client that lost its connection. */
  readonly kept?: KeptEvents | undefined;
  /** What clients of 2026-07-28 hear of that subscribe. */
  readonly bus?: ServerEventBus | undefined;
}

export interface McpHttp {
  readonly route: McpRoute;
  /** Ends every session and every stream. */
  close(): Promise<void>;
}

/**
 * An MCP server over HTTP, for every revision that clients speak: 2026-07-28, where each request stands for itself; 2025-11-25
 * with the session that its handshake begins; and requests of 2025-11-25 that name no session, each for itself.
 */
export function mcpHttp(createServer: McpServerFactory, options: McpHttpOptions): McpHttp {
  const { timers, newSessionId = randomUUID, onFault = () => undefined, kept, bus } = options;
  const handler = createMcpHandler(createServer, {
    maxRequestBodySize: BODY_MAX_BYTES,
    keepAliveMs: 0,
    onerror: error => {
      // Who asked was told; it is no fault of ours.
      if (!/^(Rejected inbound request|Unsupported (Media Type|protocol version))/.test(error.message)) onFault(error);
    },
    ...(bus && { bus }),
  });
  const sessions = createMcpSessions(createServer, { timers, newId: newSessionId, onFault, kept });
  const inSession = async (id: string, request: Request, body: unknown) => {
    const response = (await sessions.go(id, request, body)) ?? noSession();
    return response === 'lost' ? lostEvents() : response;
  };

  async function route(request: Request): Promise<Response> {
    const sessionId = request.headers.get('mcp-session-id');
    if (request.method !== 'POST') {
      return sessionId === null ? handler.fetch(request) : inSession(sessionId, request, undefined);
    }
    const text = await bodyText(request);
    if (!text.ok) return refused(text.error);
    const body = parsedJson(text.value);
    const whole = new Request(request.url, { method: 'POST', headers: request.headers, body: text.value });
    const given = body === undefined ? {} : { parsedBody: body };
    if (!(await isLegacyRequest(whole.clone(), body))) return boundedStream(await handler.fetch(whole, given));
    if (sessionId !== null) return inSession(sessionId, whole, body);
    return isInitializeRequest(body) ? ((await sessions.begin(whole, body)) ?? busy()) : handler.fetch(whole, given);
  }

  return {
    route,
    async close() {
      await sessions.close();
      await handler.close();
    },
  };
}

/** The client must begin a new session. (2025-11-25, Session Management) */
function noSession(): Response {
  return refused(
    failure('request/unknown-session', {
      message: 'There is no such MCP session: it has ended, or was idle for too long, or the server was started anew.',
      suggestion: 'Begin a new one with "initialize". Runs and their tokens outlive sessions: nothing is lost.',
    }),
    -32_001,
  );
}

function lostEvents(): Response {
  return refused(
    failure('VALIDATION_ERROR', {
      message: 'Last-Event-ID names an event that is not known in this session, or what followed it is no longer kept.',
      suggestion: 'Open a stream without it, and ask anew for what you need: nothing but the stream is lost.',
    }),
  );
}

function busy(): Response {
  return refused(
    failure('request/too-many', {
      message: 'There are as many MCP sessions as there may be, and all of them are in use.',
      suggestion: 'End one of them, or wait and try again.',
      retry: { kind: 'retryable_after_ms', afterMs: 1_000 },
    }),
  );
}

/** A failure below the level of calls: what the protocol wants, with the error envelope in it. */
function refused(error: ErrorEnvelope, code = -32_000): Response {
  const status = errorStatus(error);
  return Response.json({ jsonrpc: '2.0', error: { code, message: error.message, data: error }, id: null }, { status });
}
