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

/** Answers one request of an MCP client. Access was already checked. */
export type McpRoute = (request: Request) => Promise<Response>;

export interface McpHttpOptions {
  readonly timers: Machine['timers'];
  /** Unguessable ids of MCP sessions. */
  readonly newSessionId?: (() => string) | undefined;
  readonly onFault?: ((thrown: unknown) => void) | undefined;
  /** How much of a session is kept for reconnecting. */
  readonly kept?: KeptEvents | undefined;
  /** Called with the body of each request, before it is answered. */
  readonly onRequest?: ((body: unknown) => void) | undefined;
  /** The events for clients of 2026-07-28 that subscribe. */
  readonly bus?: ServerEventBus | undefined;
}

export interface McpHttp {
  readonly route: McpRoute;
  /** Ends every session and every stream. */
  close(): Promise<void>;
}

/**
 * An MCP server over HTTP, for every protocol revision: 2026-07-28, where requests are independent; 2025-11-25 with the session that its
 * handshake begins; and requests of 2025-11-25 without a session, each independent.
 */
export function mcpHttp(createServer: McpServerFactory, options: McpHttpOptions): McpHttp {
  const { timers, newSessionId = randomUUID, onFault = () => undefined, onRequest, kept, bus } = options;
  const handler = createMcpHandler(createServer, {
    maxRequestBodySize: BODY_MAX_BYTES,
    keepAliveMs: 0,
    onerror: error => {
      // The client was already answered; it is not our fault.
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
    onRequest?.(body);
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
      message: 'This MCP session does not exist: it has ended, was idle for too long, or the server was restarted.',
      suggestion: 'Begin a new one with "initialize". Runs and their tokens outlive sessions: nothing is lost.',
    }),
    -32_001,
  );
}

function lostEvents(): Response {
  return refused(
    failure('VALIDATION_ERROR', {
      message:
        'Last-Event-ID names an event that this session does not know, or the events after it are no longer kept.',
      suggestion: 'Open a stream without it, and request again what you need: only the stream is lost.',
    }),
  );
}

function busy(): Response {
  return refused(
    failure('request/too-many', {
      message: 'The limit of MCP sessions is reached, and all of them are in use.',
      suggestion: 'End one of them, or wait and try again.',
      retry: { kind: 'retryable_after_ms', afterMs: 1_000 },
    }),
  );
}

/** A failure below the level of tool calls: a protocol error with the error envelope in it. */
function refused(error: ErrorEnvelope, code = -32_000): Response {
  const status = errorStatus(error);
  return Response.json({ jsonrpc: '2.0', error: { code, message: error.message, data: error }, id: null }, { status });
}
