import type { TreeNode, WireDecision, WireEvent, WireTask } from '@signalbox/model';

/** What a stretch of time was spent on. */
export type SpanKind = 'queued' | 'work' | 'done' | 'failed' | 'retry' | 'person' | 'turn';

export interface Span {
  readonly kind: SpanKind;
  readonly from: number;
  readonly to: number;
}

/** A node with everything that it spent time on. */
export interface Lane {
  readonly node: string;
  readonly label: string;
  readonly kind: string;
  readonly spans: readonly Span[];
  /** Time at work, over all attempts and turns. */
  readonly ms: number;
  readonly retries: number;
}

/** A time in which nothing of the run moved: it was paused, or its process was gone. */
export interface Gap {
  readonly kind: 'paused' | 'crash';
  readonly from: number;
  readonly to: number;
}

export interface RunTimes {
  readonly from: number;
  readonly to: number;
  readonly lanes: readonly Lane[];
  readonly gaps: readonly Gap[];
}

export interface TimesOf {
  readonly nodes: readonly TreeNode[];
  readonly tasks: readonly WireTask[];
  readonly decisions: readonly WireDecision[];
  /** Oldest first; without early ones, earlier attempts of a task are one stretch. */
  readonly events: readonly WireEvent[];
  readonly begun: number;
  /** The end of the run, or now. */
  readonly end: number;
}

/** The time of a run, node by node, in the order of the plan. */
export function runTimes({ nodes, tasks, decisions, events, begun, end }: TimesOf): RunTimes {
  const spans = new Map<string, Span[]>();
  const put = (node: string, kind: SpanKind, from: number, to: number): void => {
    const own = spans.get(node) ?? [];
    own.push({ kind, from, to: Math.max(from, to) });
    spans.set(node, own);
  };
  const retries = new Map<string, number>();
  const attempts = attemptsIn(events);
  for (const task of tasks) {
    retries.set(task.node, (retries.get(task.node) ?? 0) + task.retryCount);
    placeTask(task, attempts.get(task.id) ?? [], end, (...span) => put(task.node, ...span));
  }
  for (const { decision } of decisions) {
    const to = decision.closedAt === undefined ? end : timeOf(decision.closedAt);
    if (decision.status !== 'withdrawn' || decision.closedAt !== undefined)
      put(decision.node, 'person', timeOf(decision.askedAt), to);
  }
  for (const event of events) {
    if (event.type === 'message.said' && typeof event.node === 'string')
      put(event.node, 'turn', timeOf(event.ts), timeOf(event.ts));
  }
  const known = new Map(nodes.map(node => [node.id, node]));
  const ids = [
    ...nodes.map(({ id }) => id).filter(id => spans.has(id)),
    ...[...spans.keys()].filter(id => !known.has(id)),
  ];
  const lanes = ids.map((id): Lane => {
    const own = (spans.get(id) ?? []).toSorted((a, b) => a.from - b.from);
    const ms = own.filter(isWork).reduce((sum, { from, to }) => sum + to - from, 0);
    const node = known.get(id);
    return {
      node: id,
      label: node?.label ?? id,
      kind: node?.kind ?? 'node',
      spans: own,
      ms,
      retries: retries.get(id) ?? 0,
    };
  });
  return { from: begun, to: Math.max(end, begun + 1), lanes, gaps: gapsIn(events) };
}

/** How long each node worked, for the tree: finished work, and since when it works now. */
export function workTimes(
  tasks: readonly WireTask[],
): ReadonlyMap<string, { readonly ms: number; readonly since?: number }> {
  const times = new Map<string, { ms: number; since?: number }>();
  for (const { node, status, startedAt, endedAt } of tasks) {
    if (startedAt === undefined) continue;
    const known = times.get(node) ?? { ms: 0 };
    if (endedAt !== undefined) known.ms += Math.max(0, timeOf(endedAt) - timeOf(startedAt));
    else if (status === 'running') known.since = timeOf(startedAt);
    times.set(node, known);
  }
  return times;
}

/** Tasks as they are after events that came since they were read. */
export function withMoves(tasks: readonly WireTask[], events: readonly WireEvent[]): readonly WireTask[] {
  const moved = new Map<string, WireTask>();
  const known = new Map(tasks.map(task => [task.id, task]));
  for (const { type, task: id, node, iteration, attempt, ts } of events) {
    if (typeof id !== 'string' || typeof node !== 'string') continue;
    const before = moved.get(id) ?? known.get(id);
    if (type === 'task.started' && (before?.startedAt === undefined || before.startedAt < ts)) {
      const { endedAt: _, ...rest } = before ?? newTask(id, node, Number(iteration ?? 0), ts);
      moved.set(id, {
        ...rest,
        status: 'running',
        startedAt: ts,
        retryCount: Math.max(rest.retryCount, Number(attempt ?? 1) - 1),
      });
    } else if (type === 'task.ended' && before !== undefined && before.endedAt === undefined) {
      moved.set(id, { ...before, status: before.status === 'running' ? 'done' : before.status, endedAt: ts });
    }
  }
  if (moved.size === 0) return tasks;
  return [...tasks.map(task => moved.get(task.id) ?? task), ...[...moved.values()].filter(({ id }) => !known.has(id))];
}

function newTask(id: string, node: string, iteration: number, at: string): WireTask {
  return {
    id,
    node,
    iteration,
    status: 'running',
    effects: 'none',
    retryCount: 0,
    maxRetries: 0,
    createdAt: at as WireTask['createdAt'],
  };
}

const isWork = ({ kind }: Span): boolean => kind === 'work' || kind === 'done' || kind === 'failed';

type Attempt = { readonly from: number; to?: number; isFailed: boolean; retryAt?: number };

/** The attempts of each task that events tell of. */
function attemptsIn(events: readonly WireEvent[]): ReadonlyMap<string, readonly Attempt[]> {
  const attempts = new Map<string, Attempt[]>();
  for (const event of events) {
    if (typeof event.task !== 'string') continue;
    const own = attempts.get(event.task) ?? [];
    const last = own.at(-1);
    if (event.type === 'task.started') own.push({ from: timeOf(event.ts), isFailed: false });
    else if (event.type === 'task.ended' && last !== undefined) {
      last.to = timeOf(event.ts);
      last.isFailed = event.outcome !== 'done';
    } else if (event.type === 'task.retry' && last !== undefined) {
      last.to = timeOf(event.ts);
      last.isFailed = true;
      if (typeof event.retryAt === 'string') last.retryAt = timeOf(event.retryAt);
    } else continue;
    attempts.set(event.task, own);
  }
  return attempts;
}

function placeTask(
  { createdAt, startedAt, endedAt, status, retryCount, nextRetryAt }: WireTask,
  attempts: readonly Attempt[],
  end: number,
  put: (kind: SpanKind, from: number, to: number) => void,
): void {
  const created = timeOf(createdAt);
  const started = startedAt === undefined ? undefined : timeOf(startedAt);
  const first = attempts[0]?.from ?? started;
  const over = status === 'error' || status === 'canceled' || status === 'orphaned' ? 'failed' : 'done';
  if (first === undefined) {
    put('queued', created, endedAt === undefined ? end : timeOf(endedAt));
    return;
  }
  // Earlier attempts that no loaded event tells of are shown as one.
  if (first > created) put(retryCount > Math.max(0, attempts.length - 1) ? 'retry' : 'queued', created, first);
  for (const { from, to, isFailed, retryAt } of attempts) {
    put(to === undefined ? 'work' : isFailed ? 'failed' : 'done', from, to ?? end);
    if (to !== undefined && retryAt !== undefined) put('retry', to, Math.min(retryAt, end));
  }
  if (attempts.length > 0) return;
  if (endedAt !== undefined) put(over, first, timeOf(endedAt));
  else if (status === 'running' || status === 'canceling') put('work', first, end);
  else if (nextRetryAt !== undefined) put('retry', first, Math.min(timeOf(nextRetryAt), end));
}

/** Times between the last event of one owner and the claim of the next; paused if the run said so. */
function gapsIn(events: readonly WireEvent[]): readonly Gap[] {
  const gaps: Gap[] = [];
  let status: unknown;
  let before: WireEvent | undefined;
  for (const event of events) {
    if (event.type === 'run.claimed' && before !== undefined) {
      const [from, to] = [timeOf(before.ts), timeOf(event.ts)];
      const isResting = status !== undefined && status !== 'running';
      if (to - from > SHORT_MS) gaps.push({ kind: isResting ? 'paused' : 'crash', from, to });
    }
    if (event.type === 'run.status') status = event.to;
    before = event;
  }
  return gaps;
}

/** Nobody sees a shorter gap. */
const SHORT_MS = 50;

const timeOf = (at: string): number => Date.parse(at);
