import { ok, type Result, type RunId } from '@signalbox/model';
import {
  type CommitError,
  type CommitNotice,
  type Committed,
  type CommitView,
  type Guard,
  INHERITED,
  inheritedTaskId,
  type Outcome,
  planCommit,
  type SealPorts,
  type WriteSet,
} from '@signalbox/runs';
import type { NumberedRun } from './run-rows.ts';
import type { RunTables } from './run-tables.ts';

/** The result of a commit, answered and published after COMMIT. */
export interface Applied {
  readonly committed: Committed;
  readonly notice: CommitNotice;
}

/** Writes one commit, its record and its rows, into the open transaction, or returns why it cannot. */
export function commitRows(
  tables: RunTables,
  writes: WriteSet,
  guard: Guard,
  ports: SealPorts,
): Result<Applied, CommitError> {
  const found = findRun(tables, guard.run);
  const planned = planCommit(viewOf(tables, found), writes, guard, ports);
  if (!planned.ok) return planned;
  const plan = planned.value;
  const { record, log, deltas, committed, events, isFromOutside } = plan;
  const count = record.nextSeq - (found?.record.nextSeq ?? 0);
  const run = projectOutcome(tables, found?.n, plan, writes.run !== undefined || writes.retention !== undefined);
  const outsideIds = isFromOutside ? events().map(({ event }) => event.id) : [];
  tables.log.append(run, record.records - 1, record.nextSeq - count, log, outsideIds);
  for (const chunk of deltas) tables.streams.insert(run, chunk);
  tables.known.set(guard.run, { n: run, record });
  const stream = writes.stream ?? [];
  const { run: id, version } = committed;
  const notice: CommitNotice = {
    run: id,
    version,
    seq: record.nextSeq - count,
    asks: plan.decisions.some(({ status }) => status === 'open'),
    stream,
    get events() {
      return events();
    },
  };
  return ok({ committed, notice });
}

/** The current state of a run, to judge its next record. */
export function viewOf(tables: RunTables, found: NumberedRun | undefined): CommitView {
  const { runs, records, intervals, transitions, streams } = tables;
  const n = found?.n ?? -1;
  return {
    run: () => found?.record,
    otherRun: run => findRun(tables, run)?.record,
    runOfKey: key => runs.idOfKey(key),
    taskStatus: id => records.taskStatus(n, id),
    decision: id => records.decision(n, id),
    artifactVersion: key => records.artifactVersion(n, key),
    last: (space, key) => intervals.last(n, space, key),
    lastTransition: key => transitions.last(n, key),
    hasUsage: call => records.hasUsage(n, call),
    hasChunk: chunk => streams.has(n, chunk),
    beginning(fork, inherit) {
      const parent = findRun(tables, inherit.run)?.n ?? -1;
      return {
        intervals: intervals.heldAt(parent, inherit.frame),
        tasks: records.heldTasks(parent, inherit.frame).map(({ task, ...held }) => ({
          ...held,
          task: { ...task, id: inheritedTaskId(fork, task.id), handledFrame: 0 },
        })),
      };
    },
  };
}

/**
 * Writes the effects of a record into the tables that follow from the log, for commits and for rebuilds. Returns the run's number; a new
 * run gets the next one unless one is given.
 */
export function projectOutcome(
  tables: RunTables,
  n: number | undefined,
  outcome: Outcome,
  withDetails: boolean,
): number {
  const { record, begins, retention, frame } = outcome;
  const isNew = record.records === 1;
  const run = isNew || n === undefined ? tables.runs.insert(record, n) : n;
  if (!isNew) tables.runs.update(run, record, withDetails);
  if (begins !== undefined) {
    tables.intervals.begin(run, begins.intervals);
    tables.transitions.begin(run, INHERITED, record.createdAt);
    tables.records.beginTasks(run, begins.tasks);
  }
  if (retention?.collapse !== undefined) tables.collapse.apply(run, record);
  if (frame !== undefined) tables.frames.insert(run, frame);
  for (const interval of outcome.intervals) tables.intervals.put(run, interval);
  for (const transition of outcome.transitions) tables.transitions.insert(run, transition);
  for (const task of outcome.tasks) tables.records.putTask(run, task);
  for (const decision of outcome.decisions) tables.records.putDecision(run, decision);
  for (const artifact of outcome.artifacts) tables.records.insertArtifact(run, artifact);
  for (const usage of outcome.usage) tables.records.insertUsage(run, usage);
  for (const chunk of outcome.stream) tables.streams.insert(run, chunk);
  return run;
}

export function findRun({ known, runs }: RunTables, run: RunId): NumberedRun | undefined {
  return known.get(run) ?? runs.find(run);
}
