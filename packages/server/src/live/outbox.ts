import type { Duplex } from 'node:stream';
import type { Outbox } from '@signalbox/app/all-runs';
import type { Machine } from '@signalbox/app/host';
import { closeCodes, type ServerMessage } from '@signalbox/model';
import type { WebSocket } from 'ws';
import type { LiveMeter } from './live-meter.ts';

/** Pending bytes above which a client gets nothing more, and below which it gets more again. */
const CONGESTED_BYTES = 1_048_576;
const FREE_BYTES = 262_144;

/** How long a client may stay congested. */
export const SLOW_MS = 30_000;

/** Messages as bytes. Clients that watch the same run are sent the same message objects, which are serialized once. */
const serialized = new WeakMap<ServerMessage, Buffer>();

/**
 * Messages waiting for one client. It stays bounded because senders check for room first; a client that does not read is cut off, and
 * learns what it missed when it reconnects.
 *
 * `wire` is what the socket writes to. Calls `onFree` when there is room again. Sends nothing once `mayHear` is false, however late the connection ends.
 */
export function createOutbox(
  socket: WebSocket,
  wire: Pick<Duplex, 'cork' | 'uncork'>,
  timers: Machine['timers'],
  onFree: () => void,
  meter?: Pick<LiveMeter, 'dropped' | 'tooSlow'>,
  mayHear: () => boolean = () => true,
): Outbox {
  let waiting = 0;
  let isGathering = false;
  let stopWatch: (() => void) | undefined;
  socket.once('close', () => stopWatch?.());

  function sent(bytes: number): void {
    waiting -= bytes;
    if (stopWatch === undefined || waiting > FREE_BYTES) return;
    stopWatch();
    stopWatch = undefined;
    onFree();
  }

  /** What is sent in one turn of the event loop is written together, with one system call. */
  function gather(): void {
    if (isGathering) return;
    isGathering = true;
    wire.cork();
    setImmediate(() => {
      isGathering = false;
      wire.uncork();
    });
  }

  return {
    get isFree() {
      return stopWatch === undefined;
    },
    send(message) {
      if (socket.readyState !== socket.OPEN || !mayHear()) return;
      if (message.kind === 'stream' && message.dropped > 0) meter?.dropped(message.dropped);
      gather();
      const bytes = serialized.get(message) ?? Buffer.from(JSON.stringify(message));
      serialized.set(message, bytes);
      waiting += bytes.length;
      // Without this option `ws` would send a binary message.
      socket.send(bytes, { binary: false }, () => sent(bytes.length));
      if (waiting <= CONGESTED_BYTES || stopWatch !== undefined) return;
      stopWatch = timers.after(SLOW_MS, () => {
        meter?.tooSlow();
        socket.close(closeCodes.tooSlow, 'too slow');
        // A client that does not read would not read the close either.
        socket.terminate();
      });
    },
  };
}
