import { type ApprovalId, deriveId, type Json, type NodeId, type RunId, text } from '@signalbox/model';
import * as z from 'zod';

/** The stable id of a node within its run: the author's `id`, or else 16 hex digits of its key path. */
export const nodeKey = text.min(1).max(512).brand<'NodeKey'>();
export type NodeKey = z.infer<typeof nodeKey>;

export const taskId = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'must be a lower-case UUID')
  .brand<'TaskId'>();
export type TaskId = z.infer<typeof taskId>;

/** The owner of a run's work: one life of one process, or of one of its threads. */
export const ownerId = text.min(1).max(128).brand<'OwnerId'>();
export type OwnerId = z.infer<typeof ownerId>;

/** The public id of a plan node: always the same UUID. */
export function contractNodeId(run: RunId, node: NodeKey): NodeId {
  return deriveId<NodeId>('plan-node', run, node);
}

/** The task of a node in one iteration with one execution signature. Its retries are attempts of the same task. */
export function taskIdOf(run: RunId, node: NodeKey, iteration: number, signature: string, restart = 0): TaskId {
  return derivedUuid('task', run, node, iteration, signature, restart) as TaskId;
}

/** The id of a task that a fork inherits. */
export function inheritedTaskId(fork: RunId, task: TaskId): TaskId {
  return derivedUuid('inherited-task', fork, task) as TaskId;
}

/** The run of a sub-plan node: after a crash the same child is found again. `child` distinguishes runs of one node. */
export function subPlanRunId(run: RunId, node: string, iteration: number, child: number): RunId {
  return deriveId<RunId>('sub-plan', run, node, iteration, child);
}

/** A decision is keyed by where it was asked, so asking again after a crash finds the same one. */
export function decisionIdOf(run: RunId, node: NodeKey, iteration: number, call: string): ApprovalId {
  return deriveId<ApprovalId>('decision', run, node, iteration, call);
}

function derivedUuid(kind: string, ...parts: readonly Json[]): string {
  return deriveId<NodeId>(kind, ...parts);
}
