/**
 * Sessions of MCP clients that speak 2025-11-25: what its handshake agreed on, and what a client that lost its connection can
 * ask for again. They are of this process only; runs and guided sessions outlive them.
 *
 * S1  A session ends when its client says so, when nothing of it is open for five minutes, or when the server closes.
 * S2  A stream that is open keeps its session, and so does a request that is being answered.
 * S3  The first stream for news of a session begins with its handshake; who comes back to one begins where it was lost, or is told.
 * S4  There are so many sessions and no more: for a new one, the one that was idle longest ends.
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

/** How long a session lasts in which nothing happens. */
const IDLE_MS = 5 * 60_000;
const MOST_SESSIONS = 64;
/** How long a client is asked to wait before it comes back to a stream that has ended. */
const RETRY_MS = 500;

export interface McpSessionsOptions {
  readonly timers: Machine['timers'];
  /** Ids that nobody can guess. */
  readonly newId: () => string;
  readonly onFault: (thrown: unknown) => void;
  readonly most?: number | undefined;
  /** What is kept of a session for a client that lost its connection. */
  readonly kept?: KeptEvents | undefined;
}

export interface McpSessions {
  /** Answers a handshake. Undefined where there are too many sessions and none is idle. */
  begin(request: Request, body: unknown): Promise<Response | undefined>;
  /**
   * Answers a request of a session. Undefined where there is no such session; 'lost' where its client asks for what followed
   * an event that is not known, or no longer.
   */
  go(id: string, request: Request, body: unknown): Promise<Response | 'lost'> | undefined;
  close(): Promise<void>;
}

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly store: EventStore;
  /** Somebody listens to its news, or did. */
  isHeard: boolean;
  /** Requests that are being answered, and streams that are open. */
  open: number;
  stopWaiting: () => void;
}

export function createMcpSessions(createServer: McpServerFactory, options: McpSessionsOptions): McpSessions {
  const { timers, newId, onFault, most = MOST_SESSIONS, kept } = options;
  /** Those that were used last come last. */
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
    // Who comes back knows that the connection is lost; here that may not be known yet.
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
        // Nobody between a client and this machine ends a quiet stream, and timers are the caller's.
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
      // A handshake that was refused leaves no session.
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
