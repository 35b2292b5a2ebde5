import type { Json, WireChunk } from '@signalbox/model';
import type { StreamChunk } from '@signalbox/runs';

/** Output of one agent, in order: chunks before `next`, without those dropped before the first. */
export interface StreamParts {
  readonly task: string;
  readonly chunks: readonly WaitingChunk[];
  readonly next: number;
  readonly dropped: number;
}

interface WaitingChunk extends WireChunk {
  /** The `seq` of the last event before its commit. */
  readonly after: number;
  /** The index of the last message before it; absent if none came since the client began to watch. */
  readonly messageBefore?: number;
}

/** How many chunks of one task wait at most, after joining texts. */
export const WAITING_CHUNKS = 200;
/** The most characters of one joined text. */
const JOINED_LENGTH = 16_384;

/**
 * Agent output between two sends. Consecutive texts are joined unless an event came between; if too much waits, the oldest is dropped and
 * counted. The complete output is in the stream.
 */
export interface StreamBuffer {
  /** `after` is the `seq` of the last event before the chunks' commit. */
  add(chunks: readonly StreamChunk[], after: number): void;
  /** Whether output waits that came before the event `seq`. */
  hasBefore(seq: number): boolean;
  takeBefore(seq: number): readonly StreamParts[];
}

/** Leaves out messages: the transcript is for resuming the agent, not for watchers. */
export function createStreamBuffer({ onlyDeltas = false } = {}): StreamBuffer {
  const tasks = new Map<string, { chunks: WaitingChunk[]; next: number; dropped: number }>();
  const lastMessages = new Map<string, number>();
  return {
    add(added, after) {
      for (const { task, ...given } of added) {
        if (given.kind === 'message') lastMessages.set(task, given.index);
        if (given.kind === 'message' || (onlyDeltas && !isDelta(given))) continue;
        const waiting = tasks.get(task) ?? { chunks: [], next: 0, dropped: 0 };
        if (given.index < waiting.next) continue;
        tasks.set(task, waiting);
        waiting.next = given.index + 1;
        const messageBefore = lastMessages.get(task);
        const chunk = { ...given, after, ...(messageBefore !== undefined && { messageBefore }) };
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
    hasBefore(seq) {
      for (const { chunks } of tasks.values()) if (chunks[0] !== undefined && chunks[0].after < seq) return true;
      return false;
    },
    takeBefore(seq) {
      const taken: StreamParts[] = [];
      for (const [task, waiting] of tasks) {
        const { chunks, next, dropped } = waiting;
        const end = chunks.findIndex(({ after }) => after >= seq);
        const [first] = end < 0 ? [] : chunks.slice(end);
        if (first === undefined) {
          taken.push({ task, chunks, next, dropped });
          tasks.delete(task);
        } else if (end > 0) {
          taken.push({ task, chunks: chunks.slice(0, end), next: first.index, dropped });
          tasks.set(task, { chunks: chunks.slice(end), next, dropped: 0 });
        }
      }
      return taken;
    },
  };
}

function isDelta({ kind }: Pick<StreamChunk, 'kind'>): boolean {
  return kind === 'token' || kind === 'thinking';
}

/** Two texts of the same kind and place as one; undefined if they do not belong together. */
function join(last: WaitingChunk, next: WaitingChunk): WaitingChunk | undefined {
  if (!isDelta(next) || last.kind !== next.kind) return undefined;
  if (last.after !== next.after || last.messageBefore !== next.messageBefore) return undefined;
  const [before, after] = [textOf(last.payload), textOf(next.payload)];
  if (before === undefined || after === undefined) return undefined;
  return before.length + after.length > JOINED_LENGTH ? undefined : { ...last, payload: before + after };
}

function textOf(payload: Json): string | undefined {
  if (typeof payload === 'string') return payload;
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return undefined;
  const { text } = payload as { readonly text?: Json };
  return typeof text === 'string' ? text : undefined;
}
