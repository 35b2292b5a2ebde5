import {
  type ApprovalId,
  asJson,
  type Digest,
  defined,
  deriveId,
  EMPTY_HEAD,
  type EventId,
  type Json,
  type NodeId,
  type RunId,
  type RunStatus,
  type Timestamp,
} from '@signalbox/model';
import type { Decision } from '../decisions/decision.ts';
import { isShort, type KeptEvent } from '../events/kept-event.ts';
import { type EventDraft, eventDraftOf } from '../events/stored-event.ts';
import {
  contractNodeId,
  decisionIdOf,
  inheritedTaskId,
  type NodeKey,
  subPlanRunId,
  type TaskId,
  taskIdOf,
} from '../ids.ts';
import type { OpenRecord } from '../log/open-record.ts';
import type { LogRecord, RecordBody, RecordDraft, RecordHeader } from '../log/record.ts';
import { type SealPorts, sealRecord } from '../log/seal-record.ts';
import type { RunOrigin } from '../run/run-record.ts';
import type { StreamChunk } from '../stream/stream-chunk.ts';
import type { Task } from '../tasks/task.ts';

/**
 * Turns the logs of imported runs into those of new runs.
 *
 * 1. Every id is new, and derives from the new run's id as the old one did from the old run's, so that a resumed run finds its tasks,
 *    questions and children.
 * 2. Records keep their order, and are sealed and chained again. The content of frames is unchanged, so their hashes still hold.
 * 3. The first record and the last say where the run comes from.
 */
export interface ImportAsNew {
  /** The new record that replaces a record of a run. Pass the records of a run in order. */
  take(record: Pick<OpenRecord, 'header' | 'body'>): LogRecord;
  /** Partial agent output of the run passed last. */
  delta(chunk: StreamChunk): StreamChunk;
  /** The final record of the run passed last; `hash` is that of its last record at its origin. */
  end(hash: Digest): LogRecord;
}

export interface ImportFacts {
  /** The id of the topmost run, and the head of its log. */
  readonly root: RunId;
  readonly head: Digest;
  /** Its new id. */
  readonly run: RunId;
  readonly bundle: Digest;
  readonly at: Timestamp;
  readonly by: string;
  readonly seal: SealPorts;
  /** The working directory of its agents here. */
  readonly workingDirectory?: string | undefined;
}

/** How many restarts of a task are searched. */
const MAX_RESTARTS = 1000;

export function importAsNew(facts: ImportFacts): ImportAsNew {
  /** New run ids by old ones. A run comes before its children. */
  const runs = new Map<RunId, RunId>([[facts.root, facts.run]]);
  let old: RunId;
  let run: RunId;
  let status: RunStatus = 'queued';
  let ids = new Map<string, string>();
  let last: RecordHeader | undefined;
  let head: Digest = EMPTY_HEAD;

  function begin({ header, body }: Pick<OpenRecord, 'header' | 'body'>): void {
    old = header.log;
    run = newRun(old, body.run?.kind === 'create' ? body.run.run.origin : undefined);
    runs.set(old, run);
    ids = new Map<string, string>(runs);
    head = EMPTY_HEAD;
    last = undefined;
  }

  /** A parent finds a child by the id that it derives for it. */
  function newRun(id: RunId, origin: RunOrigin | undefined): RunId {
    const parent = origin?.kind === 'sub-plan' ? runs.get(origin.run) : undefined;
    if (id === facts.root || origin?.kind !== 'sub-plan' || parent === undefined) return facts.run;
    const { node, iteration } = origin;
    const child = numberOf(count => subPlanRunId(origin.run, node, iteration, count) === id);
    return child === undefined
      ? deriveId<RunId>('imported-run', facts.run, id)
      : subPlanRunId(parent, node, iteration, child);
  }

  function originOf(origin: RunOrigin | undefined): RunOrigin | undefined {
    if (old === facts.root) return { kind: 'import', run: old, head: facts.head, bundle: facts.bundle };
    return origin?.kind === 'sub-plan' ? { ...origin, run: runs.get(origin.run) ?? origin.run } : origin;
  }

  /** Its idempotency key and its owner do not apply here. */
  function newStart(write: NonNullable<RecordBody['run']>): NonNullable<RecordBody['run']> {
    if (write.kind === 'change') {
      const { owner: _, ...change } = write.change;
      status = change.status ?? status;
      return { kind: 'change', change };
    }
    const { owner: _, idempotencyKey: __, ...start } = write.run;
    const origin = originOf(start.origin);
    status = start.status;
    return {
      ...write,
      run: {
        ...start,
        ...defined({ origin, workingDirectory: facts.workingDirectory }),
      },
    };
  }

  function taskIdFor({
    id,
    node,
    iteration,
    signature,
  }: Pick<Task, 'id' | 'node' | 'iteration' | 'signature'>): TaskId {
    const known = ids.get(id);
    if (known !== undefined) return known as TaskId;
    const restart = numberOf(count => taskIdOf(old, node, iteration, signature, count) === id);
    const made =
      restart === undefined
        ? (deriveId<NodeId>('imported-task', run, id) as string as TaskId)
        : taskIdOf(run, node, iteration, signature, restart);
    ids.set(id, made);
    return made;
  }

  function newDecision(row: Decision): Decision {
    const call = mapped(row.call);
    const isDerived = decisionIdOf(old, row.node, row.iteration, row.call) === row.id;
    const id = isDerived
      ? decisionIdOf(run, row.node, row.iteration, call)
      : deriveId<ApprovalId>('imported-decision', run, row.id);
    ids.set(row.id, id);
    return { ...row, id, call };
  }

  const mapped = (text: string): string => ids.get(text) ?? text;
  const taskOf = <Row extends { readonly task?: TaskId | undefined }>({ task }: Row) =>
    task === undefined ? {} : { task: mapped(task) as TaskId };

  function newEvent(event: KeptEvent): KeptEvent {
    if (isShort(event)) return event;
    const renamed = withIds(asJson(event), ids) as EventDraft;
    const id = event.id && { id: deriveId<EventId>('imported-event', run, event.id) };
    if (event.type !== 'run.created') return { ...renamed, ...id };
    const origin = originOf(event.origin);
    return { ...renamed, ...id, ...defined({ origin }) } as EventDraft;
  }

  /** Ids from rows come first: events, usage and streams refer to them. */
  function newBody({ salt: _, large: __, taken: ___, away, ...body }: RecordBody): RecordDraft {
    const left = away && {
      ...defined({ frame: away.frame }),
      ...(away.events && { events: away.events }),
    };
    for (const { space, key } of body.intervals ?? []) if (space === 'node') nameNode(key as NodeKey);
    for (const { space, key } of body.begins?.intervals ?? []) if (space === 'node') nameNode(key as NodeKey);
    const { run: start, begins, tasks, decisions, artifacts, usage, stream, events } = body;
    return {
      ...(left !== undefined && Object.keys(left).length > 0 && { away: left }),
      ...body,
      ...(start && { run: newStart(start) }),
      ...(begins && {
        begins: {
          ...begins,
          tasks: begins.tasks.map(held => ({ ...held, task: { ...held.task, id: begunTask(held.task.id) } })),
        },
      }),
      ...(tasks && { tasks: tasks.map(row => ({ ...row, id: taskIdFor(row) })) }),
      ...(decisions && { decisions: decisions.map(newDecision) }),
      ...(artifacts && {
        artifacts: artifacts.map(row => {
          const id = deriveId<typeof row.id>('imported-artifact', run, row.id);
          ids.set(row.id, id);
          return { ...row, id, ...taskOf(row) };
        }),
      }),
      ...(usage && { usage: usage.map(row => ({ ...row, call: mapped(row.call), ...taskOf(row) })) }),
      ...(stream && { stream: stream.map(row => ({ ...row, task: mapped(row.task) as TaskId })) }),
      ...(events && { events: events.map(newEvent) }),
    };
  }

  function nameNode(node: NodeKey): void {
    ids.set(contractNodeId(old, node), contractNodeId(run, node));
  }

  function begunTask(id: TaskId): TaskId {
    const made = inheritedTaskId(run, id);
    ids.set(id, made);
    return made;
  }

  function sealed(header: Omit<RecordHeader, 'v' | 'blobs' | 'body'>, draft: RecordDraft): LogRecord {
    const record = sealRecord(facts.seal, head, { ...header, log: run }, draft);
    head = record.hash;
    return record;
  }

  return {
    take(record) {
      if (record.header.n === 0) begin(record);
      const { v: _, blobs: __, body: ___, ...header } = record.header;
      last = record.header;
      return sealed(header, newBody(record.body));
    },
    delta: chunk => ({ ...chunk, task: mapped(chunk.task) as TaskId }),
    end(hash) {
      const isCutOff = status === 'running' || status === 'queued';
      const events = [
        eventDraftOf('run.imported', { run: old, head: hash, bundle: facts.bundle, by: facts.by }),
        ...(isCutOff ? [eventDraftOf('run.status', { from: status, to: 'paused' })] : []),
      ];
      const { n, version, seq, events: told } = last as RecordHeader;
      const next = { n: n + 1, at: facts.at, who: 'driver', version: version + 1, seq: seq + told } as const;
      const draft: RecordDraft = {
        ...(isCutOff && { run: { kind: 'change', change: { status: 'paused' } } }),
        events,
      };
      return sealed({ ...next, log: run, events: events.length }, draft);
    },
  };
}

function numberOf(fits: (count: number) => boolean): number | undefined {
  for (let count = 0; count <= MAX_RESTARTS; count++) if (fits(count)) return count;
  return undefined;
}

/** Ids are replaced only as complete strings, so author texts are not changed by accident. */
function withIds(value: Json, ids: ReadonlyMap<string, string>): Json {
  if (typeof value === 'string') return ids.get(value) ?? value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(item => withIds(item, ids));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withIds(member as Json, ids)]));
}
