import type { Json, RunId } from '@signalbox/model';
import { type AgentNode, isAgentKind, type NodeKind } from '@signalbox/plan';
import { type Assignment, chunksOf, type RunReader, type RunRecord, type Task, type TaskId } from '@signalbox/runs';
import { assignmentOf } from '../agents/assignment.ts';
import { frameOf } from './turn-facts.ts';

/** The assignment of a task's agent, from the frame in which the task ended; undefined if that no longer has it. */
export async function turnAssignment(
  reader: Pick<RunReader, 'valueAt'>,
  record: RunRecord,
  task: Task,
): Promise<Assignment | undefined> {
  const { id: run } = record;
  const frame = frameOf(task);
  const [row, status] = await Promise.all([
    reader.valueAt(run, 'node', task.node, frame),
    reader.valueAt(run, 'status', task.node, frame),
  ]);
  // Another signature is other work: the node's current input is not the one of then.
  const { signature } = (status ?? {}) as { readonly signature?: string };
  if (row === undefined || signature !== task.signature) return undefined;
  // A frame wrote the row, and its commit was checked.
  const { kind, data } = row as unknown as { readonly kind: NodeKind; readonly data: AgentNode['data'] };
  if (!isAgentKind(kind)) return undefined;
  const { id, node, iteration, retryCount } = task;
  return assignmentOf(record, { run, task: id, node, iteration, attempt: retryCount + 1 }, { kind, data });
}

/** The stored beginning of the agent's last conversation. */
export async function lastBeginning(
  reader: Pick<RunReader, 'stream'>,
  run: RunId,
  task: TaskId,
): Promise<Json | undefined> {
  let last: Json | undefined;
  for await (const { kind, payload } of chunksOf(reader, run, task)) {
    if (kind === 'message' && isBeginning(payload)) last = payload;
  }
  return last;
}

function isBeginning(payload: Json): boolean {
  return typeof payload === 'object' && payload !== null && 'kind' in payload && payload.kind === 'begun';
}
