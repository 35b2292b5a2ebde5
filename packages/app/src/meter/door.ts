import type { JsonObject } from '@signalbox/model';

/** What an agent sent, once all of it is there. */
export interface AgentRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

/** The meter of one attempt, as its HTTP edge calls it. */
export interface MeterDoor {
  /** Whoever has a key of the attempt, while it is under way. */
  holder(key: string): KeyHolder | undefined;
  /** Somebody was turned away. `key` is never shown: it may be known as the key of an attempt that has ended. */
  turnedAway(request: { readonly method: string; readonly path: string }, why: string, key?: string): void;
}

interface KeyHolder {
  /** The real key. It goes out in the place of the agent's, and nowhere else. */
  readonly real: string;
  /** Where the requests go: their path is put behind it. */
  readonly upstream: string;
  /** Settles when the request may go out, or is refused. */
  ask(request: AgentRequest): Promise<MeterVerdict>;
}

export type MeterVerdict =
  | { readonly kind: 'refuse'; readonly status: number; readonly body: JsonObject }
  /** Without a call, nothing is counted: a list of models, a count of tokens. */
  | { readonly kind: 'pass'; readonly call?: MeteredCall | undefined };

/** `unreached`: nothing of the request was sent. */
export type CallEnd = 'ended' | 'cut' | 'unreached';

export interface MeteredCall {
  /** Aborted when the attempt is over. */
  readonly signal: AbortSignal;
  /** The head of the answer is there. */
  answered(status: number, headers: Readonly<Record<string, string | undefined>>): void;
  /** The next bytes of the answer. True if they end what the agent waits for. */
  take(chunk: Buffer): boolean | Promise<boolean>;
  /** Commits what was spent, once. The end of the answer is passed on afterwards. */
  settle(how: CallEnd): Promise<void>;
}

/** Serves the meter on loopback. */
export interface MeterEdge {
  /** Listens for one attempt, on a port of its own. `url` is without a path. */
  listen(door: MeterDoor): Promise<MeterPlace>;
  close(): Promise<void>;
}

export interface MeterPlace {
  readonly url: string;
  close(): Promise<void>;
}
