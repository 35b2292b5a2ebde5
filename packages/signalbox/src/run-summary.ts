import type { RunReader, RunRecord } from '@signalbox/app/runs';

/** What a run came to, for whoever started it. */
export interface RunSummary {
  readonly tasks: number;
  readonly retries: number;
  /** How long it took, in milliseconds; undefined while it has not ended. */
  readonly tookMs: number | undefined;
  readonly tokens: number;
  readonly costMicroUsd: number;
  /** Nodes whose last task failed, and why. */
  readonly failed: readonly { readonly node: string; readonly why: string }[];
  /** What a person is asked. */
  readonly open: readonly { readonly id: string; readonly node: string; readonly question: string }[];
}

export async function summaryOf(reader: RunReader, run: RunRecord): Promise<RunSummary> {
  const [tasks, usage, open] = await Promise.all([
    reader.tasks(run.id),
    reader.usageOfTree(run.id),
    reader.decisions({ run: run.id, status: ['open'] }),
  ]);
  const last = new Map(tasks.map(task => [task.node, task]));
  return {
    tasks: tasks.length,
    retries: tasks.reduce((sum, task) => sum + task.retryCount, 0),
    tookMs:
      run.endedAt === undefined ? undefined : Date.parse(run.endedAt) - Date.parse(run.startedAt ?? run.createdAt),
    tokens: usage.inputTokens + usage.outputTokens,
    costMicroUsd: usage.costMicroUsd,
    failed: [...last.values()]
      .filter(({ status }) => status === 'error')
      .map(({ node, lastError }) => ({ node, why: lastError?.message ?? 'it failed' })),
    open: open.map(({ decision: { id, node, kind, proposal } }) => ({
      id,
      node,
      question: questionIn(proposal) ?? kind,
    })),
  };
}

function questionIn(proposal: unknown): string | undefined {
  if (typeof proposal !== 'object' || proposal === null) return undefined;
  const { prompt, tool } = proposal as { readonly prompt?: unknown; readonly tool?: unknown };
  return typeof prompt === 'string' ? prompt : typeof tool === 'string' ? tool : undefined;
}
