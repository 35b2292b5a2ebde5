import type { Client } from '@signalbox/client';
import type { Json, JsonObject, RunId, WireChunk } from '@signalbox/model';
import { workKinds } from '../story/tree-rows.ts';

/** What calls of models took. */
export interface Spending {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicroUsd: number;
  /** A model without a known price was called: the cost is more than this. */
  readonly isUnpriced: boolean;
}

export const nothingSpent: Spending = {
  calls: 0,
  inputTokens: 0,
  outputTokens: 0,
  costMicroUsd: 0,
  isUnpriced: false,
};

export function addSpending(a: Spending, b: Spending): Spending {
  return {
    calls: a.calls + b.calls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    costMicroUsd: a.costMicroUsd + b.costMicroUsd,
    isUnpriced: a.isUnpriced || b.isUnpriced,
  };
}

/** By model, from what the agent of a task kept: each call of a model says what it took. */
export function spendingOf(chunks: readonly WireChunk[]): ReadonlyMap<string, Spending> {
  const spent = new Map<string, Spending>();
  let model = 'unknown';
  let isUnpriced = false;
  for (const { kind, payload } of chunks) {
    if (kind !== 'message' || !isObject(payload)) continue;
    if (payload.kind === 'begun') {
      model = typeof payload.model === 'string' ? payload.model : model;
      isUnpriced = payload.priceKnown === false;
    }
    if (payload.kind !== 'assistant' || !isObject(payload.usage)) continue;
    const { inputTokens, outputTokens, costMicroUsd } = payload.usage;
    const one = {
      calls: 1,
      inputTokens: count(inputTokens),
      outputTokens: count(outputTokens),
      costMicroUsd: count(costMicroUsd),
      isUnpriced,
    };
    spent.set(model, addSpending(spent.get(model) ?? nothingSpent, one));
  }
  return spent;
}

/** What a run spent, by model: everything that its agents kept is read. */
export async function readSpending(client: Client, run: RunId): Promise<ReadonlyMap<string, Spending>> {
  const [snapshot, tasks] = await Promise.all([client.run(run), client.tasks(run)]);
  if (!snapshot.ok) throw snapshot.error;
  if (!tasks.ok) throw tasks.error;
  const kinds = new Map(snapshot.value.tree.map(({ id, kind }) => [id, kind]));
  const isAgent = (kind: string | undefined) =>
    kind === undefined || (workKinds.has(kind) && kind !== 'task' && kind !== 'human' && kind !== 'subplan');
  const total = new Map<string, Spending>();
  for (const { id, node } of tasks.value.tasks) {
    if (!isAgent(kinds.get(node))) continue;
    for (const [model, spent] of spendingOf(await readStream(client, run, id))) {
      total.set(model, addSpending(total.get(model) ?? nothingSpent, spent));
    }
  }
  return total;
}

const PAGE = 1000;

/** Everything that was said in a task, and what its agent kept. */
export async function readStream(client: Client, run: RunId, task: string): Promise<readonly WireChunk[]> {
  const chunks: WireChunk[] = [];
  for (let from = 0; ; ) {
    const read = await client.stream(run, task, { from, limit: PAGE });
    if (!read.ok) throw read.error;
    chunks.push(...read.value.chunks);
    if (read.value.chunks.length < PAGE) return chunks;
    from = read.value.next;
  }
}

export function sumOf(spent: Iterable<Spending>): Spending {
  return [...spent].reduce(addSpending, nothingSpent);
}

function count(value: Json | undefined): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
