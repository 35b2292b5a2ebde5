import type { Json, JsonObject } from '@signalbox/model';
import type { ModelAnswer, ModelVendor, OfferedTool } from './model-script.ts';

/** One vendor's format: how a request is read, and how an answer and a refusal are written. */
export interface Wire {
  readonly vendor: ModelVendor;
  /** The model that a path names, an empty string where the body does; undefined where the path is not this vendor's. */
  route(path: string): { readonly model: string; readonly stream?: boolean } | undefined;
  /** The answer to a request to count the tokens of one; undefined where the path is not for that. */
  counted?(path: string): Json | undefined;
  /** Why a request lacks what lets it in. */
  unauthorized(headers: Readonly<Record<string, string>>, query: URLSearchParams): string | undefined;
  /** The parsed request; a string is the reason why a real server would refuse it. */
  read(body: unknown): WireRequest | string;
  whole(answer: ModelAnswer, context: AnswerContext): Json;
  events(answer: ModelAnswer, context: AnswerContext): readonly WireEvent[];
  refusal(status: number, message: string): Json;
  /** The vendor's error inside a stream. */
  errorEvent(message: string): WireEvent;
}

export interface WireRequest {
  readonly model?: string;
  readonly system: string;
  readonly messages: readonly WireMessage[];
  readonly tools: readonly OfferedTool[];
  readonly stream?: boolean;
  readonly wantsJson: boolean;
}

export interface WireMessage {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly WirePart[];
}

export type WirePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking' }
  | { readonly kind: 'call'; readonly id: string; readonly tool: string }
  | { readonly kind: 'result'; readonly id: string; readonly tool?: string; readonly text: string };

export interface AnswerContext {
  readonly model: string;
  /** Makes the ids of one answer unlike those of all others. */
  readonly call: number;
  readonly usage: { readonly input: number; readonly output: number; readonly cached: number };
  /** The tools that the request offered. */
  readonly tools: readonly OfferedTool[];
}

export interface WireEvent {
  readonly event?: string;
  readonly data: JsonObject | '[DONE]';
}

/** Messages of one role that follow each other count as one. */
export function joined(messages: readonly WireMessage[]): readonly WireMessage[] {
  const result: WireMessage[] = [];
  for (const message of messages) {
    const last = result.at(-1);
    if (last?.role === message.role) {
      result[result.length - 1] = { role: last.role, parts: [...last.parts, ...message.parts] };
    } else result.push(message);
  }
  return result;
}
