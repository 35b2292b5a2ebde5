import { AGENT_TURN } from '@signalbox/adapters/agents';
import { type ErrorEnvelope, err, ok, type Result, type RunId, type Timestamp } from '@signalbox/model';
import { type NodeRecord, nodeRecord } from '@signalbox/plan';
import {
  inheritedTaskId,
  isInRanges,
  type RunReader,
  type RunRecord,
  type StreamChunk,
  type Task,
  taskId,
} from '@signalbox/runs';
import { noEffect, unknownCall, unknownFrame, unknownNode } from '../host/run-failures.ts';
import type { ForkMoment } from './fork-request.ts';
import { keptMessages } from './kept-messages.ts';

/** Where a fork begins. */
export interface ForkPlace {
  readonly frame: number;
  readonly node?: string;
  /** Work that continues from the middle: its task in the fork, and its stream until then. */
  readonly resumed?: { readonly task: Task; readonly stream: readonly StreamChunk[] };
  /** The task of the parent that it continues, and when. */
  readonly from?: { readonly task: Task; readonly at: Timestamp };
}

/** The frame of a moment; for a tool call also its agent's stream. */
export async function placeOf(
  reader: RunReader,
  parent: RunRecord,
  moment: ForkMoment,
  fork: RunId,
): Promise<Result<ForkPlace, ErrorEnvelope>> {
  switch (moment.kind) {
    case 'frame':
      return (await reader.frame(parent.id, moment.frame)) === undefined
        ? err(unknownFrame(parent, moment.frame))
        : ok({ frame: moment.frame });
    case 'node': {
      const place = await beginningOf(reader, parent, moment.node);
      // Next to collected frames it is unknown where the work started.
      const isBesideGap = place.ok && isInRanges(parent.collected ?? [], place.value.frame - 1);
      return isBesideGap ? err(unknownFrame(parent, place.value.frame - 1)) : place;
    }
    case 'call':
      return beforeCall(reader, parent, moment, fork);
  }
}

/** The frame in which a node's last work started, before its result. */
async function beginningOf(
  reader: RunReader,
  { id, frames }: RunRecord,
  node: string,
): Promise<Result<ForkPlace, ErrorEnvelope>> {
  if ((await reader.valueAt(id, 'node', node, frames)) === undefined) return err(unknownNode(id, node));
  const recordAt = async (frame: number): Promise<NodeRecord | undefined> => {
    const value = await reader.valueAt(id, 'status', node, frame);
    return value === undefined ? undefined : nodeRecord.parse(value);
  };
  const last = await recordAt(frames);
  if (last?.signature === undefined) return err(noEffect(id, 'rerun', node));
  // Iterations and restarts of a node only grow.
  const isBefore = (record: NodeRecord | undefined) =>
    record?.signature === undefined ||
    record.iteration < last.iteration ||
    (record.iteration === last.iteration && (record.restart ?? 0) < (last.restart ?? 0));
  // Binary search: once that work has started, every later frame knows of it.
  let [low, high] = [0, frames - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(await recordAt(middle))) low = middle + 1;
    else high = middle;
  }
  return ok({ frame: low, node });
}

async function beforeCall(
  reader: RunReader,
  parent: RunRecord,
  { call, after = false }: Extract<ForkMoment, { readonly kind: 'call' }>,
  fork: RunId,
): Promise<Result<ForkPlace, ErrorEnvelope>> {
  const id = taskId.safeParse(call.split('/')[0]);
  const task = id.success ? await reader.task(parent.id, id.data) : undefined;
  if (task === undefined) return err(unknownCall(parent.id, call));
  const kept = await keptMessages(reader, parent.id, task.id);
  const isOf = ({ payload }: StreamChunk) => (payload as { readonly call?: unknown }).call === call;
  const end = after ? kept.findIndex(chunk => isOf(chunk) && kindOf(chunk) === 'tool_ended') + 1 : kept.findIndex(isOf);
  const edge = kept[after ? end - 1 : end];
  if (edge === undefined) return err(unknownCall(parent.id, call));
  const frame = await frameAt(reader, parent, edge.at, task);
  if (frame === undefined) return err(unknownCall(parent.id, call));
  const own = inheritedTaskId(fork, task.id);
  const turn = openTurn(kept.slice(0, end));
  const inherited = turn === undefined ? kept.slice(0, end) : [...kept.slice(0, end), forkedIn(turn, edge)];
  const { result: _, endedAt: __, handledFrame: ___, leaseOwner: ____, lastError: _____, ...rest } = task;
  return ok({
    frame,
    node: task.node,
    from: { task, at: edge.at },
    resumed: {
      task: { ...rest, id: own, status: 'pending', retryCount: 0 },
      stream: inherited.map((chunk, index) => ({
        ...chunk,
        task: own,
        index,
        payload: JSON.parse(JSON.stringify(chunk.payload).replaceAll(`"${task.id}/`, `"${own}/`)),
      })),
    },
  });
}

/** The turn of an agent that had begun and not ended, if the agent's own program makes its calls. */
function openTurn(kept: readonly StreamChunk[]): string | undefined {
  let open: string | undefined;
  for (const { payload } of kept) {
    const { kind, tool, call } = payload as {
      readonly kind?: unknown;
      readonly tool?: unknown;
      readonly call?: unknown;
    };
    if (tool !== AGENT_TURN) continue;
    if (kind === 'tool_begun') open = String(call);
    else if (kind === 'tool_ended') open = undefined;
  }
  return open;
}

/** Tells the agent that what it did before is in place, unlike that of a turn that was interrupted. */
function forkedIn(turn: string, edge: StreamChunk): StreamChunk {
  return { ...edge, payload: { v: 1, kind: 'forked', call: turn } };
}

function kindOf({ payload }: StreamChunk): unknown {
  return (payload as { readonly kind?: unknown }).kind;
}

/** The last frame up to an instant in which the task was running. */
async function frameAt(
  reader: RunReader,
  { id, frames }: RunRecord,
  at: Timestamp,
  task: Task,
): Promise<number | undefined> {
  let [low, high] = [0, frames - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const frame = await reader.frame(id, middle);
    if (frame === undefined || frame.at > at) high = middle - 1;
    else low = middle;
  }
  for (let frame = low; frame >= 0; frame -= 1) {
    const value = await reader.valueAt(id, 'status', task.node, frame);
    const record = value === undefined ? undefined : nodeRecord.parse(value);
    if (record?.signature !== task.signature || record.iteration !== task.iteration) return undefined;
    if (record.status === 'running') return frame;
  }
  return undefined;
}
