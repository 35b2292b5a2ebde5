import type { Duplex } from 'node:stream';
import type { LiveRuns, Subscription } from '@signalbox/app/all-runs';
import { type FleetDesk, subscribeFleet } from '@signalbox/app/fleet';
import type { Machine } from '@signalbox/app/host';
import {
  type ClientMessage,
  clientMessage,
  closeCodes,
  type ErrorEnvelope,
  failure,
  type RunId,
} from '@signalbox/model';
import type { RawData, WebSocket } from 'ws';
import type { Access } from '../access/access.ts';
import { opens, socketAccess, socketKeyOf } from '../access/access-table.ts';
import { forbidden, type Identity } from '../access/identity.ts';
import type { OpenDoors } from '../access/open-doors.ts';
import type { LiveMeter } from './live-meter.ts';
import { createOutbox } from './outbox.ts';

/** How long a client may take to send its token. */
const HELLO_MS = 5_000;
/** How often a silent client is pinged; without a pong until the next ping it is disconnected. */
const PING_MS = 30_000;
/** How long a client whose token became invalid may take to read the close; then it is cut off. */
const FAREWELL_MS = 500;
const SUBSCRIPTIONS_MAX = 64;

export interface LiveOptions {
  readonly live: LiveRuns;
  /** The fleet of the project that is served. */
  readonly fleet?: FleetDesk | undefined;
  readonly access: Access;
  readonly doors: OpenDoors;
  /** Counts an authenticated client; false if there are too many. */
  readonly admit: (identity: Identity) => boolean;
  /** What the connection writes to. */
  readonly wire: Pick<Duplex, 'cork' | 'uncork'>;
  /** Ends the connection at once and drops unsent data. */
  readonly reset: () => void;
  readonly timers: Machine['timers'];
  readonly meter: LiveMeter;
  /** Called with exceptions thrown while serving a client. */
  readonly onFault: (thrown: unknown) => void;
}

/** Serves one connection until it ends. */
export function serveSocket(socket: WebSocket, options: LiveOptions): void {
  const { live, access, doors, timers, meter, onFault } = options;
  const subscriptions = new Map<RunId | 'all' | 'fleet', Subscription>();
  const pumpAll = () => {
    for (const subscription of subscriptions.values()) subscription.pump();
  };
  let identity: Identity | undefined;
  const mayHear = () => identity !== undefined && access.isCurrent(identity);
  const outbox = createOutbox(socket, options.wire, timers, pumpAll, meter, mayHear);
  const disconnected = meter.connected();
  let release: (() => void) | undefined;
  let isAlive = true;
  const endHello = timers.after(HELLO_MS, () => {
    if (identity === undefined) cutOff();
  });
  let endPing = timers.after(PING_MS, ping);

  socket.on('pong', () => {
    isAlive = true;
  });
  socket.on('message', (data, isBinary) => {
    const message = isBinary ? undefined : parse(data);
    if (identity === undefined) return enter(message);
    if (message === undefined) return outbox.send({ kind: 'refused', error: notUnderstood() });
    const needed = socketAccess[socketKeyOf(message)];
    if (!opens(identity.role, needed)) return outbox.send({ kind: 'refused', error: forbidden(identity, needed) });
    switch (message.kind) {
      case 'subscribe':
        return subscribe(message);
      case 'unsubscribe':
        return unsubscribe(message.run);
      case 'hello':
        return outbox.send({ kind: 'refused', error: notUnderstood() });
    }
  });
  socket.on('close', () => {
    disconnected();
    release?.();
    endHello();
    endPing();
    unsubscribeAll();
  });
  // `ws` closes the connection itself after an error; the client's fault needs no report.
  socket.on('error', () => socket.terminate());

  /** Handles the first message: a client that sends anything but a valid token gets no answer. */
  function enter(message: ClientMessage | undefined): void {
    const known = message?.kind === 'hello' ? access.identify(message.token) : undefined;
    if (known?.ok !== true || !opens(known.value.role, socketAccess.hello)) {
      cutOff();
      return;
    }
    if (!options.admit(known.value)) {
      socket.close(closeCodes.tooMany, 'too many connections');
      return;
    }
    identity = known.value;
    release = doors.hold({ identity, end: sayGoodbye });
    outbox.send({ kind: 'welcome' });
  }

  /** Resolves when nothing more can reach the client: it confirmed the close, or unread data was dropped. */
  async function sayGoodbye(): Promise<void> {
    unsubscribeAll();
    if (socket.readyState === socket.CLOSED) return;
    const closed = new Promise<void>(resolve => socket.once('close', () => resolve()));
    cutOff();
    const stopWaiting = timers.after(FAREWELL_MS, options.reset);
    await closed;
    stopWaiting();
  }

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
    if (run === 'fleet' && options.fleet === undefined) {
      outbox.send({ kind: 'refused', run, error: noFleet() });
      return;
    }
    const isOver = meter.subscribed(run === 'all' ? 'all' : run === 'fleet' ? 'fleet' : 'run');
    const begun = begin();
    subscriptions.set(run, {
      pump: begun.pump,
      close() {
        isOver();
        begun.close();
      },
    });

    function begin(): Subscription {
      if (run === 'fleet') return subscribeFleet(options.fleet as FleetDesk, outbox);
      return run === 'all' ? live.all(outbox, fail) : live.run({ run, from, outline, view }, outbox, fail);
    }
  }

  function unsubscribe(run: RunId | 'all' | 'fleet'): void {
    subscriptions.get(run)?.close();
    subscriptions.delete(run);
  }

  function unsubscribeAll(): void {
    for (const run of [...subscriptions.keys()]) unsubscribe(run);
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

  /** Ends the connection: the client reconnects and begins with the full state. */
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

function noFleet(): ErrorEnvelope {
  return failure('VALIDATION_ERROR', {
    message: 'This server has no fleet.',
    suggestion: 'Start one with "signalbox serve".',
  });
}

function tooMany(): ErrorEnvelope {
  return failure('VALIDATION_ERROR', {
    message: `One connection can watch at most ${SUBSCRIPTIONS_MAX} runs.`,
    suggestion: 'Unsubscribe from a run first.',
  });
}
