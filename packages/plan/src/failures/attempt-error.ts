import { thrownMessage, thrownText, truncateUtf8 } from '@signalbox/model';
import { classifyFailure, type Task, type TaskError } from '@signalbox/runs';
import type { RunnableNode } from '../nodes/plan-node.ts';
import { PlanError } from '../plan-error.ts';
import type { CleanData } from '../state/clean-data.ts';
import { Retryable, Terminal } from './verdicts.ts';

const MESSAGE_BYTES = 2000;

/** A failed attempt, as the author's `retry.on` sees it. */
export interface FailedAttempt {
  readonly code: string;
  readonly message: string;
  /** Of the thrown error; that of its class, as in `TypeError`. */
  readonly name: string | undefined;
  /** 1 for the first. */
  readonly attempt: number;
}

/**
 * What a thrown value means for the next attempt (R37): `Terminal` and `Retryable` say so themselves; a provider's status and the system's
 * code tell by their class; anything else that a `Task` throws is retried, unless it may have had effects outside (R17).
 */
export function thrownTaskError(
  error: unknown,
  task: Task,
  kind: string,
  timedOut: boolean,
  clean: CleanData,
): TaskError {
  const { status, code, name } = factsOf(error);
  const own = ownVerdict(error);
  const text = own === undefined ? thrownText(error) : thrownMessage(error);
  return {
    class: own?.class ?? classOf({ status, code }, { error, task, kind, timedOut }),
    code: timedOut ? 'timeout' : status === 429 ? 'rate_limit' : (code ?? (own === undefined ? 'threw' : String(name))),
    message: truncateUtf8(clean(text.toWellFormed()), MESSAGE_BYTES),
    ...(own?.class === 'terminal' && { final: true as const }),
    ...(own?.afterMs !== undefined && { retryAfterMs: own.afterMs }),
  };
}

interface Thrown {
  readonly error: unknown;
  readonly task: Task;
  readonly kind: string;
  readonly timedOut: boolean;
}

function classOf(facts: Pick<Facts, 'status' | 'code'>, { error, task, kind, timedOut }: Thrown): TaskError['class'] {
  const { status, code } = facts;
  const known = classifyFailure(
    {
      ...(status !== undefined && { status }),
      ...(code !== undefined && { systemCode: code }),
      ...(timedOut && { timedOut }),
    },
    task.effects,
  );
  const isPlain = known === 'terminal' && status === undefined && !isPlanFault(error);
  return isPlain && kind === 'task' && task.effects !== 'external' ? 'retryable' : known;
}

/** Restricts retries to what the author's `retry.on` names; whatever it throws ends them. */
export function limitedByAuthor(error: TaskError, thrown: unknown, node: RunnableNode, attempt: number): TaskError {
  const on = 'retryOn' in node.code ? node.code.retryOn : undefined;
  if (on === undefined || error.class === 'terminal') return error;
  const { name } = factsOf(thrown);
  const failed: FailedAttempt = { code: error.code, message: error.message, name, attempt };
  try {
    const isRetried =
      typeof on === 'function' ? on(failed) === true : on.includes(failed.code) || on.includes(name ?? '');
    return isRetried ? error : { ...error, class: 'terminal' };
  } catch (fault) {
    const message = `${error.message} (retry.on threw ${thrownText(fault)})`;
    return { ...error, class: 'terminal', message: truncateUtf8(message.toWellFormed(), MESSAGE_BYTES) };
  }
}

interface Facts {
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly name: string | undefined;
}

/** Even inspecting a thrown value may throw. */
function factsOf(error: unknown): Facts {
  try {
    const { status, code, name } = (error ?? {}) as { readonly [Field in keyof Facts]?: unknown };
    return {
      status: typeof status === 'number' ? status : undefined,
      code: typeof code === 'string' && code !== '' ? code : undefined,
      name: typeof name === 'string' ? name : undefined,
    };
  } catch {
    return { status: undefined, code: undefined, name: undefined };
  }
}

/** Whether it is `Terminal`, or the plan's own code threw that under it. */
export function isFinal(error: unknown): boolean {
  const seen = new Set<unknown>();
  for (let at = error; at !== undefined && !seen.has(at); at = causeOf(at)) {
    if (ownVerdict(at)?.class === 'terminal') return true;
    seen.add(at);
  }
  return false;
}

function causeOf(error: unknown): unknown {
  try {
    return (error as { readonly cause?: unknown } | null)?.cause;
  } catch {
    return undefined;
  }
}

function ownVerdict(
  error: unknown,
): { readonly class: TaskError['class']; readonly afterMs?: number | undefined } | undefined {
  try {
    if (error instanceof Terminal) return { class: 'terminal' };
    return error instanceof Retryable ? { class: 'retryable', afterMs: error.afterMs } : undefined;
  } catch {
    return undefined;
  }
}

/** The engine refused what the code asked for: it would again. */
function isPlanFault(error: unknown): boolean {
  try {
    return error instanceof PlanError;
  } catch {
    return false;
  }
}
