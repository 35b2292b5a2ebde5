import type { RunId } from '@signalbox/model';
import { type Connect, connectWebSocket } from './connect.ts';
import { createMethods, type Methods } from './methods.ts';
import { createRequest, type Fetch, platformFetch } from './request.ts';
import { type News, type Watch, type WatchOptions, watch } from './watch.ts';

export interface ClientOptions {
  /** Such as `http://127.0.0.1:4280`. */
  readonly url: string;
  readonly token: string;
  readonly fetch?: Fetch;
  readonly connect?: Connect;
  readonly after?: (ms: number, run: () => void) => () => void;
  readonly random?: () => number;
}

/** The server, one method per operation. */
export interface Client extends Methods {
  watch(run: RunId | 'all' | 'fleet', tell: (news: News) => void, options?: WatchOptions): Watch;
}

export function createClient({
  url: given,
  token,
  fetch = platformFetch,
  connect = connectWebSocket,
  after = later,
  random = Math.random,
}: ClientOptions): Client {
  const url = given.replace(/\/+$/, '');
  const methods = createMethods(createRequest(url, token, fetch));
  return {
    ...methods,
    events: (run, page = {}) => methods.events(run, { ...page, view: page.view ?? 'stored' }),
    watch: (run, tell, options) => watch({ url, token, connect, after, random }, run, tell, options),
  };
}

function later(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
