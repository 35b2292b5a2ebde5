import type { Machine, RunHost } from '@signalbox/app/runs';
import {
  type ClientMessage,
  clientMessage,
  closeCodes,
  type ErrorEnvelope,
  failure,
  type RunId,
} from '@signalbox/model';
import type { RawData, WebSocket } from 'ws';
import type { Access } from '../http/access.ts';
import type { GuidedWatch } from './guided-watch.ts';
import type { LiveMeter } from './live-meter.ts';
import { createOutbox } from './outbox.ts';
import type { RunPictures } from './run-picture.ts';
import type { Subscription } from './run-subscription.ts';
import { subscribeRuns } from './runs-subscription.ts';
import { subscribeEither } from './subscribe-either.ts';

/** How long a client may take to say who it is. */
export const HELLO_MS = 5_000;
/** How often a silent client is asked whether it is there; one that does not answer until the next time is gone. */
export const PING_MS = 30_000;
const SUBSCRIPTIONS_MAX = 64;

export interface LiveOptions {
  readonly host: RunHost;
  readonly access: Access;
  readonly timers: Machine['timers'];
  readonly pictures: RunPictures;
  /** Counts who is there. */
  readonly meter: LiveMeter;
  /** Guided runs, where there are some. */
  readonly guided?: GuidedWatch | undefined;
  /** Told of what was thrown while a client was served. */
  readonly onFault: (thrown: unknown) => void;
}

/** Serves one connection until it ends. */
export function serveSocket(socket: WebSocket, options: LiveOptions): void {
  const { host, access, timers, pictures, meter, guided, onFault } = options;
  const subscriptions = new Map<RunId | 'all', Subscription>();
  const pumpAll = () => {
    for (const subscription of subscriptions.values()) subscription.pump();
  };
  const outbox = createOutbox(socket, timers, pumpAll, meter);
  const disconnected = meter.connected();
  let isKnown = false;
  let isAlive = true;
  const endHello = timers.after(HELLO_MS, () => {
    if (!isKnown) cutOff();
  });
  let endPing = timers.after(PING_MS, ping);

  socket.on('pong', () => {
    isAlive = true;
  });
  socket.on('message', (data, isBinary) => {
    const message = isBinary ? undefined : parse(data);
    if (!isKnown) {
      isKnown = message?.kind === 'hello' && access.whoIs(message.token) !== undefined;
      if (isKnown) outbox.send({ kind: 'welcome' });
      else cutOff();
      return;
    }
    switch (message?.kind) {
      case 'subscribe':
        return subscribe(message);
      case 'unsubscribe':
        return unsubscribe(message.run);
      case 'hello':
      case undefined:
        return outbox.send({ kind: 'refused', error: notUnderstood() });
    }
  });
  socket.on('close', () => {
    disconnected();
    endHello();
    endPing();
    for (const run of [...subscriptions.keys()]) unsubscribe(run);
  });
  // `ws` closes after it told us; what the other side did wrong is its own affair.
  socket.on('error', () => socket.terminate());

  function subscribe({
    run,
    from,
    outline = false,
    view = 'contract',
  }: Extract<ClientMessage, { readonly kind: 'subscribe' }>): void {
    unsubscribe(run);
    if (subscriptions.size >= SUBSCRIPTIONS_MAX) {
      outbox.send({ kind: 'refused', run, error: tooMany() });
      return;
    }
    const isOver = meter.subscribed(run === 'all' ? 'all' : 'run');
    const begun =
      run === 'all'
        ? subscribeRuns(host, timers, outbox, fail, guided)
        : subscribeEither(host, guided, pictures, outbox, { run, from, outline, view }, fail);
    subscriptions.set(run, {
      pump: begun.pump,
      close() {
        isOver();
        begun.close();
      },
    });
  }

  function unsubscribe(run: RunId | 'all'): void {
    subscriptions.get(run)?.close();
    subscriptions.delete(run);
  }

  function ping(): void {
    if (!isAlive) {
      socket.terminate();
      return;
    }
    isAlive = false;
    socket.ping();
    endPing = timers.after(PING_MS, ping);
  }

  /** A client that missed something comes back and begins with the full state. */
  function fail(thrown: unknown): void {
    onFault(thrown);
    socket.close(closeCodes.failed, 'failed');
  }

  function cutOff(): void {
    socket.close(closeCodes.unauthorized, 'unauthorized');
  }
}

function parse(data: RawData) {
  try {
    return clientMessage.safeParse(JSON.parse(data.toString())).data;
  } catch {
    return undefined;
  }
}

function notUnderstood(): ErrorEnvelope {
  return failure('VALIDATION_ERROR', {
    message: 'The message was not understood.',
    suggestion: 'Send {"kind": "subscribe", "run": "all" or a run id} or {"kind": "unsubscribe", "run"}.',
  });
}

function tooMany(): ErrorEnvelope {
  return failure('VALIDATION_ERROR', {
    message: `One connection watches at most ${SUBSCRIPTIONS_MAX} runs.`,
    suggestion: 'Unsubscribe from a run that is not looked at any more.',
  });
}
