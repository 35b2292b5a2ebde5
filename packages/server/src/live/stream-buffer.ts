import type { StreamChunk } from '@signalbox/app/runs';
import type { Json, ServerMessage, WireChunk } from '@signalbox/model';

export type StreamParts = Omit<Extract<ServerMessage, { kind: 'stream' }>, 'kind' | 'run'>;

/** Chunks of one task that wait to be sent, after texts were joined. */
export const WAITING_CHUNKS = 200;
/** Characters of one joined text. */
const JOINED_LENGTH = 16_384;

/**
 * What agents say, between two looks of a client. Texts that follow each other become one; where too much waits, the oldest
 * goes, and is counted. Whoever wants all of it reads the stream.
 */
export interface StreamBuffer {
  add(chunks: readonly StreamChunk[]): void;
  take(): readonly StreamParts[];
  readonly isEmpty: boolean;
}

/** Without what the transcript keeps, unless it is asked for: it is what an agent goes on from, not what it says. */
export function createStreamBuffer({ hasMessages = false } = {}): StreamBuffer {
  const tasks = new Map<string, { chunks: WireChunk[]; next: number; dropped: number }>();
  return {
    add(added) {
      for (const { task, ...chunk } of added) {
        if (chunk.kind === 'message' && !hasMessages) continue;
        const waiting = tasks.get(task) ?? { chunks: [], next: 0, dropped: 0 };
        if (chunk.index < waiting.next) continue;
        tasks.set(task, waiting);
        waiting.next = chunk.index + 1;
        const last = waiting.chunks.at(-1);
        const joined = last === undefined ? undefined : join(last, chunk);
        if (joined === undefined) waiting.chunks.push(chunk);
        else waiting.chunks[waiting.chunks.length - 1] = joined;
        if (waiting.chunks.length > WAITING_CHUNKS) {
          waiting.chunks.shift();
          waiting.dropped += 1;
        }
      }
    },
    take() {
      const taken = [...tasks].map(([task, parts]) => ({ task, ...parts }));
      tasks.clear();
      return taken;
    },
    get isEmpty() {
      return tasks.size === 0;
    },
  };
}

/** Two texts of one kind as one, or undefined where they do not go together. */
function join(last: WireChunk, next: WireChunk): WireChunk | undefined {
  const [before, after] = [textOf(last.payload), textOf(next.payload)];
  const isText = next.kind === 'token' || next.kind === 'thinking';
  if (!isText || last.kind !== next.kind || before === undefined || after === undefined) return undefined;
  return before.length + after.length > JOINED_LENGTH ? undefined : { ...last, payload: before + after };
}

function textOf(payload: Json): string | undefined {
  if (typeof payload === 'string') return payload;
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return undefined;
  const { text } = payload as { readonly text?: Json };
  return typeof text === 'string' ? text : undefined;
}
