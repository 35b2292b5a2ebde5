import {
  type ApprovalId,
  Bug,
  type Digest,
  EMPTY_HEAD,
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type Result,
  type RunId,
  type TaskStatus,
  type Timestamp,
} from '@signalbox/model';
import type { ArtifactRecord } from './artifacts/artifact-record.ts';
import type { CommitError, Committed, Guard, WriteSet } from './commit.ts';
import type { Decision } from './decisions/decision.ts';
import { changeDecision } from './decisions/decision-change.ts';
import { eventType } from './events/kept-event.ts';
import type { StoredEvent } from './events/stored-event.ts';
import { type Inheritance, inheritanceFault } from './forks/inheritance.ts';
import type { Change, Maybe } from './frames/change.ts';
import type { Frame } from './frames/frame.ts';
import type { IntervalSpace } from './frames/interval.ts';
import type { Transition } from './frames/transition.ts';
import { applyChange } from './frames/value-change.ts';
import type { TaskId } from './ids.ts';
import type { OpenRecord } from './log/open-record.ts';
import type { Beginning, LogRecord, RecordDraft, RecordHeader } from './log/record.ts';
import { recordEvents, untoldEvent } from './log/record-events.ts';
import { type SealPorts, sealRecord } from './log/seal-record.ts';
import type { RetentionWrite } from './retention/retention-write.ts';
import { planVersionOf } from './run/plan-versions.ts';
import { changeRun, createRun, retainRun } from './run/run-change.ts';
import type { RunRecord } from './run/run-record.ts';
import type { StreamChunk } from './stream/stream-chunk.ts';
import type { Task } from './tasks/task.ts';
import { mayTaskFollow } from './tasks/task-lifecycle.ts';
import type { UsageRecord } from './usage/usage.ts';

/** The committed state of one run, as far as a commit needs it. */
export interface CommitView {
  run(): RunRecord | undefined;
  /** Any run. */
  otherRun(run: RunId): RunRecord | undefined;
  /** The run that was created with an idempotency key. */
  runOfKey(idempotencyKey: string): RunId | undefined;
  taskStatus(id: TaskId): TaskStatus | undefined;
  decision(id: ApprovalId): Decision | undefined;
  /** The last value of a key, and the frame from which it holds. */
  last(space: IntervalSpace, key: string): LastValue | undefined;
  /** The last version of the artifacts with a key; 0 if there is none. */
  artifactVersion(key: string): number;
  /** The value after the last transition of a key. */
  lastTransition(key: string): { readonly value: Maybe } | undefined;
  hasUsage(call: string): boolean;
  hasChunk(chunk: StreamChunk): boolean;
  /** What a fork inherits: tasks have ids of the fork and count as handled in its frame 0. */
  beginning(fork: RunId, inherit: Inheritance): Beginning;
}

export interface LastValue {
  readonly fromFrame: number;
  /** Called only by patches. */
  readonly value: () => Maybe;
}

/** The effects of a record: whole rows, in their places. A store only has to write them. */
export interface Outcome {
  readonly record: RunRecord;
  /** Written before anything else. */
  readonly begins: Beginning | undefined;
  readonly retention: RetentionWrite | undefined;
  readonly frame: Frame | undefined;
  readonly intervals: readonly IntervalRow[];
  readonly transitions: readonly TransitionRow[];
  readonly tasks: readonly Task[];
  readonly decisions: readonly Decision[];
  readonly artifacts: readonly ArtifactRecord[];
  readonly usage: readonly UsageRecord[];
  readonly stream: readonly StreamChunk[];
  /** Built on first use, so that a commit never waits for them. */
  readonly events: () => readonly StoredEvent[];
  /** Committed by someone other than the driver: its events are identified by their ids, not by the run's version. */
  readonly isFromOutside: boolean;
}

/** An outcome, and the record of it. */
export interface CommitPlan extends Outcome {
  readonly log: LogRecord;
  /** Message parts, which are not facts: they are in no record. */
  readonly deltas: readonly StreamChunk[];
  readonly committed: Committed;
}

/** A value from a frame on. `value` is known if the change is a patch or a whole value. */
export interface IntervalRow {
  readonly space: IntervalSpace;
  readonly key: string;
  readonly fromFrame: number;
  readonly change: Change;
  readonly value: Maybe;
}

export interface TransitionRow extends Transition {
  readonly value: Maybe;
}

/** The one place where a commit is judged: every store calls it inside its transaction and writes the result. */
export function planCommit(
  view: CommitView,
  writes: WriteSet,
  guard: Guard,
  ports: SealPorts,
): Result<CommitPlan, CommitError> {
  const before = view.run();
  const started = guardedRecord(view, before, writes, guard);
  if (!started.ok) return started;
  const framed = withFrame(started.value, writes);
  if (!framed.ok) return framed;
  const { inherit } = writes;
  const fault = inherit && inheritanceFault(framed.value, inherit, run => view.otherRun(run));
  if (fault !== undefined) return err(refused(framed.value.id, fault));
  const intervals = planIntervals(view, framed.value, writes);
  if (!intervals.ok) return intervals;
  const transitions = planTransitions(view, framed.value.id, writes);
  if (!transitions.ok) return transitions;
  const tasks = planTasks(view, framed.value.id, writes);
  if (!tasks.ok) return tasks;
  const decisions = planDecisions(view, writes);
  if (!decisions.ok) return decisions;

  const { id } = framed.value;
  const draft: RecordDraft = withoutEmpty({
    run: runOf(writes, guard),
    begins: inherit && view.beginning(id, inherit),
    retention: writes.retention,
    frame: writes.frame,
    intervals: writes.intervals,
    transitions: writes.transitions,
    tasks: tasks.value,
    decisions: decisions.value,
    artifacts: planArtifacts(view, writes),
    usage: onlyNew(writes.usage, ({ call }) => call, view.hasUsage),
    stream: writes.stream?.filter(chunk => !isDelta(chunk) && !view.hasChunk(chunk)),
    events: writes.events,
  });
  const untold = untoldEvent(draft);
  if (untold !== undefined) return err(refused(id, untold));
  const isFromOutside = guard.version === 'any';
  const facts: RecordFacts = {
    log: id,
    n: before?.records ?? 0,
    at: writes.at,
    who: isFromOutside ? 'outside' : 'driver',
    version: guard.version === 'any' ? framed.value.version : guard.version + 1,
    seq: framed.value.nextSeq,
    events: draft.events?.length ?? 0,
  };
  const log = sealRecord(ports, before?.head ?? EMPTY_HEAD, facts, draft);
  const after = placed(framed.value, facts, log.hash);
  const events = once(() => eventsOf(facts, draft, log.hash));
  const outcome = outcomeOf(facts, draft, after, {
    intervals: intervals.value,
    transitions: transitions.value,
    events,
  });
  const { epoch, version, nextSeq, head } = outcome.record;
  const deltas = writes.stream?.filter(isDelta) ?? [];
  return ok({ ...outcome, log, deltas, committed: { run: id, epoch, version, nextSeq, head } });
}

/**
 * The effects of a committed record, for rebuilding rows. `view` shows the effects of the records before it. The error says what does not
 * fit.
 */
export function replayRecord(view: CommitView, { header, body }: OpenRecord, hash: Digest): Result<Outcome, string> {
  const framed = runAfter(view.run(), { header, body }, hash);
  if (!framed.ok) return framed;
  const writes: WriteSet = {
    at: header.at,
    frame: body.frame,
    intervals: body.intervals,
    transitions: body.transitions,
  };
  const intervals = planIntervals(view, framed.value, writes);
  if (!intervals.ok) return err(intervals.error.message);
  const transitions = planTransitions(view, header.log, writes);
  if (!transitions.ok) return err(transitions.error.message);
  const untold = body.away?.events === true ? undefined : untoldEvent(body);
  if (untold !== undefined) return err(untold);
  const events = once(() => eventsOf(header, body, hash));
  const rows = { intervals: intervals.value, transitions: transitions.value, events };
  return ok(outcomeOf(header, body, framed.value, rows));
}

/** The run after one more record of its log, or why the record does not follow. */
export function runAfter(
  before: RunRecord | undefined,
  { header, body }: Pick<OpenRecord, 'header' | 'body'>,
  hash: Digest,
): Result<RunRecord, string> {
  const { log, at, n, seq, events, version, who } = header;
  const { records: nextRecord, nextSeq } = before ?? { records: 0, nextSeq: 0 };
  if (n !== nextRecord) return err(`it is record ${n}, not ${nextRecord}`);
  if (before !== undefined && before.id !== log) return err(`it is a record of run ${log}`);
  if (seq !== nextSeq) return err(`its first event is ${seq}, not ${nextSeq}`);
  if (body.away?.events !== true && events !== (body.events?.length ?? 0))
    return err(`it does not tell the ${events} events of its header`);
  if (before === undefined && !beginsWithCreation(body)) return err(NOT_CREATED_FIRST);
  if (version !== (before?.version ?? 0) + (who === 'driver' ? 1 : 0)) return err(`version ${version} does not follow`);
  const changed = runChanged(before, body, log, at);
  if (!changed.ok) return changed;
  const framed = withFrame(changed.value, { at, frame: body.frame });
  if (!framed.ok) return err(framed.error.message);
  const counted = withCollected(framed.value, body.away?.frame);
  return counted.ok ? ok(placed(counted.value, header, hash)) : counted;
}

/** The run after the part of a record that concerns the run itself. */
function runChanged(
  before: RunRecord | undefined,
  { run, retention }: RecordDraft,
  id: RunId,
  at: Timestamp,
): Result<RunRecord, string> {
  if (before === undefined) {
    return run?.kind === 'create' ? ok(createRun(id, run.epoch, run.run, at)) : err('it creates no run');
  }
  if (run?.kind === 'create') return err('the run was created before');
  const changed = run === undefined ? ok(before) : changeRun(before, run.change, at);
  return changed.ok && retention !== undefined ? ok(retainRun(changed.value, retention)) : changed;
}

/** The run with the position of its log's head. */
function placed(record: RunRecord, { n, at, version, seq, events }: RecordFacts, hash: Digest): RunRecord {
  return { ...record, version, nextSeq: seq + events, records: n + 1, head: hash, updatedAt: at };
}

type RecordFacts = Omit<RecordHeader, 'v' | 'blobs' | 'body'>;

function outcomeOf(
  facts: RecordFacts,
  body: RecordDraft,
  record: RunRecord,
  rows: Pick<Outcome, 'intervals' | 'transitions' | 'events'>,
): Outcome {
  return {
    ...rows,
    record,
    begins: body.begins,
    retention: body.retention,
    frame: body.frame,
    tasks: body.tasks ?? [],
    decisions: body.decisions ?? [],
    artifacts: body.artifacts ?? [],
    usage: body.usage ?? [],
    stream: body.stream ?? [],
    isFromOutside: facts.who === 'outside',
  };
}

/** The events of a record in full. */
function eventsOf(facts: RecordFacts, body: RecordDraft, hash: Digest): readonly StoredEvent[] {
  const events = recordEvents(facts, body, hash);
  if (!events.ok) throw new Bug(`record ${facts.n} of run ${facts.log}: ${events.error}`);
  return events.value;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function runOf({ run }: WriteSet, guard: Guard): RecordDraft['run'] {
  if (run === undefined || guard.version === 'any') return undefined;
  return run.kind === 'create' ? { kind: 'create', epoch: guard.epoch, run: run.run } : run;
}

/** Message parts; the complete message is a chunk of its own. */
function isDelta({ kind }: StreamChunk): boolean {
  return kind === 'token' || kind === 'thinking';
}

/** The items that do not exist yet, each once. */
function onlyNew<Item>(
  items: readonly Item[] | undefined,
  keyOf: (item: Item) => string,
  isThere: (key: string) => boolean,
): readonly Item[] | undefined {
  const seen = new Set<string>();
  return items?.filter(item => {
    const key = keyOf(item);
    return !seen.has(key) && seen.add(key) && !isThere(key);
  });
}

/** Drops undefined members and empty lists. */
function withoutEmpty(draft: { [Part in keyof RecordDraft]: RecordDraft[Part] | undefined }): RecordDraft {
  const kept: Record<string, unknown> = {};
  for (const part in draft) {
    const value = draft[part as keyof RecordDraft];
    if (value !== undefined && !(Array.isArray(value) && value.length === 0)) kept[part] = value;
  }
  return kept as RecordDraft;
}

/** The run after its own write, if the guard matches. */
function guardedRecord(
  view: CommitView,
  before: RunRecord | undefined,
  writes: WriteSet,
  guard: Guard,
): Result<RunRecord, CommitError> {
  if (guard.version === 'any') {
    if (before === undefined) return err(unknownRun(guard.run));
    const { run, inherit, frame, intervals, transitions, tasks } = writes;
    const parts = Object.entries({ run, inherit, frame, intervals, transitions, tasks }).filter(
      ([, part]) => part !== undefined,
    );
    if (parts.length === 0) return ok(writes.retention === undefined ? before : retainRun(before, writes.retention));
    return err(refused(guard.run, `${parts.map(([name]) => name).join(', ')} can only be written by the run's driver`));
  }
  if (guard.version === 0) {
    if (before !== undefined) return err(runExists(guard.run));
    if (writes.run?.kind !== 'create') return err(unknownRun(guard.run));
    if (!beginsWithCreation(writes)) return err(refused(guard.run, NOT_CREATED_FIRST));
    const { idempotencyKey: key } = writes.run.run;
    const first = key === undefined ? undefined : view.runOfKey(key);
    if (key !== undefined && first !== undefined) return err(duplicateKey(key, first));
    return ok(createRun(guard.run, guard.epoch, writes.run.run, writes.at));
  }
  if (before === undefined) return err(unknownRun(guard.run));
  if (writes.retention !== undefined) return err(refused(guard.run, 'its driver neither keeps nor collects it'));
  if (guard.epoch !== before.epoch) return err(staleEpoch(before, guard.epoch));
  if (guard.version !== before.version) return err(staleVersion(before, guard.version));
  if (writes.run === undefined) return ok(before);
  if (writes.run.kind === 'create') return err(runExists(guard.run));
  const changed = changeRun(before, writes.run.change, writes.at);
  return changed.ok ? changed : err(refused(guard.run, changed.error));
}

const NOT_CREATED_FIRST = 'the first event of a run must be run.created';

function beginsWithCreation({ events }: Pick<RecordDraft, 'events'>): boolean {
  const [first] = events ?? [];
  return first !== undefined && eventType(first) === 'run.created';
}

function withFrame(record: RunRecord, { frame }: WriteSet): Result<RunRecord, CommitError> {
  if (frame === undefined) return ok(record);
  if (frame.index !== record.frames) {
    return err(refused(record.id, `its next frame is ${record.frames}, not ${frame.index}`));
  }
  const { planVersion = 1 } = frame;
  if (planVersion !== planVersionOf(record)) {
    return err(
      refused(record.id, `frame ${frame.index} is of plan version ${planVersion}, not ${planVersionOf(record)}`),
    );
  }
  return ok({ ...record, frames: record.frames + 1 });
}

/** A collected frame still counts. */
function withCollected(record: RunRecord, frame: number | undefined): Result<RunRecord, string> {
  if (frame === undefined) return ok(record);
  if (frame !== record.frames) return err(`its next frame is ${record.frames}, not ${frame}`);
  return ok({ ...record, frames: record.frames + 1 });
}

/** Values hold from the last frame or the next one: history is neither rewritten nor written ahead. */
function planIntervals(
  view: CommitView,
  record: RunRecord,
  { intervals = [], frame }: WriteSet,
): Result<readonly IntervalRow[], CommitError> {
  const rows = new Map<string, IntervalRow>();
  const first = Math.max(0, record.frames - 1);
  // This commit's frame is newer than any existing value, so values that others wrote for it are replaced.
  const mayBeLate = frame === undefined;
  for (const { space, key, fromFrame, change } of intervals) {
    const place = `${space} ${key}`;
    const no = (why: string) => err(refused(record.id, `the ${space} of '${key}'${why}`));
    if (fromFrame < first || fromFrame > record.frames) {
      return no(` holds from frame ${fromFrame}, neither ${first} nor ${record.frames}`);
    }
    if (rows.has(place)) return no(' is written twice');
    const isAsked = change.kind === 'patch' || (mayBeLate && fromFrame < record.frames);
    const last = isAsked ? view.last(space, key) : undefined;
    if (last !== undefined && last.fromFrame > fromFrame) {
      return no(` was written for frame ${last.fromFrame} already`);
    }
    const value = change.kind === 'patch' ? applyChange(last?.value(), change) : applyChange(undefined, change);
    if (!value.ok) return no(`: ${value.error}`);
    rows.set(place, { space, key, fromFrame, change, value: value.value });
  }
  return ok([...rows.values()]);
}

function planTransitions(
  view: CommitView,
  run: RunId,
  { transitions = [] }: WriteSet,
): Result<readonly TransitionRow[], CommitError> {
  const values = new Map<string, Maybe>();
  const rows: TransitionRow[] = [];
  for (const transition of transitions) {
    const { key, change } = transition;
    const before = change.kind !== 'patch' || values.has(key) ? values.get(key) : view.lastTransition(key)?.value;
    const value = applyChange(before, change);
    if (!value.ok) return err(refused(run, `the transition of '${key}': ${value.error}`));
    values.set(key, value.value);
    rows.push({ ...transition, value: value.value });
  }
  return ok(rows);
}

function planTasks(view: CommitView, run: RunId, { tasks = [] }: WriteSet): Result<readonly Task[], CommitError> {
  const rows = new Map<TaskId, Task>();
  for (const task of tasks) {
    const before = rows.get(task.id)?.status ?? view.taskStatus(task.id);
    if (before !== undefined && !mayTaskFollow(before, task.status)) {
      return err(refused(run, `task ${task.id} cannot go from ${before} to ${task.status}`));
    }
    rows.set(task.id, task);
  }
  return ok([...rows.values()]);
}

function planDecisions(view: CommitView, { decisions = [] }: WriteSet): Result<readonly Decision[], CommitError> {
  const rows = new Map<ApprovalId, Decision>();
  for (const write of decisions) {
    const id = write.kind === 'ask' ? write.decision.id : write.id;
    const changed = changeDecision(rows.get(id) ?? view.decision(id), write);
    if (!changed.ok) return changed;
    rows.set(id, changed.value);
  }
  return ok([...rows.values()]);
}

/** An artifact with a key becomes its next version, unless its writer specifies one. */
function planArtifacts(view: CommitView, { artifacts = [] }: WriteSet): readonly ArtifactRecord[] {
  const versions = new Map<string, number>();
  return artifacts.map(artifact => {
    const { key } = artifact;
    if (key === undefined) return artifact;
    const version = artifact.version ?? (versions.get(key) ?? view.artifactVersion(key)) + 1;
    versions.set(key, Math.max(version, versions.get(key) ?? 0));
    return artifact.version === undefined ? { ...artifact, version } : artifact;
  });
}

export function refused(run: RunId, why: string): ErrorEnvelope<'run/writes-refused'> {
  return failure('run/writes-refused', {
    message: `Nothing was written to run ${run}: ${why}.`,
    suggestion: 'Read the run again and commit what fits it.',
    details: { run },
  });
}

function unknownRun(run: RunId): CommitError {
  return failure('run/unknown', {
    message: `There is no run ${run}.`,
    suggestion: 'List the runs and name one of them, or create it first.',
    details: { run },
  });
}

function runExists(run: RunId): CommitError {
  return failure('run/exists', {
    message: `Run ${run} exists already.`,
    suggestion: 'Read it, or create a run with an id of its own.',
    details: { run },
  });
}

function duplicateKey(key: string, first: RunId): CommitError {
  return failure('run/duplicate-key', {
    message: `Run ${first} was started with the idempotency key '${key}' before.`,
    suggestion: 'Go on with that run, or start one with another key.',
    details: { run: first },
  });
}

function staleEpoch({ id, epoch, owner }: RunRecord, given: number): CommitError {
  return failure('run/stale-epoch', {
    message: `Run ${id} is in epoch ${epoch}${owner === undefined ? '' : `, owned by ${owner}`}; this writer has epoch ${given}.`,
    suggestion: 'Someone else took the run over: stop working on it, or claim it again.',
    details: { run: id, epoch, given },
  });
}

function staleVersion({ id, version }: RunRecord, given: number): CommitError {
  return failure('run/stale-version', {
    message: `Run ${id} is at version ${version}; this writer knows version ${given}.`,
    suggestion: 'Read the run again and decide anew.',
    retry: { kind: 'retryable_immediate' },
    details: { run: id, version, given },
  });
}
