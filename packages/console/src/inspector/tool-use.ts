import type { Json } from '@signalbox/model';
import type { TextChange } from '../story/tool-call.ts';

/** A tool call of an agent, and its result. */
export interface ToolUse {
  readonly call: string;
  readonly tool: string;
  readonly input: Json;
  readonly output?: Json;
  /** Its outcome; absent while it runs or waits. */
  readonly status?: string;
  readonly ms?: number;
  readonly approval?: string;
  /** What the agent calls it. */
  readonly title?: string;
  readonly kind?: string;
  readonly locations?: readonly string[];
  readonly changes?: readonly TextChange[];
  /** Why it can be undone only with the whole turn. */
  readonly notAlone?: string;
  /** Whether it only asked so far. */
  readonly isAsking?: boolean;
  /** Whether the model asked for it and it has not begun. */
  readonly isNext?: boolean;
}

/** The outcome of a call in a word or two. */
export function outcomeOf({ status, isAsking = false, isNext = false }: ToolUse, isOver: boolean): string {
  if (status !== undefined) return status;
  if (isOver) return isNext ? 'not made' : 'cut off';
  return isAsking ? 'waits for an answer' : isNext ? 'next' : 'running';
}

export function markOf({ status, isAsking = false, isNext = false }: ToolUse, isOver: boolean): string {
  return status ?? (isOver ? 'unknown' : isAsking ? 'asking' : isNext ? 'next' : 'open');
}
