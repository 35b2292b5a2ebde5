import { type RunId, unreachable } from '@signalbox/model';
import { type AnyEvent, isReplayedEvent, type RetryPolicy, type RunReader, type TaskId } from '@signalbox/runs';
import { editTriggers } from '../forks/edit-value.ts';
import { recordedEnd } from '../frames/attempts.ts';
import type { Command, StateEdit } from '../frames/command.ts';
import type { RunMemory } from '../frames/run-memory.ts';
import type { TaskOutcome } from '../frames/task-executor.ts';
import type { TaskProgress } from '../nodes/handlers.ts';
import { isOfEnd } from '../nodes/handlers.ts';
import { isRecalled } from '../structure/node-record.ts';
import { type RecordedWork, recordedOutcome } from './recorded-work.ts';

/** The inputs of a run between two frames in one process, in the order in which the engine takes them in. */
export interface RecordedInputs {
  readonly commands: readonly Command[];
  readonly news: readonly (
    | { readonly kind: 'progress'; readonly task: TaskId; readonly progress: TaskProgress }
    | { readonly kind: 'ended'; readonly task: TaskId; readonly outcome: TaskOutcome }
  )[];
  /** Names of the signals whose handlers were called. */
  readonly signals: readonly string[];
  /** The number of nodes whose work started. */
  readonly started: number;
}

export interface LifeParts {
  readonly run: RunId;
  readonly reader: RunReader;
  readonly work: RecordedWork;
  readonly memory: Pick<RunMemory, 'records' | 'tasks' | 'formerNodes'>;
  /** The frame that the events led to. */
  readonly frame: number;
}

/** Derives the inputs from the events that they caused. */
export async function inputsOf(parts: LifeParts, events: readonly AnyEvent[]): Promise<RecordedInputs> {
  const { run, reader, work, frame } = parts;
  const { records, tasks, formerNodes } = parts.memory;
  const commands: Command[] = [];
  const news: RecordedInputs['news'][number][] = [];
  const signals: string[] = [];
  const ended = new Set<TaskId>();
  const retried = new Set<string>();
  /** Nodes whose work was interrupted. */
  const left = new Set<string>();
  let started = 0;
  const end = (task: TaskId, outcome: TaskOutcome) => {
    ended.add(task);
    if (work.isUnderWay(task)) news.push({ kind: 'ended', task, outcome });
  };
  for (const event of events) {
    if (!isReplayedEvent(event)) continue;
    switch (event.type) {
      case 'operator.acted': {
        const policy = events.find(other => other.type === 'node.policy' && other.node === event.node);
        const command = commandOf(event, policy?.type === 'node.policy' ? policy.policy : undefined);
        if (command !== undefined) commands.push(command);
        if (event.action === 'retry' && event.node !== undefined) retried.add(event.node);
        break;
      }
      case 'state.edited':
        commands.push({ kind: 'edit', ...(await editOf(parts, event, events)) });
        break;
      case 'task.progressed':
        // It was a progress when the event was written.
        news.push({ kind: 'progress', task: event.task, progress: event.detail as unknown as TaskProgress });
        break;
      case 'task.ended':
        if (ended.has(event.task)) break;
        if (
          event.outcome === 'canceled' &&
          tasks.get(event.task)?.status === 'running' &&
          work.isUnderWay(event.task)
        ) {
          const reason = await waitBeforeLeaving(parts, event.node, events);
          if (reason !== undefined) {
            end(event.task, { kind: 'blocked', reason });
            break;
          }
          // Only the end of the whole run cancels work that its node still wants.
          commands.push({ kind: 'stop', reason: 'as recorded', by: 'replay' });
        }
        end(event.task, recordedOutcome(event, await reader.task(run, event.task)));
        break;
      case 'task.orphaned':
        left.add(event.node);
        break;
      case 'task.retry':
        if (!ended.has(event.task)) end(event.task, recordedOutcome(event, await reader.task(run, event.task)));
        break;
      case 'handler.ran':
      case 'handler.failed':
        if (event.task === undefined && event.handler.startsWith(SIGNAL))
          signals.push(event.handler.slice(SIGNAL.length));
        // It was called again, with the result of the work in an earlier process.
        if (event.task !== undefined && isOfEnd(event.handler) && !ended.has(event.task)) {
          const row = await reader.task(run, event.task);
          if (row !== undefined) end(event.task, recordedEnd(row));
        }
        break;
      default:
        return unreachable(event);
    }
  }
  for (const event of events) {
    if (
      event.type === 'node.status' &&
      event.to === 'blocked' &&
      event.blockReason !== undefined &&
      !left.has(event.node)
    ) {
      const task = work.taskOf(event.node);
      if (task !== undefined && !ended.has(task)) end(task, { kind: 'blocked', reason: event.blockReason });
    }
    if (event.type !== 'task.started' && event.type !== 'node.status') continue;
    const { node } = event;
    const status = records.get(node)?.status;
    if (event.type === 'node.status' && event.to === 'scheduled' && records.get(node)?.unhandled === true) {
      commands.push({ kind: 'recall', node });
      continue;
    }
    const isRested = status === 'blocked' || status === 'scheduled';
    const isWaiting = isRested && !retried.has(node) && !isRecalled(records.get(node));
    // Its wait was over, even if a pause kept it from starting.
    const isDue = event.type === 'task.started' || event.to === 'idle';
    if (isWaiting && isDue) commands.push({ kind: 'due', node });
    // It was woken before it was canceled: its wait was forgotten.
    if (
      isWaiting &&
      event.type === 'node.status' &&
      event.to === 'canceled' &&
      records.get(node)?.reason !== undefined &&
      (await hasForgottenWhy(parts, node))
    )
      commands.unshift({ kind: 'due', node });
    const isOver = status === 'failed' && !retried.has(node);
    // It was to start again, but had no chance to.
    if (isOver && event.type === 'node.status' && event.to === 'idle' && (await hasForgottenWhy(parts, node)))
      commands.push({ kind: 'repair', node });
    if (event.type !== 'task.started') continue;
    // The plan was corrected: a child run continued, or failed work started again.
    if (isOver) commands.push({ kind: formerNodes.get(node) === 'subplan' ? 'revive' : 'repair', node });
    started += 1;
    const { task } = event;
    // It was woken while it was being called, and called once more.
    if (status !== 'running' || !work.isUnderWay(task) || ended.has(task)) continue;
    const row = (await reader.valueAt(run, 'status', node, frame)) as { readonly told?: string } | undefined;
    commands.push({ kind: 'wake', node });
    end(task, { kind: 'blocked', reason: row?.told ?? 'blocked' });
  }
  return { commands, news, signals, started };
}

const SIGNAL = 'signal.';

/** Whether the status of a node no longer says why it waited or failed: it was made ready again. */
async function hasForgottenWhy({ run, reader, frame }: LifeParts, node: string): Promise<boolean> {
  const row = (await reader.valueAt(run, 'status', node, frame)) as { readonly reason?: string } | undefined;
  return row !== undefined && row.reason === undefined;
}

/** What a node began to wait for in the frame that it left the plan in; undefined if it didn't leave. */
async function waitBeforeLeaving(
  { run, reader, frame }: LifeParts,
  node: string,
  events: readonly AnyEvent[],
): Promise<string | undefined> {
  if (events.at(-1)?.type !== 'frame.committed') return undefined;
  const row = (await reader.valueAt(run, 'status', node, frame)) as
    | { readonly gone?: true; readonly told?: string }
    | undefined;
  return row === undefined || row.gone === true ? (row?.told ?? 'blocked') : undefined;
}

/** The edit of an event; its value is in the transition of the event before. */
export async function editOf(
  { run, reader }: Pick<LifeParts, 'run' | 'reader'>,
  { key, by, reason, seq }: Extract<AnyEvent, { readonly type: 'state.edited' }>,
  events: readonly AnyEvent[],
): Promise<StateEdit> {
  const changed = events.find(event => event.seq === seq - 1);
  if (changed?.type !== 'state.changed') return { key, by, reason };
  const { frame, index } = changed;
  const [transition] = (await reader.transitions(run, { from: { frame, index }, limit: 1 })).items;
  return { key, value: transition?.new, by, reason };
}

function commandOf(
  event: Extract<AnyEvent, { readonly type: 'operator.acted' }>,
  policy: RetryPolicy | undefined,
): Command | undefined {
  const { action, by, node } = event;
  switch (action) {
    case 'pause':
      return { kind: 'pause', by };
    case 'stop':
    case 'terminate':
      return { kind: action, reason: 'as recorded', by };
    case 'retry':
      return node === undefined ? undefined : { kind: 'retry', node, by, policy };
    case 'cancel':
    case 'reset':
      return node === undefined ? undefined : { kind: action, node, by };
    // Their changes are recorded where the run is resumed, and in its limits.
    case 'resume':
    case 'raise':
    case 'trust':
      return undefined;
  }
}

/** How a process released a run without another frame. */
export type LifeEnd =
  /** It died, or never existed: nothing that it did counts. */
  | 'gone'
  /** It committed its changes, and rested. */
  | 'rested'
  /** It was told to end at once, or its wait for work was over. */
  | 'terminated'
  /** Nobody drove the run when it was stopped. */
  | 'stopped'
  /** Nobody drove the run when it was ended otherwise, or paused: running work was released. */
  | 'left'
  /** Its next render threw. */
  | 'failed';

export function lifeEndOf(events: readonly AnyEvent[], nextFrame: number): LifeEnd {
  const leftAt = events.findIndex(isLeft);
  if (leftAt >= 0) return events.slice(0, leftAt).some(isOwn) ? 'rested' : 'left';
  const isStop = events.some(event => event.type === 'run.status' && event.to === 'stopped');
  const statuses = events.filter(event => event.type === 'node.status');
  const ends = events.some(event => event.type === 'task.ended' || event.type === 'task.retry');
  const isTerminate = events.some(event => event.type === 'operator.acted' && event.action === 'terminate');
  if (isStop && (isTerminate || ends)) {
    const isUndriven = statuses.some(event => event.frame === nextFrame) || (!isTerminate && statuses.length === 0);
    return isUndriven ? 'stopped' : 'terminated';
  }
  if (ends || events.some(event => event.type === 'run.status' && event.to === 'failed')) return 'failed';
  return events.some(isOwn) ? 'rested' : 'gone';
}

/** The status given to an undriven run: released work is recorded after it, or who ended it before. */
function isLeft(event: AnyEvent, index: number, events: readonly AnyEvent[]): boolean {
  if (event.type !== 'run.status' || (event.to !== 'failed' && event.to !== 'paused')) return false;
  const before = events[index - 1];
  if (event.to === 'failed' && before?.type === 'operator.acted' && before.action === 'terminate') return true;
  return events.slice(index + 1).some(({ type }) => type === 'task.orphaned' || type === 'node.status');
}

/** Events that only a driving process writes. */
function isOwn(event: AnyEvent): boolean {
  if (event.type === 'state.changed') return !editTriggers.includes(event.trigger ?? '');
  return event.type === 'run.created' || /^(task|handler|effect|node)\./.test(event.type);
}
