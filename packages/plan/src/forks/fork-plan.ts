import {
  type Digest,
  defined,
  type ErrorEnvelope,
  err,
  failure,
  type Json,
  ok,
  type Result,
  type RunId,
  timestampOf,
} from '@signalbox/model';
import {
  eventDraftOf,
  type IntervalWrite,
  type NewRun,
  type NodeKey,
  planSources,
  type RunReader,
  type RunRecord,
  type StreamChunk,
  type Task,
} from '@signalbox/runs';
import type { PlanRunOptions } from '../frames/engine-options.ts';
import { restedRecord } from '../frames/rest.ts';
import type { NodeEdit } from '../nodes/node-edit.ts';
import { editedRecord, nodeRecord } from '../structure/node-record.ts';
import { begunAnew } from './begin-anew.ts';

export interface PlanFork {
  /** The id of the new run. */
  readonly run: RunId;
  readonly parent: RunId;
  readonly frame: number;
  /** Who asked for it, and the tool call or node it was requested for. */
  readonly by: string;
  readonly call?: string | undefined;
  readonly node?: string | undefined;
  /** Replaces the parent's name. */
  readonly name?: string | undefined;
  readonly input?: Json | undefined;
  /** Changes the input of `node`. */
  readonly nodeInput?: { readonly edit: NodeEdit; readonly before: Json; readonly after: Json } | undefined;
  readonly place?: Pick<NewRun, 'workingDirectory' | 'workspace'> | undefined;
  /** Outside effects of the parent since then, which the fork does not know of. */
  readonly effects?: readonly string[] | undefined;
  /** Work that continues from its middle: a waiting task, and its stored stream. */
  readonly resumed?: { readonly task: Task; readonly stream: readonly StreamChunk[] } | undefined;
}

/**
 * Creates a run that continues from a frame of another, in one commit. Its frame 0 is that frame: the same tree, statuses, state and
 * digest. Its first event names the parent's event of the frame by hash; the parent is only read (R18). The fork is paused until it is
 * resumed.
 */
export async function forkPlan(
  { commit, reader, clock }: Pick<PlanRunOptions, 'commit' | 'reader' | 'clock'>,
  fork: PlanFork,
): Promise<Result<RunRecord, ErrorEnvelope>> {
  const { run, parent: parentId, frame: index } = fork;
  const parent = await reader.run(parentId);
  if (parent === undefined) return err(unknownRun(parentId));
  const frame = await reader.frame(parentId, index);
  const committed = frame === undefined ? undefined : await frameEvent(reader, parent, index);
  if (frame === undefined || committed === undefined) return err(unknownFrame(parent, index));
  const { planVersion = 1, ...shown } = frame;
  // The plan that made the frame is the fork's first version.
  const source = planSources(parent)[planVersion - 1];
  const { name, tags, correlationId, mode, globalMode, limits, seed, workingDirectory, workspace } = parent;
  const input = fork.input === undefined ? parent.input : fork.input;
  const place = fork.place ?? defined({ workingDirectory, workspace });
  const created: NewRun = {
    driver: parent.driver,
    name: fork.name ?? name,
    tags,
    ...defined({ correlationId }),
    ...place,
    origin: { kind: 'fork', run: parentId, frame: index, head: committed.hash },
    ...defined({ source }),
    status: 'paused',
    phase: 'EXECUTE',
    mode,
    globalMode,
    input,
    limits,
    seed,
  };
  const at = timestampOf(clock);
  const trigger = { kind: 'operator', detail: `frame ${index} of run ${parentId}` } as const;
  const events = [
    eventDraftOf('run.created', { driver: created.driver, name: created.name, origin: created.origin }),
    eventDraftOf('run.forked', {
      by: fork.by,
      ...defined({ call: fork.call }),
      ...(fork.node === undefined ? {} : { node: fork.node as NodeKey }),
      ...(fork.input === undefined ? {} : { input: { before: parent.input, after: fork.input } }),
      ...(fork.nodeInput === undefined ? {} : { nodeInput: fork.nodeInput }),
      effects: fork.effects ?? [],
    }),
    eventDraftOf('frame.committed', {
      frame: 0,
      trigger,
      mounted: frame.mounted.length,
      unmounted: frame.unmounted.length,
      digest: frame.digest,
    }),
  ];
  const intervals = await restingRows(reader, fork);
  const written = await commit.commit(
    {
      at,
      run: { kind: 'create', run: created },
      inherit: { run: parentId, frame: index },
      frame: { ...shown, index: 0, trigger },
      ...(intervals.length === 0 ? {} : { intervals }),
      ...(fork.resumed === undefined ? {} : { tasks: [fork.resumed.task], stream: fork.resumed.stream }),
      events,
    },
    { run, epoch: 0, version: 0 },
  );
  if (!written.ok) return err(written.error);
  const record = await reader.run(run);
  return record === undefined ? err(unknownRun(run)) : ok(record);
}

/** Work that ran in the parent's frame does not run in the fork, which waits to be resumed. A node's changed input is in its row. */
async function restingRows(
  reader: RunReader,
  { parent, frame, node, nodeInput }: PlanFork,
): Promise<readonly IntervalWrite[]> {
  const rows = await reader.at(parent, 'status', frame);
  return [...rows].flatMap(([key, value]): readonly IntervalWrite[] => {
    const record = nodeRecord.parse(value);
    const edit = key === node ? nodeInput?.edit : undefined;
    if (record.status !== 'running' && edit === undefined) return [];
    const resting =
      record.signature === undefined ? restedRecord(record, 'paused') : editedRecord(begunAnew(record), edit);
    return [{ space: 'status', key, fromFrame: 1, change: { kind: 'set', value: resting as Json } }];
  });
}

const PAGE = 64;

/** The event of a frame's commit, found by binary search: frame events are in order. */
export async function frameEvent(
  reader: Pick<RunReader, 'events'>,
  { id, nextSeq }: Pick<RunRecord, 'id' | 'nextSeq'>,
  frame: number,
): Promise<{ readonly seq: number; readonly hash: Digest } | undefined> {
  let [low, high] = [0, nextSeq];
  while (low < high) {
    const middle = (low + high) >> 1;
    const found = await nextFrameEvent(reader, id, middle, high);
    if (found === undefined || found.frame > frame) high = middle;
    else if (found.frame === frame) return found;
    else low = found.seq + 1;
  }
  return undefined;
}

async function nextFrameEvent(reader: Pick<RunReader, 'events'>, run: RunId, from: number, before: number) {
  for (let seq = from; seq < before; seq += PAGE) {
    for (const { event, hash } of await reader.events(run, seq, Math.min(PAGE, before - seq))) {
      if (event.type === 'frame.committed') return { seq: event.seq, frame: event.frame, hash };
    }
  }
  return undefined;
}

function unknownRun(run: RunId): ErrorEnvelope<'run/unknown'> {
  return failure('run/unknown', {
    message: `There is no run ${run}.`,
    suggestion: 'See "signalbox ls" for the runs there are.',
    details: { run },
  });
}

function unknownFrame({ id, frames }: RunRecord, frame: number): ErrorEnvelope<'run/frame-unknown'> {
  return failure('run/frame-unknown', {
    message: `Run ${id} has no frame ${frame}.`,
    suggestion: frames === 0 ? 'Start the plan again: the run came to no frame.' : `Its frames are 0 to ${frames - 1}.`,
    details: { run: id, frame },
  });
}
