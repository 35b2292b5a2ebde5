/**
 * Notifications to operator clients, as each protocol revision defines them.
 *
 * N1  2025-11-25: a session is notified of every commit (PRD 10.5) from its handshake to its end, and of changes of the resources that it
 *     subscribed to. It is told how many notifications were dropped.
 * N2  2026-07-28: a listener is notified of changes of the named resources only. The change of `…/events` carries the same notifications
 *     that a session would get.
 * N3  Subscriptions ignore the query: every view of a resource changes with the resource.
 */
import {
  type JSONRPCMessage,
  type McpRequestContext,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerEventBus,
} from '@modelcontextprotocol/server';
import type { RunHost } from '@signalbox/app/host';
import { failure } from '@signalbox/model';
import { executionAddress, HEALTH, plainAddress } from './address.ts';
import { notificationsOf, type OperatorNotification } from './notifications.ts';
import { changedResources } from './resource-changes.ts';
import { resourceAt } from './resources.ts';

/** The field of `_meta` in which a change carries notifications. */
export const NEWS_FIELD = 'signalbox/news';

/** The most resources that a session can subscribe to. */
const MOST_SUBSCRIPTIONS = 1_000;

/** How much of a session's news is kept for reconnecting (PRD 7.8.4). */
export const keptNews = {
  events: 1_000,
  bytes: 4 * 1_048_576,
  missed: (count: number): JSONRPCMessage => ({ jsonrpc: '2.0', ...missedNews(count) }),
};

function missedNews(count: number) {
  const suggestion =
    'They are not kept. Read the resources that you follow again: signalbox://executions/{id}/events has everything.';
  return { method: 'signalbox.events.missed', params: { count, suggestion } };
}

type Followed = Pick<RunHost, 'feed' | 'providers'>;

/** Notifies a server's client for as long as the two are connected. */
export function tellNews(
  server: McpServer,
  host: Followed,
  { era, requestInfo }: McpRequestContext,
  isFull: () => boolean,
): void {
  let missed = 0;
  let stop: () => void = () => undefined;
  server.server.onclose = () => stop();
  if (era === 'modern') {
    // Over HTTP every request is independent; listeners there use the bus.
    if (requestInfo === undefined) stop = followChanges(host, changes => changes.forEach(send));
    return;
  }
  const subscribed = new Map<string, string>();
  let isConnected = false;
  server.server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    if (!isConnected)
      throw refused('Subscriptions need a session, and this request has none.', 'Begin one with "initialize".');
    if (resourceAt(uri) === undefined)
      throw refused(`There is no resource ${uri.slice(0, 200)}.`, 'List the resources and their templates.');
    if (subscribed.size >= MOST_SUBSCRIPTIONS && !subscribed.has(uri)) {
      throw refused(
        `A session can subscribe to at most ${MOST_SUBSCRIPTIONS} resources.`,
        'Unsubscribe from some of them.',
      );
    }
    subscribed.set(uri, plainAddress(uri));
    return {};
  });
  server.server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    subscribed.delete(uri);
    return {};
  });
  server.server.oninitialized = () => {
    isConnected = true;
    stop();
    stop = followChanges(host, (changes, news) => {
      for (const { method, params } of news) send({ method, params });
      const changed = new Set(subscribed.size === 0 ? [] : changes.map(({ params: { uri } }) => uri));
      for (const [uri, plain] of subscribed) {
        if (changed.has(plain)) send({ method: UPDATED, params: { uri } });
      }
    });
  };

  function send(notification: { readonly method: string; readonly params: object }): void {
    if (isFull()) {
      missed += 1;
      return;
    }
    if (missed > 0 && era === 'legacy') void server.server.notification(missedNews(missed)).catch(() => undefined);
    missed = 0;
    // A disconnected client gets nothing; its session ends on its own.
    void server.server
      .notification({ method: notification.method, params: { ...notification.params } })
      .catch(() => undefined);
  }
}

/** The changes for listeners over HTTP with 2026-07-28. Only commits are published on it. */
export function changeBus(host: Followed): ServerEventBus {
  return {
    publish: () => undefined,
    subscribe: listener =>
      followChanges(host, changes => {
        for (const { params } of changes) listener({ kind: 'resource_updated', uri: params.uri, params });
      }),
  };
}

const UPDATED = 'notifications/resources/updated';

interface Change {
  readonly method: typeof UPDATED;
  readonly params: { readonly uri: string; readonly _meta?: Record<string, unknown> };
}

/** Reports every commit: the resources that it changed, and its notifications. Model providers change without a commit. */
function followChanges(
  { feed, providers }: Followed,
  tell: (changes: readonly Change[], news: readonly OperatorNotification[]) => void,
): () => void {
  const stops = [
    feed.subscribe('all', notice => {
      const news = notificationsOf(notice);
      const events = `${executionAddress(notice.run)}/events`;
      const changes = changedResources(notice).map(
        (uri): Change => ({
          method: UPDATED,
          params: { uri, ...(uri === events && { _meta: { [NEWS_FIELD]: news } }) },
        }),
      );
      tell(changes, news);
    }),
    providers.subscribe(() => tell([{ method: UPDATED, params: { uri: HEALTH } }], [])),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function refused(message: string, suggestion: string): ProtocolError {
  const error = failure('VALIDATION_ERROR', { message, suggestion });
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `${message} ${suggestion}`, error);
}
