import {
  type ClientMessage,
  closeCodes,
  type ErrorEnvelope,
  failure,
  operations,
  type RunId,
  type ServerMessage,
  serverMessage,
} from '@signalbox/model';
import type { Connect, Connection } from './connect.ts';

/** What a watcher receives: messages of the server, and the connection status. */
export type News =
  | Exclude<ServerMessage, { readonly kind: 'welcome' | 'said' }>
  | { readonly kind: 'connection'; readonly status: 'connecting' | 'live' }
  /** The connection was lost; the next attempt is after `retryMs`. */
  | { readonly kind: 'connection'; readonly status: 'lost'; readonly retryMs: number }
  /** Nothing more will follow. */
  | { readonly kind: 'connection'; readonly status: 'ended'; readonly error: ErrorEnvelope };

export interface Watch {
  close(): void;
}

export interface WatchOptions {
  /** The first event to deliver; without it, events after the state. */
  readonly from?: number | undefined;
  /** Without the contract's nodes, edges and artifacts: the tree has everything a page draws. */
  readonly outline?: boolean;
}

export interface WatchPlatform {
  readonly url: string;
  readonly token: string;
  readonly connect: Connect;
  /** Runs a function later; the returned function cancels it. */
  readonly after: (ms: number, run: () => void) => () => void;
  /** From 0 up to 1. */
  readonly random: () => number;
}

const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 10_000;

/**
 * Watches one run, all, or the fleet.
 *
 * 1. A lost connection is opened again, after a wait that doubles up to a bound.
 * 2. `next` is the next event to deliver: one below it is skipped, and one above it means that events are missing, so the connection is
 *    opened again from `next`. Over any number of connections each event is delivered once, in order.
 * 3. Each connection begins with the full state, so only events need a position.
 * 4. After `close` nothing is delivered.
 */
export function watch(
  { url, token, connect, after, random }: WatchPlatform,
  run: RunId | 'all' | 'fleet',
  tell: (news: News) => void,
  { from, outline = false }: WatchOptions = {},
): Watch {
  const address = `${url.replace(/^http/, 'ws')}${operations.watch.route.slice('WS '.length)}`;
  const isRun = run !== 'all' && run !== 'fleet';
  let next = from;
  let failures = 0;
  let connection: Connection | undefined;
  let endWait: (() => void) | undefined;
  let isOver = false;

  function open(): void {
    tell({ kind: 'connection', status: 'connecting' });
    if (isOver) return;
    const opened: Connection = connect(address, {
      opened: () => say(opened, { kind: 'hello', token }),
      received: text => {
        if (connection === opened) receive(text);
      },
      closed: code => {
        if (connection === opened) lose(code);
      },
    });
    connection = opened;
  }

  function receive(text: string): void {
    const message = parse(text);
    if (message === undefined) lose(1002);
    else if (message.kind === 'welcome') begin();
    else if (message.kind === 'event') tellEvent(message);
    // Only for subscribers to the contract's events; this subscribes to the stored ones.
    else if (message.kind !== 'said') {
      if (message.kind === 'state') next = message.next;
      tell(message);
      if (message.kind === 'refused') end(message.error);
    }
  }

  function begin(): void {
    failures = 0;
    say(connection, {
      kind: 'subscribe',
      run,
      ...(isRun && { view: 'stored' as const }),
      ...(isRun && next !== undefined && { from: next }),
      ...(isRun && outline && { outline }),
    });
    tell({ kind: 'connection', status: 'live' });
  }

  function tellEvent(message: Extract<ServerMessage, { readonly kind: 'event' }>): void {
    const { seq } = message.stored.event;
    if (next !== undefined && seq < next) return;
    if (next !== undefined && seq > next) {
      lose(1002);
      return;
    }
    next = seq + 1;
    tell(message);
  }

  function lose(code: number): void {
    if (isOver) return;
    connection?.close();
    connection = undefined;
    if (code === closeCodes.unauthorized) {
      end(unauthorized());
      return;
    }
    const bound = Math.min(FIRST_RETRY_MS * 2 ** failures, LAST_RETRY_MS);
    const retryMs = Math.round(bound / 2 + (bound / 2) * random());
    failures += 1;
    tell({ kind: 'connection', status: 'lost', retryMs });
    if (!isOver) endWait = after(retryMs, open);
  }

  function end(error: ErrorEnvelope): void {
    if (isOver) return;
    close();
    tell({ kind: 'connection', status: 'ended', error });
  }

  function close(): void {
    isOver = true;
    endWait?.();
    connection?.close();
    connection = undefined;
  }

  open();
  return { close };
}

function say(connection: Connection | undefined, message: ClientMessage): void {
  connection?.send(JSON.stringify(message));
}

function parse(text: string): ServerMessage | undefined {
  try {
    return serverMessage.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function unauthorized(): ErrorEnvelope {
  return failure('request/unauthorized', {
    message: 'The server does not know the token.',
    suggestion: 'Use the token that the server printed when it started.',
  });
}
