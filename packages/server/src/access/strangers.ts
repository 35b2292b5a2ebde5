import type { Socket } from 'node:net';

/**
 * Connections that have not yet sent a request with a valid token. Their number is bounded: a new one replaces the oldest, so that clients
 * without a token can neither use up the process's descriptors nor keep others out.
 */
export interface Strangers {
  arrive(socket: Socket): void;
  /** Stops counting the connection, which has other bounds from now on. */
  leave(socket: Socket): void;
}

export const STRANGER_CONNECTIONS_MAX = 256;

export function createStrangers(): Strangers {
  /** Oldest first. */
  const strangers = new Set<Socket>();
  return {
    arrive(socket) {
      const [oldest] = strangers;
      if (strangers.size >= STRANGER_CONNECTIONS_MAX && oldest !== undefined) {
        strangers.delete(oldest);
        oldest.destroy();
      }
      strangers.add(socket);
      socket.once('close', () => strangers.delete(socket));
    },
    leave: socket => void strangers.delete(socket),
  };
}
