import type { Task, TaskError } from '@signalbox/runs';
import { type PlanError, planFailure } from '../plan-error.ts';
import type { Activity, Structure } from '../structure/structure.ts';
import type { RunEnd } from './engine-options.ts';
import type { Operator } from './operator.ts';
import type { RunMemory } from './run-memory.ts';
import type { TaskDesk } from './task-desk.ts';
import type { TaskOutcome } from './task-executor.ts';

/** How the run stands if nothing goes on and nothing is about to; `ready` is how much could still start. */
export function outcomeOf(
  activity: Activity,
  ready: number,
  memory: RunMemory,
  structure: Structure,
  desk: TaskDesk,
  { stopping, isPausing }: Operator,
): Exclude<RunEnd, { readonly status: 'lost' }> | undefined {
  // The time of a next attempt is kept with its task: nobody who pauses a run waits for it.
  if ((isPausing ? desk.working : desk.busy) > 0) return undefined;
  if (stopping !== undefined) return { status: 'stopped', reason: stopping.reason };
  if (activity.done || activity.ending?.kind === 'end') {
    return { status: 'completed', output: Object.fromEntries(memory.state.entries()) };
  }
  if (isPausing) return { status: 'paused' };
  if (ready > 0) return undefined;
  if (activity.blocked > 0) return { status: 'waiting' };
  return activity.failed > 0 ? { status: 'failed', error: nodeFailure(memory, structure) } : undefined;
}

export function failedWith(error: PlanError): Extract<RunEnd, { readonly status: 'failed' }> {
  const { code, message } = planFailure(error);
  return { status: 'failed', error: { class: 'terminal', code, message } };
}

/** What becomes of work that is let go because its run has had its time: it begins again, unless that could do harm. */
export function heldOutcome({ effects }: Task): TaskOutcome {
  if (effects !== 'external') return { kind: 'blocked', reason: 'approval_required:confirmation' };
  const message = 'The time of the run was over while it worked, and nobody knows how far it came.';
  return { kind: 'failed', error: { class: 'unknown', code: 'time-over', message } };
}

function nodeFailure({ records }: RunMemory, structure: Structure): TaskError {
  const failed = ['failed', 'abandoned', 'canceled'];
  const isFailed = ([id]: readonly [string, unknown]) =>
    structure.signatureOf(id) !== undefined && failed.includes(structure.statusOf(id));
  const [id, record] = [...records].find(isFailed) ?? [];
  // What was thrown says itself what it is.
  const reason = record?.reason?.replace(/^threw: (Error: )?/, '') ?? `it was ${record?.status ?? 'lost'}`;
  return { class: 'terminal', code: 'plan/task-failed', message: `Node ${id ?? '?'} failed: ${reason}` };
}
