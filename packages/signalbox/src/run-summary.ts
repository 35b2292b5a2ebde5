import { type DecisionOfRun, isDoRun, isRepairable, type RunReader, type RunRecord } from '@signalbox/app/host';
import { nodeTitle } from './node-title.ts';
import { quoted } from './terminal.ts';

/** A run's result, for the person who started it. */
export interface RunSummary {
  readonly tasks: number;
  readonly retries: number;
  /** Its duration in milliseconds; undefined until it has ended. */
  readonly tookMs: number | undefined;
  readonly tokens: number;
  readonly costMicroUsd: number;
  /** Nodes whose last task failed, and why. */
  readonly failed: readonly FailedNode[];
  /** Only handlers failed, after their work was done: a corrected plan can continue with the recorded results. */
  readonly hasUnhandled: boolean;
  /** Nodes that a person denied. */
  readonly denied: readonly string[];
  /** The command that starts the task again, of a run of `signalbox do`. */
  readonly doAgain?: string | undefined;
  /** The question for a person. */
  readonly open: readonly OpenQuestion[];
}

interface FailedNode {
  readonly node: string;
  readonly why: string;
  /** Its work starts again when the run is resumed with a corrected plan. */
  readonly isRepairable: boolean;
}

interface OpenQuestion {
  readonly id: string;
  readonly node: string;
  readonly question: string;
  /** How to approve it. */
  readonly answer: string;
}

export async function summaryOf(reader: RunReader, run: RunRecord): Promise<RunSummary> {
  const [tasks, usage, asked, statuses, nodes] = await Promise.all([
    reader.tasks(run.id),
    reader.usageOfTree(run.id),
    openBelow(reader, run.id),
    reader.at(run.id, 'status', run.frames),
    reader.at(run.id, 'node', run.frames),
  ]);
  const failed = await failedNodes(reader, run);
  const open = await Promise.all(
    asked.map(async one => ({ ...one, title: await nodeTitle(reader, one.run, one.decision.node) })),
  );
  return {
    tasks: tasks.length,
    retries: tasks.reduce((sum, task) => sum + task.retryCount, 0),
    tookMs:
      run.endedAt === undefined ? undefined : Date.parse(run.endedAt) - Date.parse(run.startedAt ?? run.createdAt),
    tokens: usage.inputTokens + usage.outputTokens,
    costMicroUsd: usage.costMicroUsd,
    failed,
    denied: tasks.filter(({ lastError }) => lastError?.code === 'denied').map(({ node }) => node),
    hasUnhandled: [...statuses.values()].some(row => (row as { readonly unhandled?: true }).unhandled === true),
    doAgain: isDoRun(run) ? doAgain([...nodes.values()] as readonly DoNode[]) : undefined,
    open: open.map(({ title: node, decision: { id, kind, proposal } }) => ({
      id,
      node,
      question: questionIn(proposal) ?? kind,
      answer: answerTo(id, proposal),
    })),
  };
}

interface DoNode {
  readonly kind?: unknown;
  readonly data?: { readonly prompt?: unknown; readonly plugin?: unknown };
}

/** Tasks that are shown whole in a command; others are named. */
const SHOWN_TASK = 200;

/** The command that gives the same agents the same task. */
export function doAgain(nodes: readonly DoNode[]): string {
  const agents = nodes.filter(({ kind }) => kind === 'agent');
  const task = agents[0]?.data?.prompt;
  const isShown = typeof task === 'string' && task.length <= SHOWN_TASK && !/\p{Cc}/u.test(task);
  const plugins = agents.flatMap(({ data }) => (typeof data?.plugin === 'string' ? [data.plugin] : []));
  const who = plugins.length === 0 ? '' : ` --with ${quoted(plugins.join(','))}`;
  return `signalbox do ${isShown ? quoted(task) : '"TASK"'}${who}`;
}

async function failedNodes(
  reader: RunReader,
  { id, frames }: Pick<RunRecord, 'id' | 'frames'>,
): Promise<readonly FailedNode[]> {
  const [tasks, nodes, children] = await Promise.all([
    reader.tasks(id),
    reader.at(id, 'node', frames),
    reader.children(id),
  ]);
  const last = new Map(tasks.map(task => [task.node, task]));
  const isMended = async (task: (typeof tasks)[number]) => {
    const { kind } = (nodes.get(task.node) ?? {}) as { readonly kind?: string };
    if (kind !== 'subplan') return isRepairable(kind, task);
    const child = children.findLast(({ origin }) => origin?.kind === 'sub-plan' && origin.node === task.node);
    return child !== undefined && (await failedNodes(reader, child)).some(({ isRepairable: isBelow }) => isBelow);
  };
  return Promise.all(
    [...last.values()]
      .filter(({ status }) => status === 'error')
      .map(async task => ({
        node: task.node,
        why: task.lastError?.message ?? 'it failed',
        isRepairable: await isMended(task),
      })),
  );
}

/** Open questions of a run and its sub-plans. */
async function openBelow(reader: RunReader, run: RunRecord['id']): Promise<readonly DecisionOfRun[]> {
  const own = await reader.decisions({ run, status: ['open'] });
  const below: DecisionOfRun[] = [];
  for (const { id, origin } of await reader.children(run)) {
    if (origin?.kind === 'sub-plan') below.push(...(await openBelow(reader, id)));
  }
  return [...own, ...below];
}

function answerTo(id: string, proposal: unknown): string {
  const { options, schema } = (proposal ?? {}) as {
    readonly options?: readonly { id: string }[];
    readonly schema?: unknown;
  };
  if (options !== undefined) return `${id} --option ${options.map(option => option.id).join('|')}`;
  return schema === undefined ? id : `${id} --value JSON`;
}

function questionIn(proposal: unknown): string | undefined {
  if (typeof proposal !== 'object' || proposal === null) return undefined;
  const { prompt, tool, title } = proposal as Readonly<Record<'prompt' | 'tool' | 'title', unknown>>;
  if (typeof prompt === 'string') return prompt;
  if (typeof tool !== 'string') return undefined;
  return typeof title === 'string' && title !== tool ? `${tool}: ${title}` : tool;
}
