import type { Json, JsonObject } from '@signalbox/model';

export type ModelVendor = 'anthropic' | 'openai-responses' | 'openai-chat' | 'google';

/** The request to a script, the same for every vendor. */
export interface ModelRequest {
  readonly vendor: ModelVendor;
  readonly model: string;
  readonly system: string;
  /** The text of the user's first message. */
  readonly prompt: string;
  /** Everything after the model's last turn, in order. */
  readonly since: readonly SaidPart[];
  readonly tools: readonly OfferedTool[];
  /** 1 for the first turn of a conversation. */
  readonly turn: number;
  /** 1 for the first request to the server. */
  readonly call: number;
  readonly stream: boolean;
  /** Whether the request asks for structured output instead of text. */
  readonly wantsJson: boolean;
}

export type SaidPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'result'; readonly tool: string; readonly text: string };

export interface OfferedTool {
  readonly name: string;
  /** The group that a format puts the tool in; its name is unique there. */
  readonly namespace?: string;
  /** The tool takes text instead of JSON, and has no schema. */
  readonly takesText?: true;
  readonly description: string;
  readonly schema: JsonObject;
}

/** The model's answer or failure, from which every vendor's format is generated. */
export type ModelReply = ModelAnswer | ModelRefusal;

export interface ModelAnswer {
  /** Omitted by formats that do not support it. */
  readonly thinking?: string;
  /** A list is sent as one delta per item. */
  readonly text?: string | readonly string[];
  readonly calls?: readonly ScriptedCall[];
  readonly usage?: { readonly input?: number; readonly output?: number; readonly cached?: number };
  /** Why it ended, unless it was done. */
  readonly finish?: 'length' | 'refused';
  readonly fault?: AnswerFault;
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ScriptedCall {
  readonly tool: string;
  readonly namespace?: string;
  /** A string for a tool that takes text. */
  readonly input: Json;
  /** Sent instead of the input if the format has it as text. */
  readonly rawInput?: string;
}

/** A fault of an answer. `after` counts stream events; an answer that is not streamed is cut or held in its middle. */
export type AnswerFault =
  /** The connection is lost. */
  | { readonly kind: 'cut'; readonly after: number }
  /** The response ends as if complete. */
  | { readonly kind: 'ended'; readonly after: number }
  /** Nothing more is sent until `release`. */
  | { readonly kind: 'stall'; readonly after: number }
  /** Not even the headers are sent until `release`. */
  | { readonly kind: 'slow-start' }
  /** The vendor's own error in the middle of a stream. */
  | { readonly kind: 'error'; readonly after: number; readonly message?: string }
  /** Sends something that is not JSON. */
  | { readonly kind: 'malformed' };

interface ModelRefusal {
  /** An HTTP status of 400 or more. */
  readonly status: number;
  readonly message?: string;
  /** The header as it is sent: seconds, or a date. */
  readonly retryAfter?: string;
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Replies in order, or a reply for each request. Requests beyond the list are refused. */
export type ModelScript = readonly ModelReply[] | ((request: ModelRequest) => ModelReply);

/** The chunks in which a text is streamed. */
export function textDeltas(text: string | readonly string[] | undefined): readonly string[] {
  if (text === undefined) return [];
  if (typeof text !== 'string') return text;
  return text.match(/.{1,12}/gsu) ?? [];
}

export function wholeText(text: string | readonly string[] | undefined): string {
  return textDeltas(text).join('');
}
