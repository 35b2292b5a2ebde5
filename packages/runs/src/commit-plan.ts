import {
  type ApprovalId,
  EMPTY_HEAD,
  type ErrorEnvelope,
  err,
  failure,
  type Hasher,
  ok,
  type Result,
  type RunId,
  type TaskStatus,
} from '@signalbox/model';
import type { ArtifactRecord } from './artifacts/artifact-record.ts';
import type { CommitError, Committed, Guard, WriteSet } from './commit.ts';
import type { Decision } from './decisions/decision.ts';
import { changeDecision } from './decisions/decision-change.ts';
import { placeEvents, type StoredEvent } from './events/stored-event.ts';
import { type Inheritance, inheritanceFault } from './forks/inheritance.ts';
import type { Change, Maybe } from './frames/change.ts';
import type { Frame } from './frames/frame.ts';
import type { IntervalSpace } from './frames/interval.ts';
import type { Transition } from './frames/transition.ts';
import { applyChange } from './frames/value-change.ts';
import type { TaskId } from './ids.ts';
import { planVersionOf } from './run/plan-versions.ts';
import { changeRun, createRun } from './run/run-change.ts';
import type { RunRecord } from './run/run-record.ts';
import type { StreamChunk } from './stream/stream-chunk.ts';
import type { Task } from './tasks/task.ts';
import { mayTaskFollow } from './tasks/task-lifecycle.ts';
import type { UsageRecord } from './usage/usage.ts';

/** What is committed of one run, as far as a commit needs to know it. */
export interface CommitView {
  run(): RunRecord | undefined;
  /** Any run. */
  otherRun(run: RunId): RunRecord | undefined;
  /** The run that was created with an idempotency key. */
  runOfKey(idempotencyKey: string): RunId | undefined;
  taskStatus(id: TaskId): TaskStatus | undefined;
  decision(id: ApprovalId): Decision | undefined;
  /** The last value of a key, and the frame it holds from. */
  last(space: IntervalSpace, key: string): LastValue | undefined;
  /** The last version of the artifacts with a key; 0 where there is none. */
  artifactVersion(key: string): number;
  /** The value after the last transition of a key. */
  lastTransition(key: string): { readonly value: Maybe } | undefined;
}

export interface LastValue {
  readonly fromFrame: number;
  /** Asked for only by patches. */
  readonly value: () => Maybe;
}

/** What a commit comes to: whole rows, checked, in their places. A store only has to keep them. */
export interface CommitPlan {
  readonly record: RunRecord;
  /** To be taken over before anything else is kept. */
  readonly inherited: Inheritance | undefined;
  readonly frame: Frame | undefined;
  readonly intervals: readonly IntervalRow[];
  readonly transitions: readonly TransitionRow[];
  readonly tasks: readonly Task[];
  readonly decisions: readonly Decision[];
  readonly artifacts: readonly ArtifactRecord[];
  readonly usage: readonly UsageRecord[];
  readonly stream: readonly StreamChunk[];
  readonly events: readonly (StoredEvent & { readonly canonical: string })[];
  /** Committed by others than the driver: its events are told apart by their ids, not by the run's version. */
  readonly isFromOutside: boolean;
  readonly committed: Committed;
}

/** A value from a frame on. `value` is known where the change is a patch or a whole value. */
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

/** The one place where a commit is judged: every store asks it inside its transaction, and keeps what it answers. */
export function planCommit(
  view: CommitView,
  writes: WriteSet,
  guard: Guard,
  hasher: Hasher,
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

  const { id, nextSeq, head } = framed.value;
  const events = placeEvents(hasher, { run: id, nextSeq, head }, writes.events ?? []);
  const record: RunRecord = {
    ...framed.value,
    version: guard.version === 'any' ? framed.value.version : guard.version + 1,
    nextSeq: nextSeq + events.length,
    head: events.at(-1)?.hash ?? head,
    updatedAt: writes.at,
  };
  const { epoch, version } = record;
  return ok({
    record,
    inherited: inherit,
    frame: writes.frame,
    intervals: intervals.value,
    transitions: transitions.value,
    tasks: tasks.value,
    decisions: decisions.value,
    artifacts: planArtifacts(view, writes),
    usage: writes.usage ?? [],
    stream: writes.stream ?? [],
    events,
    isFromOutside: guard.version === 'any',
    committed: { run: id, epoch, version, nextSeq: record.nextSeq, head: record.head },
  });
}

/** The run after its own write, if the guard fits what is there. */
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
    if (parts.length === 0) return ok(before);
    return err(refused(guard.run, `${parts.map(([name]) => name).join(', ')} can only be written by the run's driver`));
  }
  if (guard.version === 0) {
    if (before !== undefined) return err(runExists(guard.run));
    if (writes.run?.kind !== 'create') return err(unknownRun(guard.run));
    const { idempotencyKey: key } = writes.run.run;
    const first = key === undefined ? undefined : view.runOfKey(key);
    if (key !== undefined && first !== undefined) return err(duplicateKey(key, first));
    return ok(createRun(guard.run, guard.epoch, writes.run.run, writes.at, EMPTY_HEAD));
  }
  if (before === undefined) return err(unknownRun(guard.run));
  if (guard.epoch !== before.epoch) return err(staleEpoch(before, guard.epoch));
  if (guard.version !== before.version) return err(staleVersion(before, guard.version));
  if (writes.run === undefined) return ok(before);
  if (writes.run.kind === 'create') return err(runExists(guard.run));
  const changed = changeRun(before, writes.run.change, writes.at);
  return changed.ok ? changed : err(refused(guard.run, changed.error));
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

/** Values hold from the last frame or the next one on: history is not rewritten, and not written ahead. */
function planIntervals(
  view: CommitView,
  record: RunRecord,
  { intervals = [], frame }: WriteSet,
): Result<readonly IntervalRow[], CommitError> {
  const rows = new Map<string, IntervalRow>();
  const first = Math.max(0, record.frames - 1);
  // The frame of this commit is newer than any value that is there: what others may have written for it is replaced.
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

/** An artifact with a key is the next version of it, unless its writer says which. */
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
