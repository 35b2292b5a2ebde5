import type { DatabaseSync } from 'node:sqlite';
import type { Hasher, Result } from '@signalbox/model';
import {
  type CommitError,
  type CommitNotice,
  type Committed,
  type CommitView,
  type Guard,
  INHERITED,
  type Inheritance,
  inheritedTaskId,
  planCommit,
  type RunRecord,
  type WriteSet,
} from '@signalbox/runs';
import type { JsonColumns } from '../sqlite/json-column.ts';
import { type EventRows, eventRows } from './event-rows.ts';
import { type IntervalRows, intervalRows } from './interval-rows.ts';
import { type RecentRuns, recentRuns } from './recent-runs.ts';
import { type RecordRows, recordRows } from './record-rows.ts';
import { type RunRows, runRows } from './run-rows.ts';
import { type StreamRows, streamRows } from './stream-rows.ts';
import { type TransitionRows, transitionRows } from './transition-rows.ts';
import type { ValueCache } from './value-cache.ts';

/** Every statement on the tables of runs, prepared once. */
export interface RunTables {
  readonly runs: RunRows;
  readonly events: EventRows;
  readonly intervals: IntervalRows;
  readonly transitions: TransitionRows;
  readonly records: RecordRows;
  readonly streams: StreamRows;
  /** The records of runs that were written last, so that the next commit need not read them. */
  readonly known: RecentRuns;
}

export function runTables(database: DatabaseSync, json: JsonColumns, cache: ValueCache): RunTables {
  return {
    runs: runRows(database, json),
    events: eventRows(database, json),
    intervals: intervalRows(database, json, cache),
    transitions: transitionRows(database, json, cache),
    records: recordRows(database, json, cache),
    streams: streamRows(database, json),
    known: recentRuns(),
  };
}

/** What a member of a group comes to, to be answered and told after COMMIT. */
export interface Applied {
  readonly committed: Committed;
  readonly notice: CommitNotice;
}

/** Writes one commit into the open transaction, or says why it cannot be. */
export function applyMember(
  tables: RunTables,
  writes: WriteSet,
  guard: Guard,
  hasher: Hasher,
): Result<Applied, CommitError> {
  const found = tables.known.get(guard.run) ?? tables.runs.find(guard.run);
  const n = found?.n ?? -1;
  const view: CommitView = {
    run: () => found?.record,
    otherRun: run => (tables.known.get(run) ?? tables.runs.find(run))?.record,
    runOfKey: key => tables.runs.idOfKey(key),
    taskStatus: id => tables.records.taskStatus(n, id),
    decision: id => tables.records.decision(n, id),
    artifactVersion: key => tables.records.artifactVersion(n, key),
    last: (space, key) => tables.intervals.last(n, space, key),
    lastTransition: key => tables.transitions.last(n, key),
  };
  const planned = planCommit(view, writes, guard, hasher);
  if (!planned.ok) return planned;
  const plan = planned.value;

  const run = found?.n ?? tables.runs.insert(plan.record);
  if (found !== undefined) tables.runs.update(run, plan.record, writes.run !== undefined);
  if (plan.inherited !== undefined) inherit(tables, run, plan.inherited, plan.record);
  if (plan.frame !== undefined) tables.events.insertFrame(run, plan.frame);
  for (const interval of plan.intervals) tables.intervals.put(run, interval);
  for (const transition of plan.transitions) tables.transitions.insert(run, transition);
  for (const task of plan.tasks) tables.records.putTask(run, task);
  for (const decision of plan.decisions) tables.records.putDecision(run, decision);
  for (const artifact of plan.artifacts) tables.records.insertArtifact(run, artifact);
  for (const usage of plan.usage) tables.records.insertUsage(run, usage);
  for (const chunk of plan.stream) tables.streams.insert(run, chunk);
  tables.events.insert(run, plan.events, plan.isFromOutside);
  tables.known.set(guard.run, { n: run, record: plan.record });

  const events = plan.events.map(({ event, hash }) => ({ event, hash }));
  const { run: id, version } = plan.committed;
  return { ok: true, value: { committed: plan.committed, notice: { run: id, version, events, stream: plan.stream } } };
}

/** A fork takes over rows of its parent as they are: nothing that lies in blobs is read or written. */
function inherit(
  tables: RunTables,
  run: number,
  { run: parent, frame }: Inheritance,
  { id, createdAt }: RunRecord,
): void {
  const from = (tables.known.get(parent) ?? tables.runs.find(parent))?.n ?? -1;
  tables.intervals.inherit(run, from, frame);
  tables.transitions.inherit(run, INHERITED, createdAt);
  tables.records.inheritTasks(run, from, frame, task => inheritedTaskId(id, task));
}
