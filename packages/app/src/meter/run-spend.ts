import type { RunId, RunSpend, WireModelCall, WireSpending } from '@signalbox/model';
import {
  type InternalEvent,
  NO_USAGE,
  type RunReader,
  type RunRecord,
  type Spending,
  sumSpending,
} from '@signalbox/runs';

const PAGE = 1_000;
/** The latest calls of a run that are listed. */
const LISTED_CALLS = 500;

/** What a run has spent so far: in all, by node and model, and its latest calls through the meter. */
export async function runSpend(
  reader: Pick<RunReader, 'usageOfTree' | 'spending' | 'tasks' | 'events'>,
  { id, limits }: Pick<RunRecord, 'id' | 'limits'>,
): Promise<RunSpend> {
  const [total, tasks, calls] = await Promise.all([
    reader.usageOfTree(id).catch(() => NO_USAGE),
    reader.tasks(id),
    callsOf(reader, id),
  ]);
  const byNode = new Map<string, Spending[]>();
  for (const task of tasks) {
    const spent = await reader.spending({ run: id, task: task.id });
    if (spent.length > 0) byNode.set(task.node, [...(byNode.get(task.node) ?? []), ...spent]);
  }
  const nodes = [...byNode].map(([node, spent]) => ({ node, models: sumSpending(spent).map(wire) }));
  const subagents = sumOfSubagents(calls);
  return { run: id, limits, total, nodes, subagents, calls: calls.slice(-LISTED_CALLS), callsInAll: calls.length };
}

/** What the calls of each subagent took, in the order in which they began; also of the agents themselves, where these are told apart. */
function sumOfSubagents(calls: readonly WireModelCall[]): RunSpend['subagents'] {
  const sums = new Map<string, RunSpend['subagents'][number]>();
  for (const { node, subagent, spent, outcome } of calls) {
    if (subagent === undefined) continue;
    const key = JSON.stringify([node, subagent?.id ?? null]);
    const { inputTokens = 0, outputTokens = 0, cachedTokens = 0, costMicroUsd = 0 } = spent ?? {};
    const before = sums.get(key) ?? { node, subagent, calls: 0, ...NOTHING };
    sums.set(key, {
      ...before,
      calls: before.calls + (outcome === 'refused at a limit' ? 0 : 1),
      inputTokens: before.inputTokens + inputTokens,
      outputTokens: before.outputTokens + outputTokens,
      cachedTokens: before.cachedTokens + cachedTokens,
      costMicroUsd: before.costMicroUsd + costMicroUsd,
    });
  }
  return [...sums.values()];
}

const NOTHING = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costMicroUsd: 0 };

const wire = ({ directory: _, ...spending }: Spending): WireSpending => spending;

type Told = Extract<InternalEvent, { readonly type: 'model.called' | 'model.answered' | 'model.refused' }>;

async function callsOf(reader: Pick<RunReader, 'events'>, run: RunId): Promise<readonly WireModelCall[]> {
  const calls = new Map<string, WireModelCall>();
  /** The call of each node that was refused, until the node ends. */
  const refused = new Map<string, string>();
  for (let from = 0; ; ) {
    const page = await reader.events(run, from, PAGE);
    for (const { event } of page) {
      if (event.type === 'model.called' || event.type === 'model.answered' || event.type === 'model.refused')
        calls.set(event.call, after(calls.get(event.call), event));
      if (event.type === 'model.refused') refused.set(event.node, event.call);
      if (event.type !== 'node.status' || event.to === 'running') continue;
      const call = refused.get(event.node);
      const known = call === undefined ? undefined : calls.get(call);
      if (call === undefined || known === undefined) continue;
      refused.delete(event.node);
      const endedAfterMs = Math.max(0, Date.parse(event.ts) - Date.parse(known.endedAt ?? known.at));
      calls.set(call, { ...known, endedAfterMs });
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return [...calls.values()];
    from = last.event.seq + 1;
  }
}

function after(before: WireModelCall | undefined, event: Told): WireModelCall {
  const { call, node, task, provider, model, subagent, ts } = event;
  const of = { call, node, task, provider, model, ...(subagent !== undefined && { subagent }) };
  const known = before ?? { ...of, at: ts, outcome: 'under way' as const, unknown: [] };
  switch (event.type) {
    case 'model.called':
      return { ...known, reservedTokens: event.input + event.output };
    case 'model.answered':
      return {
        ...{ ...known, endedAt: ts, outcome: event.outcome, unknown: event.unknown },
        ...(event.status !== undefined && { status: event.status }),
        ...(event.spent !== undefined && { spent: event.spent }),
      };
    case 'model.refused':
      return { ...known, endedAt: ts, outcome: 'refused at a limit', reason: event.reason };
  }
}
