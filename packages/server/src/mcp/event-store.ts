import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';

/** What is kept of one session for a client that lost its connection; the oldest goes first. */
const MOST = { events: 256, bytes: 2 * 1_048_576 } as const;

interface Kept {
  readonly streamId: string;
  readonly message: JSONRPCMessage;
  readonly bytes: number;
}

/** The last events of an MCP session, in memory: who comes back with the id of one gets those of its stream that followed. */
export function boundedEventStore(most: { readonly events: number; readonly bytes: number } = MOST): EventStore {
  const kept = new Map<string, Kept>();
  let count = 0;
  let bytes = 0;
  return {
    async storeEvent(streamId, message) {
      const event = { streamId, message, bytes: Buffer.byteLength(JSON.stringify(message)) };
      const id = String(count++);
      kept.set(id, event);
      bytes += event.bytes;
      for (const [oldest, { bytes: freed }] of kept) {
        if (kept.size <= most.events && bytes <= most.bytes) break;
        kept.delete(oldest);
        bytes -= freed;
      }
      return id;
    },

    /** Undefined for an event that was never there or is no longer kept: what followed it cannot be told in full. */
    getStreamIdForEventId: async id => kept.get(id)?.streamId,

    async replayEventsAfter(lastId, { send }) {
      const streamId = kept.get(lastId)?.streamId;
      if (streamId === undefined) throw new RangeError('the event is not kept');
      const later = [...kept].filter(([id, event]) => event.streamId === streamId && Number(id) > Number(lastId));
      // The event that opens a stream carries no message.
      for (const [id, { message }] of later) if ('jsonrpc' in message) await send(id, message);
      return streamId;
    },
  };
}
