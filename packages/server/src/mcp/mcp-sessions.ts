/**
 * Sessions of MCP clients that speak 2025-11-25: the result of the handshake, and the events that a reconnecting client can request again.
 * They live in this process only; runs and guided sessions outlive them.
 *
 * S1  A session ends when its client ends it, when nothing in it was open for five minutes, or when the server closes.
 * S2  An open stream keeps its session alive, and so does a request being answered.
 * S3  The first news stream of a session begins with its handshake; a reconnecting client resumes where it was, or gets told what it
 *     missed.
 * S4  The number of sessions is bounded: a new one ends the one that was idle longest.
 */
import {
  type EventStore,
  type McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Machine } from '@signalbox/app/host';
import { boundedStream } from './bounded-stream.ts';
import { BEFORE_NEWS, boundedEventStore, type KeptEvents, NEWS } from './event-store.ts';
import { watchedResponse } from './watched-response.ts';

/** How long an idle session lasts. */
const IDLE_MS = 5 * 60_000;
const MOST_SESSIONS = 64;
/** How long a client should wait before reconnecting to an ended stream. */
const RETRY_MS = 500;

export interface McpSessionsOptions {
  readonly timers: Machine['timers'];
  /** Unguessable ids. */
  readonly newId: () => string;
  readonly onFault: (thrown: unknown) => void;
  readonly most?: number | undefined;
  /** How much of a session is kept for reconnecting. */
  readonly kept?: KeptEvents | undefined;
}

export interface McpSessions {
  /** Answers a handshake. Undefined if there are too many sessions and none is idle. */
  begin(request: Request, body: unknown): Promise<Response | undefined>;
  /**
   * Answers a request of a session. Undefined if the session does not exist; 'lost' if the client resumes after an event that is unknown or
   * no longer kept.
   */
  go(id: string, request: Request, body: unknown): Promise<Response | 'lost'> | undefined;
  close(): Promise<void>;
}

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly store: EventStore;
  /** Whether a client listens to its news, or did. */
  isHeard: boolean;
  /** The number of requests being answered and of open streams. */
  open: number;
  stopWaiting: () => void;
}

export function createMcpSessions(createServer: McpServerFactory, options: McpSessionsOptions): McpSessions {
  const { timers, newId, onFault, most = MOST_SESSIONS, kept } = options;
  /** Most recently used last. */
  const sessions = new Map<string, Session>();

  async function answer(id: string, session: Session, request: Request, body: unknown): Promise<Response> {
    session.stopWaiting();
    session.open += 1;
    sessions.delete(id);
    sessions.set(id, session);
    const settle = () => {
      session.open -= 1;
      if (session.open > 0 || sessions.get(id) !== session) return;
      session.stopWaiting = timers.after(IDLE_MS, () => void session.transport.close().catch(onFault));
    };
    try {
      const { transport } = session;
      const response = await transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
      return watchedResponse(boundedStream(response), settle);
    } catch (thrown) {
      settle();
      throw thrown;
    }
  }

  async function listen(id: string, session: Session, request: Request): Promise<Response | 'lost'> {
    const asked = request.headers.get('last-event-id');
    const from = asked ?? (session.isHeard ? undefined : BEFORE_NEWS);
    const stream = from === undefined ? undefined : await session.store.getStreamIdForEventId?.(from);
    if (from === undefined || stream === undefined) {
      return asked === null ? answer(id, session, request, undefined) : 'lost';
    }
    // A reconnecting client knows that its connection is lost before we may.
    if (stream === NEWS) session.transport.closeStandaloneSSEStream();
    const headers = new Headers(request.headers);
    headers.set('last-event-id', from);
    const response = await answer(id, session, new Request(request.url, { headers }), undefined);
    session.isHeard ||= response.ok;
    return response;
  }

  async function makeRoom(): Promise<boolean> {
    if (sessions.size < most) return true;
    const idle = [...sessions.values()].find(({ open }) => open === 0);
    await idle?.transport.close();
    return idle !== undefined;
  }

  return {
    async begin(request, body) {
      if (!(await makeRoom())) return undefined;
      const id = newId();
      const store = boundedEventStore(kept);
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => id,
        eventStore: store,
        retryInterval: RETRY_MS,
        // Nothing between the client and this machine ends a quiet stream, and timers are the caller's.
        keepAliveMs: 0,
      });
      const server = await createServer({ era: 'legacy', requestInfo: request });
      await server.connect(transport);
      const session: Session = { transport, store, isHeard: false, open: 0, stopWaiting: () => undefined };
      sessions.set(id, session);
      const closed = transport.onclose;
      transport.onclose = () => {
        sessions.delete(id);
        session.stopWaiting();
        closed?.();
      };
      const response = await answer(id, session, request, body);
      // A refused handshake leaves no session.
      if (!response.ok) await transport.close();
      return response;
    },

    go(id, request, body) {
      const session = sessions.get(id);
      if (session === undefined) return undefined;
      return request.method === 'GET' ? listen(id, session, request) : answer(id, session, request, body);
    },

    async close() {
      for (const { transport } of [...sessions.values()]) await transport.close();
    },
  };
}
