import type { Json } from '@signalbox/model';
import * as z from 'zod';

/** The tool whose call is an agent's turn. */
export const AGENT_TURN = 'agent_turn';

const kept = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('tool_begun'), call: z.string(), tool: z.literal(AGENT_TURN) }),
  z.looseObject({
    kind: z.literal('tool_ended'),
    call: z.string(),
    tool: z.literal(AGENT_TURN),
    status: z.string(),
  }),
  z.looseObject({ kind: z.literal('answer'), call: z.string(), output: z.json() }),
  /** The run was forked here, in the middle of the turn. */
  z.looseObject({ kind: z.literal('forked'), call: z.string() }),
]);

/** The earlier attempts of a task. */
export interface TurnHistory {
  /** The call of this attempt: of the last turn, if it has not ended. */
  readonly call: string;
  /** Whether the last turn was cut off. */
  readonly isPending: boolean;
  /** The answer of the last turn, which may have taken effect. */
  readonly answer?: Json;
  /** The output of the task, if its turn has taken effect. */
  readonly done?: Json;
  /** Whether the last turn was not interrupted: it waited for a person, or its run was forked there. */
  readonly waits: boolean;
  /** The transcript of the turn that was cut off. */
  readonly entries: readonly Json[];
  /** Of those, the ones from before its run was forked: their changes are in place. */
  readonly forked?: readonly Json[];
}

function isMessage(entry: Json): boolean {
  const { kind } = (entry ?? {}) as { readonly kind?: unknown };
  return kind === 'person' || kind === 'heard';
}

export function readTurns(entries: readonly Json[], task: string): TurnHistory {
  let count = 0;
  let begunAt = 0;
  let forkedAt: number | undefined;
  let call: string | undefined;
  let answer: Json | undefined;
  let ended: string | undefined;
  for (const [index, entry] of entries.entries()) {
    const read = kept.safeParse(entry);
    if (!read.success) continue;
    const { data } = read;
    if (data.kind === 'tool_begun') {
      count++;
      begunAt = index + 1;
      forkedAt = undefined;
      call = data.call;
      answer = undefined;
      ended = undefined;
    } else if (data.call === call) {
      if (data.kind === 'answer') answer = data.output as Json;
      else if (data.kind === 'forked') forkedAt = index;
      else ended = data.status;
    }
  }
  // A message of a person does not end the wait.
  const last = entries.findLast(one => !isMessage(one)) as { readonly kind?: unknown } | undefined;
  const isPending = call !== undefined && ended === undefined;
  return {
    call: isPending && call !== undefined ? call : `${task}/turn/${count + 1}`,
    isPending,
    ...(isPending && answer !== undefined && { answer }),
    ...(ended === 'succeeded' && answer !== undefined && { done: answer }),
    waits: last?.kind === 'waiting' || last?.kind === 'forked',
    entries: isPending ? entries.slice(begunAt) : [],
    ...(isPending && forkedAt !== undefined && { forked: entries.slice(begunAt, forkedAt) }),
  };
}
