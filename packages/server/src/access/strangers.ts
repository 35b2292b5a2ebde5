import type { Socket } from 'node:net';

/**
 * Connections over which no request has come with a token that counts. There are only so many: a new one takes the place of the oldest, so
 * that whoever has no token can neither use up the descriptors of the process nor keep anybody out.
 */
export interface Strangers {
  arrive(socket: Socket): void;
  /** Something else bounds the connection from now on. */
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
