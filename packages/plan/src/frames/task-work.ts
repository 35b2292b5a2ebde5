import { thrownText, truncateUtf8 } from '@signalbox/model';
import { classifyFailure, type Task, type TaskError } from '@signalbox/runs';
import type * as z from 'zod';
import type { TaskContext } from '../nodes/handlers.ts';
import type { RunnableNode } from '../nodes/plan-node.ts';
import { asGiven, type CleanData } from '../state/clean-data.ts';
import { frozen } from '../state/frozen.ts';
import type { TaskTools } from '../workspaces/task-tools.ts';
import type { Timers } from './frame-scheduler.ts';
import type { TaskOutcome, TaskRequest } from './task-executor.ts';

const MESSAGE_BYTES = 2000;

/** An attempt that came to its end: what it left, and what handlers get of its output. */
export interface Attempt {
  readonly outcome: TaskOutcome;
  readonly value: unknown;
}

/** One attempt at the work of a node. Never rejects: whatever goes wrong is an outcome. */
export async function doWork(
  request: Omit<TaskRequest, 'signal'>,
  task: Task,
  control: AbortController,
  execute: (request: TaskRequest) => Promise<TaskOutcome>,
  timers: Timers,
  timeoutMs = request.node.data.timeoutMs,
  clean: CleanData = asGiven,
): Promise<Attempt> {
  const { node } = request;
  const { signal } = control;
  let timedOut = false;
  let cancelTimer: (() => void) | undefined;
  try {
    const started = { ...request, signal };
    const work = execute(started);
    if (timeoutMs === undefined) return await checked(node, clean(await work));
    // Work that does not listen to its signal does not hold the run up when its time is over.
    const overtime = new Promise<never>((_, reject) => {
      cancelTimer = timers.after(timeoutMs, () => {
        timedOut = true;
        const reason = new Error(`no end after ${timeoutMs} ms`);
        reject(reason);
        control.abort(reason);
      });
    });
    return await checked(node, clean(await Promise.race([work, overtime])));
  } catch (error) {
    const why = taskErrorOf(error, task, timedOut, clean);
    // A child run that had no time left is stopped, not begun again.
    return failed(node.kind === 'subplan' && timedOut ? { ...why, class: 'terminal' } : why);
  } finally {
    cancelTimer?.();
  }
}

/** The output as the author's own schema makes it: only the plan's thread has that code. */
function checked(node: RunnableNode, outcome: TaskOutcome): Attempt | Promise<Attempt> {
  if (outcome.kind !== 'done') return { outcome, value: undefined };
  const schema = 'schema' in node.code ? node.code.schema : undefined;
  if (schema === undefined) return { outcome, value: outcome.output };
  return schema.safeParseAsync(outcome.output).then(parsed => parsedAttempt(outcome, parsed));
}

function parsedAttempt(outcome: TaskOutcome, parsed: z.ZodSafeParseResult<unknown>): Attempt {
  if (parsed.success) return { outcome, value: parsed.data };
  const [issue] = parsed.error.issues;
  const place = issue === undefined || issue.path.length === 0 ? 'The output' : issue.path.map(String).join('.');
  return failed({
    class: 'terminal',
    code: 'output-invalid',
    message: truncateUtf8(`${place}: ${issue?.message ?? 'does not fit the schema'}`, MESSAGE_BYTES),
  });
}

function failed(error: TaskError): Attempt {
  return { outcome: { kind: 'failed', error }, value: undefined };
}

/** Calls the author's function. */
export async function runTask(
  node: Extract<RunnableNode, { readonly kind: 'task' }>,
  request: TaskRequest,
  tools: TaskTools,
): Promise<TaskOutcome> {
  const { signal, iteration, attempt, progress } = request;
  const { artifact, fs, workspace } = tools;
  const input = node.data.input ?? null;
  const context: TaskContext = { input, signal, iteration, attempt, progress, artifact, fs, workspace };
  const output = await node.code.run(context);
  await tools.settled();
  if (output === undefined) return { kind: 'done', output: null };
  const plain = frozen(output);
  if (plain.ok) return { kind: 'done', output: plain.value };
  const message = `The task returned what is not plain data: ${plain.error}.`;
  return { kind: 'failed', error: { class: 'terminal', code: 'output-not-plain', message } };
}

export function taskErrorOf(error: unknown, task: Task, timedOut: boolean, clean: CleanData = asGiven): TaskError {
  const known = factsOf(error);
  const kind = classifyFailure(
    {
      ...(typeof known.status === 'number' ? { status: known.status } : {}),
      ...(typeof known.code === 'string' ? { systemCode: known.code } : {}),
      ...(timedOut ? { timedOut } : {}),
    },
    task.effects,
  );
  const text = thrownText(error);
  const code = timedOut
    ? 'timeout'
    : known.status === 429
      ? 'rate_limit'
      : typeof known.code === 'string'
        ? known.code
        : 'threw';
  return { class: kind, code, message: truncateUtf8(clean(text.toWellFormed()), MESSAGE_BYTES) };
}

function factsOf(error: unknown): { readonly status?: unknown; readonly code?: unknown } {
  try {
    const { status, code } = (error ?? {}) as { readonly status?: unknown; readonly code?: unknown };
    return { status, code };
  } catch {
    return {};
  }
}
