import { truncateUtf8 } from '@signalbox/model';
import { classifyFailure, type Task, type TaskError } from '@signalbox/runs';
import type { TaskContext } from '../nodes/handlers.ts';
import type { RunnableNode } from '../nodes/plan-node.ts';
import { frozen } from '../state/frozen.ts';
import type { Timers } from './frame-scheduler.ts';
import type { TaskExecutor, TaskOutcome, TaskRequest } from './task-executor.ts';

const MESSAGE_BYTES = 2000;

/** One attempt at the work of a node. Never rejects: whatever goes wrong is an outcome. */
export async function doWork(
  request: Omit<TaskRequest, 'signal'>,
  task: Task,
  control: AbortController,
  executor: TaskExecutor,
  timers: Timers,
): Promise<TaskOutcome> {
  const { timeoutMs } = request.node.data;
  const { signal } = control;
  let timedOut = false;
  let cancelTimer: (() => void) | undefined;
  // Work that does not listen to its signal does not hold the run up when its time is over.
  const overtime = new Promise<never>((_, reject) => {
    if (timeoutMs === undefined) return;
    cancelTimer = timers.after(timeoutMs, () => {
      timedOut = true;
      const reason = new Error(`no end after ${timeoutMs} ms`);
      reject(reason);
      control.abort(reason);
    });
  });
  try {
    const { node } = request;
    const work =
      node.kind === 'task' ? runTask(node, { ...request, signal }) : executor.execute({ ...request, signal });
    return await Promise.race([work, overtime]);
  } catch (error) {
    return { kind: 'failed', error: taskErrorOf(error, task, timedOut) };
  } finally {
    cancelTimer?.();
  }
}

async function runTask(
  node: Extract<RunnableNode, { readonly kind: 'task' }>,
  request: TaskRequest,
): Promise<TaskOutcome> {
  const { signal, iteration, attempt, progress } = request;
  const context: TaskContext = { input: node.data.input ?? null, signal, iteration, attempt, progress };
  const output = await node.code.run(context);
  if (output === undefined) return { kind: 'done', output: null };
  const plain = frozen(output);
  if (plain.ok) return { kind: 'done', output: plain.value };
  const message = `The task returned what is not plain data: ${plain.error}.`;
  return { kind: 'failed', error: { class: 'terminal', code: 'output-not-plain', message } };
}

export function taskErrorOf(error: unknown, task: Task, timedOut: boolean): TaskError {
  const facts = error as { readonly status?: unknown; readonly code?: unknown } | null | undefined;
  const known = typeof facts === 'object' && facts !== null ? facts : {};
  const kind = classifyFailure(
    {
      ...(typeof known.status === 'number' ? { status: known.status } : {}),
      ...(typeof known.code === 'string' ? { systemCode: known.code } : {}),
      ...(timedOut ? { timedOut } : {}),
    },
    task.effects,
  );
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const code = timedOut
    ? 'timeout'
    : known.status === 429
      ? 'rate_limit'
      : typeof known.code === 'string'
        ? known.code
        : 'threw';
  return { class: kind, code, message: truncateUtf8(text.toWellFormed(), MESSAGE_BYTES) };
}
