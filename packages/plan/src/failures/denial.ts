import type { Json } from '@signalbox/model';
import type { TaskOutcome } from '../frames/task-executor.ts';
import type { RunnableNode } from '../nodes/plan-node.ts';

/** The code of the error, and the beginning of the reason, of a question that a person denied. */
export const DENIED = 'denied';

/**
 * The outcome of a person's answer. A denied confirmation is a failure, so that nothing goes on as if it had been approved, unless the plan
 * takes the answer itself, in `onFinished`. The recorded outcome says so: a replay of a run from before this rule finds what it did then.
 */
export function asDenied(node: RunnableNode, outcome: TaskOutcome): TaskOutcome {
  if (node.kind !== 'human' || outcome.kind !== 'done') return outcome;
  const { options, schema } = node.data;
  const { approved, rationale = '' } = (outcome.output ?? {}) as { readonly [field: string]: Json | undefined };
  if (options !== undefined || schema !== undefined || approved !== false) return outcome;
  const { handlers } = node.code;
  if (handlers.onFinished !== undefined && handlers.onDenied === undefined) {
    return { kind: 'done', output: { ...(outcome.output as Readonly<Record<string, Json>>), denied: true } };
  }
  const why = rationale === '' ? '' : `: ${String(rationale)}`;
  return { kind: 'failed', error: { class: 'terminal', code: DENIED, message: `A person denied it${why}` } };
}

/** Whether the output of a person's answer was recorded as a denial. */
export function isDenial(output: unknown): boolean {
  return typeof output === 'object' && output !== null && (output as { readonly denied?: unknown }).denied === true;
}
