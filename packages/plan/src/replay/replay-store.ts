import { Bug, EMPTY_HEAD, err, failure, type Json, ok, type RunId, type Timestamp } from '@signalbox/model';
import {
  type AnyEvent,
  applyChange,
  type Commit,
  type IntervalSpace,
  intervalSpace,
  type NewRun,
  type RunReader,
  type RunRecord,
  type StoredEvent,
  type Task,
  type TaskId,
  type WriteSet,
} from '@signalbox/runs';

/** The commits of a replay, as far as a resuming engine needs them: the last of everything. */
export interface ReplayStore {
  readonly commit: Commit;
  readonly reader: RunReader;
  /** The values after the last commit. */
  values(space: IntervalSpace): ReadonlyMap<string, Json>;
  task(id: TaskId): Task | undefined;
  /** The last commit that made a frame. */
  readonly lastFrame: WriteSet['frame'];
  /** Starts with what a run had when it was forked. */
  inherit(
    record: RunRecord,
    values: ReadonlyMap<IntervalSpace, ReadonlyMap<string, Json>>,
    tasks: readonly Task[],
  ): void;
  /** The status with which the run is resumed. */
  become(status: RunRecord['status']): void;
  /** An outside event, such as a signal, is in the log. */
  receive(event: AnyEvent): void;
}

export function createReplayStore(run: RunId): ReplayStore {
  const spaces = new Map<IntervalSpace, Map<string, Json>>(intervalSpace.options.map(space => [space, new Map()]));
  const tasks = new Map<TaskId, Task>();
  /** The last one of each node, for handlers that are called again. */
  const ended = new Map<string, Task>();
  /** By `seq`; the run's own events are not input. */
  const received = new Map<number, AnyEvent>();
  let record: RunRecord | undefined;
  let lastFrame: WriteSet['frame'];
  let counted = { frame: -1, count: 0 };

  function recordAfter({ run: write, frame, at, events = [] }: WriteSet): RunRecord {
    const before = write?.kind === 'create' ? begun(run, write.run, at) : record;
    if (before === undefined) throw new Bug(`a replay of run ${run} did not begin with its start`);
    // It continues where the recorded run did, whatever its lifecycle would allow.
    const changes = write?.kind === 'change' ? Object.entries(write.change).filter(([, value]) => value !== null) : [];
    return {
      ...before,
      ...(Object.fromEntries(changes) as Partial<RunRecord>),
      version: before.version + 1,
      frames: before.frames + (frame === undefined ? 0 : 1),
      nextSeq: before.nextSeq + events.length,
    };
  }

  function put({ space, key, change }: NonNullable<WriteSet['intervals']>[number]): void {
    const values = spaces.get(space);
    const value = applyChange(values?.get(key), change);
    if (!value.ok) throw new Bug(`a replay wrote a change of ${space} '${key}' that does not fit: ${value.error}`);
    if (value.value === undefined) values?.delete(key);
    else values?.set(key, value.value);
  }

  const commit: Commit = {
    async commit(writes, guard) {
      if (guard.run !== run) return err(notReplayed(guard.run));
      record = recordAfter(writes);
      writes.intervals?.forEach(put);
      for (const task of writes.tasks ?? []) {
        const isOver = task.status !== 'pending' && task.status !== 'running' && task.status !== 'canceling';
        if (isOver) tasks.delete(task.id);
        else tasks.set(task.id, task);
        if (isOver) ended.set(task.node, task);
      }
      for (const { frame } of writes.transitions ?? []) {
        counted = { frame, count: counted.frame === frame ? counted.count + 1 : 1 };
      }
      if (writes.frame !== undefined) lastFrame = writes.frame;
      const { epoch, version, nextSeq, head } = record;
      return ok({ run, epoch, version, nextSeq, head });
    },
  };

  const reader = {
    run: async asked => (asked === run ? record : undefined),
    children: async () => [],
    artifactList: async () => ({ items: [] }),
    at: async (_, space) => new Map(spaces.get(space)),
    valueAt: async (_, space, key) => spaces.get(space)?.get(key),
    // Only their number in a frame is needed.
    transitions: async (_, { from = { frame: 0, index: 0 } } = {}) => ({
      items: Array.from({ length: counted.frame === from.frame ? counted.count - from.index : 0 }, () => ({
        frame: from.frame,
      })) as never,
    }),
    async events(_, from, limit) {
      const last = Math.min(record?.nextSeq ?? 0, from + limit);
      return Array.from({ length: Math.max(0, last - from) }, (_, index) => eventAt(from + index));
    },
    tasks: async (_, { status, node } = {}) =>
      [...tasks.values(), ...ended.values()].filter(
        task => (status === undefined || status.includes(task.status)) && (node === undefined || node === task.node),
      ),
  } satisfies Partial<RunReader>;

  // The engine asks an event for its type and, of those received, for their fields.
  const eventAt = (seq: number): StoredEvent =>
    ({ event: received.get(seq) ?? { type: 'its own' }, hash: EMPTY_HEAD }) as unknown as StoredEvent;

  return {
    commit,
    // A replay reads nothing else: a call of another method is a bug, and throws.
    reader: reader as unknown as RunReader,
    values: space => spaces.get(space) ?? new Map(),
    task: id => tasks.get(id),
    get lastFrame() {
      return lastFrame;
    },
    inherit(given, values, inherited) {
      record = { ...given, frames: 1 };
      for (const [space, rows] of values) spaces.set(space, new Map(rows));
      for (const task of inherited) {
        if (task.status === 'pending') tasks.set(task.id, task);
        else ended.set(task.node, task);
      }
    },
    become(status) {
      if (record !== undefined) record = { ...record, status };
    },
    receive(event) {
      if (record === undefined) return;
      received.set(record.nextSeq, event);
      record = { ...record, nextSeq: record.nextSeq + 1 };
    },
  };
}

function begun(id: RunId, run: NewRun, at: Timestamp): RunRecord {
  const counts = { epoch: 0, version: 0, frames: 0, inputSeq: 0, nextSeq: 0, records: 0 };
  return { ...run, ...counts, id, head: EMPTY_HEAD, createdAt: at, updatedAt: at, startedAt: at };
}

function notReplayed(run: RunId) {
  return failure('run/unknown', {
    message: `Run ${run} is not part of this replay.`,
    suggestion: 'Replay it by itself.',
    details: { run },
  });
}
