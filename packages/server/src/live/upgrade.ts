import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { closeCodes, type ErrorEnvelope, failure } from '@signalbox/model';
import { WebSocketServer } from 'ws';
import { errorStatus } from '../http/error-status.ts';
import { type LiveOptions, serveSocket } from './live-socket.ts';

/** Bytes of one message of a client. */
const MESSAGE_MAX_BYTES = 65_536;
const CONNECTIONS_MAX = 64;

/** Takes over connections that ask for `/api/ws`. */
export interface Upgrades {
  take(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Tells every client that the server goes away, which ends its connection. */
  close(): void;
  /** Ends the connections of those that do not answer to that. */
  cut(): void;
}

export function acceptUpgrades(options: LiveOptions): Upgrades {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_MAX_BYTES, perMessageDeflate: false });
  return {
    take(request, socket, head) {
      socket.on('error', () => socket.destroy());
      const { host, origin } = request.headers;
      const refused =
        options.access.refuseOrigin({ host, origin }) ??
        (request.url === '/api/ws' ? undefined : unknownPath()) ??
        (sockets.clients.size < CONNECTIONS_MAX ? undefined : tooMany());
      if (refused !== undefined) return refuse(socket, refused);
      sockets.handleUpgrade(request, socket, head, accepted => serveSocket(accepted, options));
    },
    close() {
      sockets.close();
      for (const client of sockets.clients) client.close(closeCodes.goingAway, 'the server goes away');
    },
    cut() {
      for (const client of sockets.clients) client.terminate();
    },
  };
}

function refuse(socket: Duplex, error: ErrorEnvelope): void {
  const status = errorStatus(error);
  const body = JSON.stringify(error);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\n\r\n${body}`,
  );
}

function unknownPath(): ErrorEnvelope {
  return failure('request/unknown-route', {
    message: 'There is no WebSocket at this path.',
    suggestion: 'Connect to /api/ws, without a query: the token goes into the first message.',
  });
}

function tooMany(): ErrorEnvelope {
  return failure('request/too-many', {
    message: `${CONNECTIONS_MAX} clients are connected, and no more are taken.`,
    suggestion: 'Close a page of the console that is not looked at, and try again.',
    retry: { kind: 'retryable_after_ms', afterMs: 5_000 },
  });
}
