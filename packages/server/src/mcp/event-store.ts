import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';

/** How many events of one session are kept for reconnecting; the oldest are dropped first. */
export interface KeptEvents {
  readonly events: number;
  readonly bytes: number;
  /**
   * The message in place of dropped events of the news stream, before the remaining ones. Without it, or if the answer of a call may be
   * missing, the client is refused.
   */
  readonly missed?: ((count: number) => JSONRPCMessage) | undefined;
}

const MOST: KeptEvents = { events: 256, bytes: 2 * 1_048_576 };

/** The transport's name for the stream that belongs to no call. */
export const NEWS = '_GET_stream';

/** The id before a session's first news: resuming from it returns all of them. */
export const BEFORE_NEWS = `${NEWS}:-1`;

interface Kept {
  readonly streamId: string;
  readonly place: number;
  readonly message: JSONRPCMessage;
  readonly bytes: number;
}

/**
 * The last events of an MCP session, in memory: a client that reconnects with the id of one gets the later ones of its stream. An id is the
 * stream's name and the place in it, so that gaps can be detected and counted.
 */
export function boundedEventStore({ events, bytes: mostBytes, missed }: KeptEvents = MOST): EventStore {
  const kept = new Set<Kept>();
  /** How many events each stream has had; streams with nothing kept are forgotten, except the news. */
  const counts = new Map<string, number>([[NEWS, 0]]);
  let bytes = 0;

  function placeOf(id: string): { readonly streamId: string; readonly place: number } | undefined {
    const parts = /^(.+):(-1|0|[1-9]\d{0,15})$/.exec(id);
    const [streamId = '', place = Number.NaN] = [parts?.[1], Number(parts?.[2])];
    if (!(place < (counts.get(streamId) ?? 0)) && id !== BEFORE_NEWS) return undefined;
    if (streamId === NEWS)
      return missed !== undefined || hasAllAfter(streamId, place) ? { streamId, place } : undefined;
    return firstOf(streamId) <= place ? { streamId, place } : undefined;
  }

  const firstOf = (streamId: string): number => {
    for (const event of kept) if (event.streamId === streamId) return event.place;
    return counts.get(streamId) ?? 0;
  };
  const hasAllAfter = (streamId: string, place: number) => firstOf(streamId) <= place + 1;

  function letGo(event: Kept): void {
    kept.delete(event);
    bytes -= event.bytes;
    const { streamId, place } = event;
    if (streamId !== NEWS && place + 1 === counts.get(streamId)) counts.delete(streamId);
  }

  return {
    async storeEvent(streamId, message) {
      const place = counts.get(streamId) ?? 0;
      const event = { streamId, place, message, bytes: Buffer.byteLength(JSON.stringify(message)) };
      counts.set(streamId, place + 1);
      kept.add(event);
      bytes += event.bytes;
      for (const oldest of kept) {
        if (kept.size <= events && bytes <= mostBytes) break;
        letGo(oldest);
      }
      return `${streamId}:${place}`;
    },

    /** Undefined for an event that never existed, or if later events were dropped and there is no message for that. */
    getStreamIdForEventId: async id => placeOf(id)?.streamId,

    async replayEventsAfter(lastId, { send }) {
      const known = placeOf(lastId);
      if (known === undefined) throw new RangeError('the event is not kept');
      const { streamId, place } = known;
      const first = firstOf(streamId);
      if (missed !== undefined && streamId === NEWS && first > place + 1) {
        await send(`${streamId}:${first - 1}`, missed(first - place - 1));
      }
      const later = [...kept].filter(event => event.streamId === streamId && event.place > place);
      // The event that opens a stream carries no message.
      for (const event of later) {
        if ('jsonrpc' in event.message) await send(`${streamId}:${event.place}`, event.message);
      }
      return streamId;
    },
  };
}
