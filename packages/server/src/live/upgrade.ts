/**
 * Takes over connections to `/api/ws`.
 *
 * U1  A connection without a valid token is a stranger. Strangers are few: a new one replaces the oldest, so that they cannot keep out a
 *     client that sends its token at once.
 * U2  The connections of each token are bounded, and so are those of all tokens together.
 */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { closeCodes, type ErrorEnvelope, failure, operations } from '@signalbox/model';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Identity } from '../access/identity.ts';
import { errorStatus } from '../http/error-status.ts';
import { type LiveOptions, serveSocket } from './live-socket.ts';

/** The largest client message. */
const MESSAGE_MAX_BYTES = 65_536;
export const STRANGERS_MAX = 16;
const CONNECTIONS_MAX = 256;
const CONNECTIONS_OF_A_TOKEN = 64;

export interface Upgrades {
  take(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Tells every client that the server is closing, which ends its connection. */
  close(): void;
  /** Cuts off the clients that do not close. */
  cut(): void;
}

export function acceptUpgrades(options: Omit<LiveOptions, 'admit' | 'wire' | 'reset'>): Upgrades {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_MAX_BYTES, perMessageDeflate: false });
  /** Oldest first. */
  const strangers = new Set<WebSocket>();
  const known = new Map<WebSocket, string>();

  function admit(socket: WebSocket, { tokenId }: Identity): boolean {
    const ofToken = [...known.values()].filter(other => other === tokenId).length;
    if (known.size >= CONNECTIONS_MAX || ofToken >= CONNECTIONS_OF_A_TOKEN) return false;
    strangers.delete(socket);
    known.set(socket, tokenId);
    return true;
  }

  function serve(accepted: WebSocket, socket: Duplex): void {
    const [oldest] = strangers;
    if (strangers.size >= STRANGERS_MAX && oldest !== undefined) {
      strangers.delete(oldest);
      oldest.terminate();
    }
    strangers.add(accepted);
    accepted.once('close', () => {
      strangers.delete(accepted);
      known.delete(accepted);
    });
    serveSocket(accepted, {
      ...options,
      admit: identity => admit(accepted, identity),
      wire: socket,
      // Without TLS it is always one of these.
      reset: () => (socket as Socket).resetAndDestroy(),
    });
  }

  return {
    take(request, socket, head) {
      socket.on('error', () => socket.destroy());
      const { host, origin } = request.headers;
      const refused =
        options.access.refuseOrigin({ host, origin }) ??
        (`WS ${request.url}` === operations.watch.route ? undefined : unknownPath()) ??
        (known.size < CONNECTIONS_MAX ? undefined : tooMany());
      if (refused !== undefined) return refuse(socket, refused);
      sockets.handleUpgrade(request, socket, head, accepted => serve(accepted, socket));
    },
    close() {
      sockets.close();
      for (const client of sockets.clients) client.close(closeCodes.goingAway, 'the server is closing');
    },
    cut() {
      for (const client of sockets.clients) client.terminate();
    },
  };
}

function refuse(socket: Duplex, error: ErrorEnvelope): void {
  const status = errorStatus(error);
  const body = JSON.stringify(error);
  // Nothing else bounds the connection now, and a client need not close its own side.
  socket.once('finish', () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\n\r\n${body}`,
  );
}

function unknownPath(): ErrorEnvelope {
  return failure('request/unknown-route', {
    message: 'There is no WebSocket at this path.',
    suggestion: 'Connect to /api/ws without a query: the token goes into the first message.',
  });
}

function tooMany(): ErrorEnvelope {
  return failure('request/too-many', {
    message: `The limit of ${CONNECTIONS_MAX} connected clients is reached.`,
    suggestion: 'Close a console page that you do not use, and try again.',
    retry: { kind: 'retryable_after_ms', afterMs: 5_000 },
  });
}
