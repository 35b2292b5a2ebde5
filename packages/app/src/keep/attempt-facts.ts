import { type TurnCheck, turnCheck } from '@signalbox/adapters/agents';
import type { RunId } from '@signalbox/model';
import type { KeepAttempt } from '@signalbox/plan';
import { chunksOf, type RunReader, type Task } from '@signalbox/runs';
import * as z from 'zod';
import { changedLines } from './changed-lines.ts';

/** What is known of an agent's attempt, from the transcript of its task. */
export interface AttemptFacts {
  readonly task: Task;
  /** The call whose changes are held, or were; undefined if it changed nothing. */
  readonly call?: string;
  readonly diff: string;
  readonly told: KeepAttempt;
}

const agent = z.object({ title: z.string() });
const usage = z.object({
  inputTokens: z.int().optional(),
  outputTokens: z.int().optional(),
  costMicroUsd: z.int().optional(),
});
const entry = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('begun'), agent: agent.optional(), model: z.string().optional() }),
  z.object({ kind: z.literal('assistant'), usage: usage.optional() }),
  z.object({ kind: z.literal('changes'), call: z.string(), diff: z.string(), check: turnCheck.optional() }),
]);

export async function attemptFacts(reader: Pick<RunReader, 'stream'>, run: RunId, task: Task): Promise<AttemptFacts> {
  let title: string = task.node;
  let changes: { readonly call: string; readonly diff: string; readonly check?: TurnCheck | undefined } | undefined;
  const usages: z.infer<typeof usage>[] = [];
  for await (const { kind, payload } of chunksOf(reader, run, task.id)) {
    const read = kind === 'message' ? entry.safeParse(payload) : undefined;
    if (read?.success !== true) continue;
    const { data } = read;
    if (data.kind === 'begun') title = data.agent?.title ?? data.model ?? title;
    else if (data.kind === 'changes') changes = data;
    else if (data.usage !== undefined) usages.push(data.usage);
  }
  const { node, status, startedAt, endedAt, lastError } = task;
  const tokens = sumOf(usages, ({ inputTokens, outputTokens }) =>
    inputTokens === undefined ? undefined : inputTokens + (outputTokens ?? 0),
  );
  const costMicroUsd = sumOf(usages, ({ costMicroUsd: cost }) => cost);
  const { diff = '', check } = changes ?? {};
  return {
    task,
    diff,
    ...(changes !== undefined && status === 'done' && { call: changes.call }),
    told: {
      node,
      agent: title,
      ...(status !== 'done' && { error: lastError?.message ?? `It is ${status}.` }),
      ...changedLines(diff),
      ...(check && { check: { passed: check.passed, says: check.says, output: check.output } }),
      ...(tokens !== undefined && { tokens }),
      ...(costMicroUsd !== undefined && { costMicroUsd }),
      ...(startedAt !== undefined && endedAt !== undefined && { ms: Date.parse(endedAt) - Date.parse(startedAt) }),
    },
  };
}

/** Undefined unless every part is known: a sum with an unknown part is unknown. */
function sumOf<T>(all: readonly T[], amount: (one: T) => number | undefined): number | undefined {
  const known = all.flatMap(one => amount(one) ?? []);
  return all.length > 0 && known.length === all.length ? known.reduce((sum, one) => sum + one, 0) : undefined;
}
