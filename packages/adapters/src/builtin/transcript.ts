import { err, type Json, json, jsonObject, ok, type Result, text } from '@signalbox/model';
import { agentMessage, heardMessages, messageWords, type TaskError } from '@signalbox/runs';
import * as z from 'zod';
import { taskFailure } from '../attempt/task-failure.ts';

/**
 * The agent's record of a task, in order: everything it resumes from. Each entry is durable before its consequences are
 * carried out, so at any point the entries determine the next step.
 */
const v = z.literal(1);
const count = z.int().nonnegative();
const providerOptions = z.record(z.string(), jsonObject).optional();

const assistantPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text, providerOptions }),
  z.strictObject({ type: z.literal('reasoning'), text, providerOptions }),
  z.strictObject({
    type: z.literal('tool-call'),
    toolCallId: text,
    toolName: text,
    input: jsonObject,
    /** The raw text, if the input was not valid. */
    malformed: text.optional(),
    providerOptions,
  }),
]);
export type AssistantPart = z.infer<typeof assistantPart>;
export type CallPart = Extract<AssistantPart, { type: 'tool-call' }>;

const callUsage = z.strictObject({
  inputTokens: count,
  outputTokens: count,
  cachedTokens: count,
  toolCalls: count,
  costMicroUsd: count,
  wallMs: count,
  /** The provider reported nothing: the tokens are our own estimate. */
  estimated: z.literal(true).optional(),
});
export type CallUsage = z.infer<typeof callUsage>;

/** The result of a call as the model sees it. */
const toolOutput = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('json'), value: json }),
  z.strictObject({ type: z.literal('error-text'), value: text }),
]);
/** A person's answer about a call. */
const approval = z.enum(['not-needed', 'approve', 'modify', 'reject', 'choose_option']);
export type Approval = z.infer<typeof approval>;

const transcriptEntry = z.discriminatedUnion('kind', [
  /** A conversation begins; earlier entries belong to another one. */
  z.strictObject({
    v,
    kind: z.literal('begun'),
    model: text,
    priceKnown: z.boolean(),
    /** Text for the model in addition to its prompt. */
    note: text.optional(),
  }),
  z.strictObject({ v, kind: z.literal('assistant'), content: z.array(assistantPart), usage: callUsage }),
  /** A call with effects is about to run, with this input. */
  z.strictObject({
    v,
    kind: z.literal('tool_begun'),
    call: text,
    tool: text,
    input: jsonObject,
    external: z.boolean(),
    approval,
  }),
  z.strictObject({
    v,
    kind: z.literal('tool_ended'),
    call: text,
    tool: text,
    status: z.enum(['succeeded', 'failed', 'unknown', 'refused', 'denied']),
    output: toolOutput,
    ms: count,
    approval,
  }),
  /** A correction request for an invalid answer. */
  z.strictObject({ v, kind: z.literal('correction'), text }),
  /** Nothing can continue before people answer about these calls. */
  z.strictObject({ v, kind: z.literal('waiting'), calls: z.array(text) }),
  agentMessage,
  heardMessages,
]);
export type TranscriptEntry = z.infer<typeof transcriptEntry>;
export type EntryOf<K extends TranscriptEntry['kind']> = Extract<TranscriptEntry, { kind: K }>;

export function readTranscript(kept: readonly Json[]): Result<readonly TranscriptEntry[], TaskError> {
  const parsed = z.array(transcriptEntry).safeParse(kept);
  if (parsed.success) return ok(parsed.data);
  const message = `What an earlier attempt kept cannot be read: ${z.prettifyError(parsed.error)}. Start the work again with resume="restart" under another node id.`;
  return err(taskFailure('transcript-unreadable', message));
}

/** The last conversation of a transcript. */
export interface Conversation {
  /** How many began in this task. */
  readonly number: number;
  readonly begun: EntryOf<'begun'>;
  readonly turns: readonly Turn[];
  /** What people told the agent before its first answer, or in conversations before. */
  readonly told: readonly string[];
  /** Whether the last entry waits for people. */
  readonly waits: boolean;
}

/** One answer of the model and its consequences. */
export interface Turn {
  /** 1 for the first. */
  readonly number: number;
  readonly content: readonly AssistantPart[];
  readonly usage: CallUsage;
  readonly calls: readonly TurnCall[];
  readonly correction?: string;
  /** What people told the agent after it. */
  readonly told: readonly string[];
}

export interface TurnCall {
  /** Stable for this call across reads of the transcript. */
  readonly id: string;
  readonly part: CallPart;
  readonly begun?: EntryOf<'tool_begun'>;
  readonly ended?: EntryOf<'tool_ended'>;
}

export function lastConversation(entries: readonly TranscriptEntry[], task: string): Conversation | undefined {
  const start = entries.findLastIndex(entry => entry.kind === 'begun');
  const begun = entries[start];
  if (begun?.kind !== 'begun') return undefined;
  const number = entries.filter(entry => entry.kind === 'begun').length;
  const groups: { readonly answer: EntryOf<'assistant'>; readonly after: TranscriptEntry[] }[] = [];
  for (const entry of entries.slice(start + 1)) {
    if (entry.kind === 'assistant') groups.push({ answer: entry, after: [] });
    else groups.at(-1)?.after.push(entry);
  }
  const turns = groups.map(({ answer, after }, index) => turnOf(`${task}/${number}`, index + 1, answer, after));
  const first = entries.findIndex((entry, index) => index > start && entry.kind === 'assistant');
  const told = toldIn(entries.slice(0, first === -1 ? undefined : first));
  // A message of a person does not end the wait for an answer.
  const waits = entries.findLast(({ kind }) => kind !== 'person' && kind !== 'heard')?.kind === 'waiting';
  return { number, begun, turns, told, waits };
}

function turnOf(place: string, number: number, answer: EntryOf<'assistant'>, after: readonly TranscriptEntry[]): Turn {
  const parts = answer.content.filter(part => part.type === 'tool-call');
  const correction = after.find(entry => entry.kind === 'correction');
  return {
    number,
    content: answer.content,
    usage: answer.usage,
    calls: parts.map((part, index) => {
      const id = `${place}/${number}/${index}`;
      const begun = after.filter(entry => entry.kind === 'tool_begun').find(entry => entry.call === id);
      const ended = after.filter(entry => entry.kind === 'tool_ended').find(entry => entry.call === id);
      return { id, part, ...(begun && { begun }), ...(ended && { ended }) };
    }),
    ...(correction && { correction: correction.text }),
    told: toldIn(after),
  };
}

function toldIn(entries: readonly TranscriptEntry[]): readonly string[] {
  return entries.flatMap(entry => (entry.kind === 'heard' ? entry.messages.map(messageWords) : []));
}

/** The usage of the whole task, over all its conversations. */
export function tokensUsed(entries: readonly TranscriptEntry[]): number {
  return entries.reduce(
    (sum, entry) => (entry.kind === 'assistant' ? sum + entry.usage.inputTokens + entry.usage.outputTokens : sum),
    0,
  );
}

/** The text of a turn. */
export function textOfTurn(turn: Turn): string {
  return turn.content.flatMap(part => (part.type === 'text' ? [part.text] : [])).join('\n\n');
}
