import type { Json } from '@signalbox/model';
import { type DecisionRequest, decisionRequest } from '@signalbox/runs';
import * as z from 'zod';

/**
 * An agent's session as a cut-off turn left it, read from the transcript.
 *
 * 1. It is everything that our side must know so that the session can be continued as if it had not been cut off.
 * 2. A call counts as made once it ended. One that was still asked about, or under way, is made again, and finds its answer.
 */
export interface LeftSession {
  readonly id: string;
  readonly agent: { readonly id: string; readonly version: string };
  /** The number of its last prompt; 0 if it had none. */
  readonly prompt: number;
  readonly corrections: number;
  readonly tokens: number;
  /** The cost that was recorded of it. */
  readonly costMicroUsd: number;
  /** Names of calls and questions that were made and are over. */
  readonly made: readonly string[];
  /** Exact tools that a person allowed for the rest of it. */
  readonly always: readonly string[];
  /** Calls as people want them, by identity, which the agent has not made. */
  readonly wanted: readonly string[];
  /** Words of people that the agent has not been given. */
  readonly words: readonly string[];
  /** Questions that the agent was told to wait for. */
  readonly questions: readonly { readonly call: string; readonly request: DecisionRequest }[];
}

const count = z.number().nonnegative();
const entry = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('begun'),
    session: z.string().min(1),
    opened: z.enum(['new', 'resumed', 'loaded']).default('new'),
    agent: z.looseObject({ id: z.string(), version: z.string() }),
  }),
  z.looseObject({ kind: z.literal('prompted'), prompt: z.int().positive() }),
  z.looseObject({
    kind: z.literal('assistant'),
    usage: z.looseObject({ inputTokens: count.default(0), outputTokens: count.default(0) }).optional(),
  }),
  z.looseObject({ kind: z.literal('cost'), costMicroUsd: count }),
  z.looseObject({ kind: z.literal('correction') }),
  z.looseObject({
    kind: z.literal('tool_ended'),
    call: z.string(),
    status: z.string(),
    approval: z.string().optional(),
  }),
  z.looseObject({ kind: z.literal('always'), tool: z.string() }),
  z.looseObject({ kind: z.literal('to_tell'), text: z.string(), wanted: z.string().optional() }),
  z.looseObject({
    kind: z.literal('question'),
    call: z.string(),
    isAnswered: z.boolean(),
    request: decisionRequest.optional(),
  }),
]);
type Entry = z.infer<typeof entry>;

/** The last session of a turn that was cut off; undefined if none was opened. */
export function leftSession(entries: readonly Json[]): LeftSession | undefined {
  const read = entries.flatMap((one): Entry[] => {
    const parsed = entry.safeParse(one);
    return parsed.success ? [parsed.data] : [];
  });
  const start = read.findLastIndex(one => one.kind === 'begun' && one.opened === 'new');
  const begun = read[start];
  if (begun?.kind !== 'begun') return undefined;
  const its = read.slice(start + 1);
  const all = <K extends Entry['kind']>(kind: K, among = its) =>
    among.filter((one): one is Extract<Entry, { kind: K }> => one.kind === kind);
  const lastPrompt = its.findLastIndex(({ kind }) => kind === 'prompted');
  const since = its.slice(lastPrompt + 1);
  const ended = all('tool_ended');
  const questions = all('question');
  const answered = questions.filter(({ isAnswered }) => isAnswered).map(({ call }) => call);
  return {
    id: begun.session,
    agent: begun.agent,
    prompt: Math.max(0, ...all('prompted').map(({ prompt }) => prompt)),
    corrections: all('correction').length,
    tokens: all('assistant').reduce(
      (sum, { usage }) => sum + (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0),
      0,
    ),
    costMicroUsd: all('cost').at(-1)?.costMicroUsd ?? 0,
    made: [...ended.map(({ call }) => call), ...answered],
    always: all('always').map(({ tool }) => tool),
    wanted: unmade(
      all('to_tell').flatMap(({ wanted }) => wanted ?? []),
      ended.filter(({ approval, status }) => approval === 'modify' && status !== 'denied').map(({ call }) => call),
    ),
    words: all('to_tell', since).map(({ text }) => text),
    questions: all('question', since).flatMap(({ call, request, isAnswered }) =>
      isAnswered || request === undefined || answered.includes(call) ? [] : [{ call, request }],
    ),
  };
}

/** Identities without those that the names of calls contain, each once. */
function unmade(identities: readonly string[], calls: readonly string[]): readonly string[] {
  const left = [...identities];
  for (const call of calls) {
    const at = left.findIndex(identity => call.split('/').includes(identity));
    if (at >= 0) left.splice(at, 1);
  }
  return left;
}
