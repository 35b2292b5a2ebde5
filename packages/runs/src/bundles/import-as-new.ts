import {
  type ApprovalId,
  chainHead,
  type Digest,
  deriveId,
  EMPTY_HEAD,
  type EventId,
  type Hasher,
  type Json,
  type NodeId,
  type RunId,
  type Timestamp,
} from '@signalbox/model';
import { canonicalEvent } from '../events/canonical-event.ts';
import type { AnyEvent } from '../events/stored-event.ts';
import { contractNodeId, decisionIdOf, type NodeKey, subPlanRunId, type TaskId, taskIdOf } from '../ids.ts';

import type { RunRecord } from '../run/run-record.ts';
import type { ArchiveRow, ArchiveRows } from './archive-row.ts';

/**
 * Turns the rows of runs that were made elsewhere into those of new runs.
 *
 * 1. Every id is new, and derives from the new run's as it did from the old one's, so that whoever takes the run up finds
 *    its tasks, questions and children.
 * 2. What frames show is left as it is, so their hashes still hold. The events are chained anew.
 * 3. The first event and the record say where the run comes from.
 */
export interface ImportAsNew {
  /** The rows to keep in the place of this one; none where they wait for the end of the journal. */
  take(row: ArchiveRow): readonly ArchiveRow[];
  /** The run is over; its last rows. */
  end(): readonly ArchiveRow[];
}

export interface ImportFacts {
  /** The id of the run that the others are below. */
  readonly root: RunId;
  /** The id of what it becomes. */
  readonly run: RunId;
  readonly bundle: Digest;
  readonly at: Timestamp;
  readonly by: string;
  readonly eventIds: () => EventId;
  readonly hasher: Hasher;
  /** Where its agents work here. */
  readonly workingDirectory?: string | undefined;
}

/** How far restarts of tasks are looked for. */
const MAX_RESTARTS = 1000;

export function importAsNew(facts: ImportFacts): ImportAsNew {
  /** Ids of the new runs, by those that they had. A run comes before those below it. */
  const runs = new Map<RunId, RunId>([[facts.root, facts.run]]);
  let old: RunRecord | undefined;
  let run: RunId;
  let ids = new Map<string, string>();
  let head: Digest = EMPTY_HEAD;
  let seq = 0;

  function begin(record: RunRecord): readonly ArchiveRow[] {
    old = record;
    run = newRun(record);
    runs.set(record.id, run);
    ids = new Map<string, string>(runs);
    head = EMPTY_HEAD;
    seq = 0;
    return [{ part: 'record', row: recordOf(record) }];
  }

  /** A child is found by the id that its parent derives for it. */
  function newRun({ id, origin }: RunRecord): RunId {
    const parent = origin?.kind === 'sub-plan' ? runs.get(origin.run) : undefined;
    if (id === facts.root || origin?.kind !== 'sub-plan' || parent === undefined) return facts.run;
    const { node, iteration } = origin;
    const child = numberOf(count => subPlanRunId(origin.run, node, iteration, count) === id);
    return child === undefined
      ? deriveId<RunId>('imported-run', facts.run, id)
      : subPlanRunId(parent, node, iteration, child);
  }

  function recordOf(record: RunRecord): RunRecord {
    const { owner: _, idempotencyKey: __, ...kept } = record;
    const isCutOff = record.status === 'running' || record.status === 'queued';
    const origin = originOf(record);
    return {
      ...kept,
      id: run,
      status: isCutOff ? 'paused' : record.status,
      ...(origin === undefined ? {} : { origin }),
      ...(facts.workingDirectory === undefined ? {} : { workingDirectory: facts.workingDirectory }),
    };
  }

  function originOf({ id, origin, head: was }: RunRecord): RunRecord['origin'] {
    if (id === facts.root) return { kind: 'import', run: id, head: was, bundle: facts.bundle };
    return origin?.kind === 'sub-plan' ? { ...origin, run: runs.get(origin.run) ?? origin.run } : origin;
  }

  function newTask(row: ArchiveRows['tasks']): ArchiveRows['tasks'] {
    const { node, iteration, signature } = row;
    const restart = numberOf(count => taskIdOf(old?.id as RunId, node, iteration, signature, count) === row.id);
    const id =
      restart === undefined
        ? (deriveId<NodeId>('imported-task', run, row.id) as string as TaskId)
        : taskIdOf(run, node, iteration, signature, restart);
    ids.set(row.id, id);
    return { ...row, id };
  }

  function newDecision(row: ArchiveRows['decisions']): ArchiveRows['decisions'] {
    const call = mapped(row.call);
    const isDerived = decisionIdOf(old?.id as RunId, row.node, row.iteration, row.call) === row.id;
    const id = isDerived
      ? decisionIdOf(run, row.node, row.iteration, call)
      : deriveId<ApprovalId>('imported-decision', run, row.id);
    ids.set(row.id, id);
    return { ...row, id, call };
  }

  function newArtifact(row: ArchiveRows['artifacts']): ArchiveRows['artifacts'] {
    const id = deriveId<typeof row.id>('imported-artifact', run, row.id);
    ids.set(row.id, id);
    return { ...row, id, ...taskOf(row) };
  }

  const mapped = (text: string): string => ids.get(text) ?? text;
  const taskOf = <Row extends { readonly task?: TaskId | undefined }>({ task }: Row) =>
    task === undefined ? {} : { task: mapped(task) as TaskId };

  function chained(event: object): ArchiveRow {
    const placed = { ...event, runId: run, seq } as AnyEvent;
    seq += 1;
    head = chainHead(facts.hasher, head, canonicalEvent(placed));
    return { part: 'journal', row: { event: placed, hash: head } };
  }

  function newEvent(event: AnyEvent): ArchiveRow {
    const renamed = withIds(event as unknown as Json, ids) as unknown as AnyEvent;
    const id = deriveId<EventId>('imported-event', run, event.id);
    if (event.type !== 'run.created' || old === undefined) return chained({ ...renamed, id });
    const origin = originOf(old);
    return chained({ ...renamed, id, ...(origin === undefined ? {} : { origin }) });
  }

  return {
    take({ part, row }) {
      switch (part) {
        case 'record':
          return begin(row);
        case 'tasks':
          return [{ part, row: newTask(row) }];
        case 'decisions':
          return [{ part, row: newDecision(row) }];
        case 'artifacts':
          return [{ part, row: newArtifact(row) }];
        case 'intervals': {
          const node = row.key as NodeKey;
          if (row.space === 'node') ids.set(contractNodeId(old?.id as RunId, node), contractNodeId(run, node));
          return [{ part, row }];
        }
        case 'frames':
        case 'transitions':
          return [{ part, row } as ArchiveRow];
        case 'usage':
          return [{ part, row: { ...row, call: mapped(row.call), ...taskOf(row) } }];
        case 'stream':
          return [{ part, row: { ...row, task: mapped(row.task) as TaskId } }];
        case 'journal':
          return [newEvent(row.event)];
      }
    },
    end() {
      if (old === undefined) return [];
      const record = recordOf(old);
      const envelope = () => ({ v: 1, id: facts.eventIds(), ts: facts.at });
      const { id, head: was, status } = old;
      const rows = [
        chained({ ...envelope(), type: 'run.imported', run: id, head: was, bundle: facts.bundle, by: facts.by }),
      ];
      if (record.status !== status) {
        rows.push(chained({ ...envelope(), type: 'run.status', from: status, to: record.status }));
      }
      const { inputSeq } = old;
      const last = { ...record, nextSeq: seq, head, inputSeq: Math.min(inputSeq, seq), updatedAt: facts.at };
      return [...rows, { part: 'record', row: last }];
    },
  };
}

function numberOf(fits: (count: number) => boolean): number | undefined {
  for (let count = 0; count <= MAX_RESTARTS; count++) if (fits(count)) return count;
  return undefined;
}

/** Ids are whole texts, so nothing that an author wrote is changed by chance. */
function withIds(value: Json, ids: ReadonlyMap<string, string>): Json {
  if (typeof value === 'string') return ids.get(value) ?? value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(item => withIds(item, ids));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withIds(member as Json, ids)]));
}
