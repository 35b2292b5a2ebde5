import {
  Bug,
  type Digest,
  digestOf,
  type EventId,
  type Json,
  portableHasher,
  type Resolution,
  type RunId,
  type Timestamp,
} from '@signalbox/model';
import {
  type Change,
  type Commit,
  type CommitError,
  type Committed,
  type Decision,
  decisionIdOf,
  type EventDraft,
  type Frame,
  type Guard,
  type IntervalSpace,
  type IntervalWrite,
  type NewRun,
  type NodeKey,
  type OwnerId,
  type RunChange,
  type Task,
  taskIdOf,
  type WriteSet,
} from '@signalbox/runs';

let minted = 0;

/** Ids that differ from each other and sort in the order they were asked for. */
export function freshId<Id extends string>(): Id {
  minted += 1;
  return `01890000-0000-7000-8000-${minted.toString(16).padStart(12, '0')}` as Id;
}

export const at = (second = 0): Timestamp => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString() as Timestamp;
export const key = (name: string): NodeKey => name as NodeKey;
export const owner = (name: string): OwnerId => name as OwnerId;
export const hashOf = (value: Json): Digest => digestOf(portableHasher, value);

export function newRun(fields: Partial<NewRun> = {}): NewRun {
  return {
    driver: 'plan',
    name: 'hello',
    tags: [],
    status: 'running',
    phase: 'BOOT',
    mode: 'AUTO',
    globalMode: 'IMPLEMENTATION',
    input: null,
    limits: {},
    seed: 1,
    ...fields,
  };
}

export function created(run: NewRun = newRun(), second = 0): WriteSet {
  return { at: at(second), run: { kind: 'create', run }, events: [runCreated(run)] };
}

export function runCreated(run: NewRun): EventDraft {
  return { id: freshId<EventId>(), ts: at(), type: 'run.created', driver: run.driver, name: run.name };
}

export function signal(name: string, payload: Json = null): EventDraft {
  return { id: freshId<EventId>(), ts: at(), type: 'signal.received', name, payload, by: 'anna' };
}

export function changed(change: RunChange): WriteSet {
  return { at: at(1), run: { kind: 'change', change } };
}

export function frame(index: number, fields: Partial<Frame> = {}): Frame {
  return {
    index,
    at: at(index),
    trigger: { kind: 'state' },
    mounted: [],
    unmounted: [],
    written: [],
    digest: hashOf(index),
    verifiable: true,
    ...fields,
  };
}

export const set = (value: Json): Change => ({ kind: 'set', value });
export const gone: Change = { kind: 'gone' };

export function interval(space: IntervalSpace, name: string, fromFrame: number, change: Change): IntervalWrite {
  return { space, key: name, fromFrame, change };
}

export function task(run: RunId, fields: Partial<Task> = {}): Task {
  const node = fields.node ?? key('build');
  const iteration = fields.iteration ?? 0;
  return {
    id: taskIdOf(run, node, iteration, 'sig'),
    node,
    iteration,
    signature: 'sig',
    status: 'pending',
    effects: 'none',
    retryCount: 0,
    maxRetries: 3,
    backoffMs: 1_000,
    createdAt: at(),
    ...fields,
  };
}

export type Asked = Omit<Decision, 'status'>;

export function asked(run: RunId, fields: Partial<Asked> = {}): Asked {
  const node = fields.node ?? key('deploy');
  const call = fields.call ?? 'call-1';
  const proposal = fields.proposal ?? { cmd: 'make deploy' };
  return {
    id: decisionIdOf(run, node, 0, call),
    node,
    iteration: 0,
    call,
    kind: 'command_exec',
    proposal,
    proposalHash: hashOf(proposal),
    askedAt: at(),
    ...fields,
  };
}

export const approval: Resolution = { resolutionType: 'approve', rationale: 'fine', actionKind: 'deploy' };
export const rejection: Resolution = { resolutionType: 'reject', rationale: 'not now', actionKind: 'deploy' };

/** One writer of one run, that knows what it has committed. */
export interface Writer {
  readonly run: RunId;
  guard: Guard & { readonly epoch: number };
  /** Commits and must succeed. */
  write(writes: WriteSet): Promise<Committed>;
  /** Commits and must fail. */
  refused(writes: WriteSet, guard?: Guard): Promise<CommitError>;
}

export async function startRun(
  store: Commit,
  run: NewRun = newRun(),
  id = freshId<RunId>(),
  second = 0,
): Promise<Writer> {
  const writer: Writer = {
    run: id,
    guard: { run: id, epoch: 0, version: 0 },
    async write(writes) {
      const committed = await store.commit(writes, writer.guard);
      if (!committed.ok) throw new Bug(`${committed.error.code}: ${committed.error.message}`);
      const { epoch, version } = committed.value;
      writer.guard = { run: id, epoch, version };
      return committed.value;
    },
    async refused(writes, guard = writer.guard) {
      const committed = await store.commit(writes, guard);
      if (committed.ok) throw new Bug('a commit that should have been refused was not');
      return committed.error;
    },
  };
  await writer.write(created(run, second));
  return writer;
}
