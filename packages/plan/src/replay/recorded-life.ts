import type { RunId } from '@signalbox/model';
import type { AnyEvent, RunReader, TaskId } from '@signalbox/runs';
import type { Command } from '../frames/command.ts';
import type { RunMemory } from '../frames/run-memory.ts';
import type { TaskOutcome } from '../frames/task-executor.ts';
import type { TaskProgress } from '../nodes/handlers.ts';
import { type RecordedWork, recordedOutcome } from './recorded-work.ts';

/** What happened to a run between two frames in one process, in the order in which the engine takes it in. */
export interface RecordedInputs {
  readonly commands: readonly Command[];
  readonly news: readonly (
    | { readonly kind: 'progress'; readonly task: TaskId; readonly progress: TaskProgress }
    | { readonly kind: 'ended'; readonly task: TaskId; readonly outcome: TaskOutcome }
  )[];
  /** Names of the signals whose handlers were called. */
  readonly signals: readonly string[];
  /** Nodes whose work began. */
  readonly started: number;
}

export interface LifeParts {
  readonly run: RunId;
  readonly reader: RunReader;
  readonly work: RecordedWork;
  readonly memory: Pick<RunMemory, 'records' | 'tasks'>;
  /** The frame that the events led to. */
  readonly frame: number;
}

/** Reads off the events what made them. */
export async function inputsOf(parts: LifeParts, events: readonly AnyEvent[]): Promise<RecordedInputs> {
  const { run, reader, work, frame } = parts;
  const { records, tasks } = parts.memory;
  const commands: Command[] = [];
  const news: RecordedInputs['news'][number][] = [];
  const signals: string[] = [];
  const ended = new Set<TaskId>();
  const retried = new Set<string>();
  let started = 0;
  const end = (task: TaskId, outcome: TaskOutcome) => {
    ended.add(task);
    if (work.isUnderWay(task)) news.push({ kind: 'ended', task, outcome });
  };
  for (const event of events) {
    switch (event.type) {
      case 'operator.acted': {
        const command = commandOf(event);
        if (command !== undefined) commands.push(command);
        if (event.action === 'retry' && event.node !== undefined) retried.add(event.node);
        break;
      }
      case 'task.progressed':
        news.push({ kind: 'progress', task: event.task, progress: event.detail as unknown as TaskProgress });
        break;
      case 'task.ended':
        // Only the end of the whole run cancels work that its node still wants.
        if (
          event.outcome === 'canceled' &&
          tasks.get(event.task)?.status === 'running' &&
          work.isUnderWay(event.task)
        ) {
          commands.push({ kind: 'stop', reason: 'as recorded', by: 'replay' });
        }
        if (!ended.has(event.task)) end(event.task, recordedOutcome(event, await reader.task(run, event.task)));
        break;
      case 'task.retry':
        if (!ended.has(event.task)) end(event.task, recordedOutcome(event, await reader.task(run, event.task)));
        break;
      case 'handler.ran':
      case 'handler.failed':
        if (event.task === undefined && event.handler.startsWith(SIGNAL))
          signals.push(event.handler.slice(SIGNAL.length));
        break;
      default:
    }
  }
  for (const event of events) {
    if (event.type === 'node.status' && event.to === 'blocked' && event.blockReason !== undefined) {
      const task = work.taskOf(event.node);
      if (task !== undefined && !ended.has(task)) end(task, { kind: 'blocked', reason: event.blockReason });
    }
    if (event.type !== 'task.started' && event.type !== 'node.status') continue;
    const { node } = event;
    const status = records.get(node)?.status;
    const isWaiting = (status === 'blocked' || status === 'scheduled') && !retried.has(node);
    // Its wait was over, also where a pause kept it from being started.
    const isDue = event.type === 'task.started' || event.to === 'idle';
    if (isWaiting && isDue) commands.push({ kind: 'due', node });
    if (event.type !== 'task.started') continue;
    started += 1;
    const { task } = event;
    // It was woken while it was being asked, and asked once more.
    if (status !== 'running' || !work.isUnderWay(task) || ended.has(task)) continue;
    const row = (await reader.valueAt(run, 'status', node, frame)) as { readonly told?: string } | undefined;
    commands.push({ kind: 'wake', node });
    end(task, { kind: 'blocked', reason: row?.told ?? 'blocked' });
  }
  return { commands, news, signals, started };
}

const SIGNAL = 'signal.';

function commandOf(event: Extract<AnyEvent, { readonly type: 'operator.acted' }>): Command | undefined {
  const { action, by, node } = event;
  switch (action) {
    case 'pause':
      return { kind: 'pause', by };
    case 'stop':
    case 'terminate':
      return { kind: action, reason: 'as recorded', by };
    case 'retry':
    case 'cancel':
    case 'reset':
      return node === undefined ? undefined : { kind: action, node, by };
    default:
      return undefined;
  }
}

/** How a process let go of a run without another frame. */
export type LifeEnd =
  /** It died, or was never there: nothing that it did counts. */
  | 'gone'
  /** It committed what it had, and rested. */
  | 'rested'
  /** It was told to end at once, or its wait for work was over. */
  | 'terminated'
  /** Nobody drove the run when it was stopped. */
  | 'stopped'
  /** Its next render threw. */
  | 'failed';

export function lifeEndOf(events: readonly AnyEvent[], nextFrame: number): LifeEnd {
  const isStop = events.some(event => event.type === 'run.status' && event.to === 'stopped');
  const statuses = events.filter(event => event.type === 'node.status');
  const ends = events.some(event => event.type === 'task.ended' || event.type === 'task.retry');
  const isTerminate = events.some(event => event.type === 'operator.acted' && event.action === 'terminate');
  if (isStop && (isTerminate || ends)) {
    const isUndriven = statuses.some(event => event.frame === nextFrame) || (!isTerminate && statuses.length === 0);
    return isUndriven ? 'stopped' : 'terminated';
  }
  if (ends) return 'failed';
  return events.some(event => event.type === 'run.created' || OWN.test(event.type)) ? 'rested' : 'gone';
}

/** What only the driver of a run writes. */
const OWN = /^(task|handler|effect|state|node)\./;
