import type { DatabaseSync } from 'node:sqlite';
import {
  chainHead,
  type Digest,
  EMPTY_HEAD,
  type ErrorEnvelope,
  err,
  failure,
  type Hasher,
  ok,
  type RunId,
} from '@signalbox/model';
import {
  type ArchiveRow,
  type ArchiveRows,
  applyChange,
  canonicalEvent,
  type IntervalSpace,
  type Maybe,
  type RestoreError,
  type RunRecord,
  type RunRestore,
} from '@signalbox/runs';
import type { RunTables } from '../runs/member.ts';
import { SQLITE_CONSTRAINT, sqliteCode } from '../sqlite/connection.ts';
import { StoreDamage, StoreFault } from '../sqlite/json-column.ts';

export interface RestorePorts {
  readonly database: DatabaseSync;
  readonly tables: RunTables;
  readonly hasher: Hasher;
  /** What is remembered of rows may be wrong. */
  readonly forget: () => void;
}

/** Keeps the rows of runs in one transaction: a process that is killed leaves all of it or nothing. */
export function restoreRuns(ports: RestorePorts): RunRestore {
  const { database, forget } = ports;
  return {
    restore(rows) {
      forget();
      try {
        database.exec('begin immediate');
        const runs = keepAll(ports, rows);
        database.exec('commit');
        return ok(runs);
      } catch (cause) {
        if (database.isTransaction) database.exec('rollback');
        if (cause instanceof Refusal) return err(cause.envelope);
        return err(failureOf(cause));
      } finally {
        forget();
      }
    },
  };
}

/** A run that is being kept. */
interface Open {
  readonly n: number;
  readonly first: RunRecord;
  head: Digest;
  events: number;
  frames: number;
  last: { readonly space: IntervalSpace; readonly key: string; readonly value: Maybe } | undefined;
  readonly state: Map<string, Maybe>;
  isClosed: boolean;
}

function keepAll({ tables, hasher }: RestorePorts, rows: Iterable<ArchiveRow>): readonly RunId[] {
  const kept: RunId[] = [];
  let open: Open | undefined;
  for (const { part, row } of rows) {
    if (part === 'record') {
      if (open !== undefined && row.id === open.first.id) close(tables, open, row);
      else {
        finish(open);
        open = begin(tables, row);
        kept.push(row.id);
      }
      continue;
    }
    if (open === undefined || open.isClosed) throw refusal('BUNDLE_INVALID_FORMAT', `rows of ${part} have no run`);
    switch (part) {
      case 'tasks':
        tables.records.putTask(open.n, row);
        break;
      case 'decisions':
        tables.records.putDecision(open.n, row);
        break;
      case 'artifacts':
        tables.records.insertArtifact(open.n, row);
        break;
      case 'intervals':
        putInterval(tables, open, row);
        break;
      case 'frames':
        open.frames += 1;
        tables.events.insertFrame(open.n, row);
        break;
      case 'transitions':
        putTransition(tables, open, row);
        break;
      case 'usage':
        tables.records.insertUsage(open.n, row);
        break;
      case 'stream':
        tables.streams.insert(open.n, row);
        break;
      case 'journal':
        putEvent(tables, hasher, open, row);
    }
  }
  finish(open);
  return kept;
}

function begin(tables: RunTables, record: RunRecord): Open {
  if (tables.runs.find(record.id) !== undefined) throw new Refusal(taken(record.id));
  const n = tables.runs.insert(record);
  const counts = { events: 0, frames: 0, head: EMPTY_HEAD };
  return { n, first: record, ...counts, last: undefined, state: new Map(), isClosed: false };
}

/** What the journal came to is what the record says. */
function close(tables: RunTables, open: Open, record: RunRecord): void {
  tables.runs.update(open.n, record, true);
  open.isClosed = true;
  if (record.nextSeq === open.events && record.head === open.head) return;
  throw refusal(
    'BUNDLE_INTEGRITY_FAILED',
    `run ${record.id} says that its ${record.nextSeq} events end in ${record.head}, but ${open.events} end in ${open.head}`,
  );
}

function finish(open: Open | undefined): void {
  if (open !== undefined && !open.isClosed) throw refusal('BUNDLE_INVALID_FORMAT', `run ${open.first.id} has no end`);
}

function putInterval(tables: RunTables, open: Open, row: ArchiveRows['intervals']): void {
  const { space, key, change } = row;
  const before = open.last?.space === space && open.last.key === key ? open.last.value : undefined;
  const value = applied(`the ${space} of '${key}'`, before, change);
  open.last = { space, key, value };
  tables.intervals.put(open.n, { ...row, value });
}

function putTransition(tables: RunTables, open: Open, row: ArchiveRows['transitions']): void {
  const value = applied(`the transition of '${row.key}'`, open.state.get(row.key), row.change);
  open.state.set(row.key, value);
  tables.transitions.insert(open.n, { ...row, value });
}

function applied(what: string, before: Maybe, change: ArchiveRows['intervals']['change']): Maybe {
  const value = applyChange(before, change);
  if (!value.ok) throw refusal('BUNDLE_INVALID_FORMAT', `${what} does not follow what is before it: ${value.error}`);
  return value.value;
}

function putEvent(tables: RunTables, hasher: Hasher, open: Open, { event, hash }: ArchiveRows['journal']): void {
  const canonical = canonicalEvent(event);
  const isNext = event.seq === open.events && event.runId === open.first.id;
  if (!isNext) throw refusal('BUNDLE_EVENT_ORDER_INVALID', `event ${event.seq} is not in its place`);
  open.head = chainHead(hasher, open.head, canonical);
  open.events += 1;
  if (open.head !== hash) throw refusal('BUNDLE_INTEGRITY_FAILED', `the hash of event ${event.seq} does not hold`);
  tables.events.insert(open.n, [{ event, canonical, hash }], false);
}

class Refusal extends Error {
  readonly envelope: RestoreError;

  constructor(envelope: RestoreError) {
    super(envelope.message);
    this.envelope = envelope;
  }
}

function refusal(
  code: 'BUNDLE_INVALID_FORMAT' | 'BUNDLE_EVENT_ORDER_INVALID' | 'BUNDLE_INTEGRITY_FAILED',
  why: string,
): Refusal {
  return new Refusal(
    failure(code, {
      message: `Nothing was kept: ${why}.`,
      suggestion: 'Export the run again where it is; this copy cannot be relied on.',
    }),
  );
}

function taken(run: RunId): ErrorEnvelope<'run/exists'> {
  return failure('run/exists', {
    message: `Run ${run} is here already.`,
    suggestion: 'Look at it, or import the bundle as a new run.',
    details: { run },
  });
}

function failureOf(cause: unknown): RestoreError {
  const code = sqliteCode(cause);
  const why = cause instanceof Error ? cause.message : String(cause);
  if (code === SQLITE_CONSTRAINT || cause instanceof StoreDamage) return refusal('BUNDLE_INVALID_FORMAT', why).envelope;
  if (code === undefined && !(cause instanceof StoreFault)) throw cause;
  return failure('STORE_IO_FAILED', {
    message: `Nothing was kept: ${why}.`,
    suggestion: 'See that the disk is writable and not full, then import again.',
    retry: { kind: 'retryable_immediate' },
  });
}
