import type { DatabaseSync } from 'node:sqlite';
import {
  type Digest,
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type Result,
  type RunId,
  type Timestamp,
} from '@signalbox/model';
import type { CommitNotice, EventDraft, RetainedRun, RunRecord } from '@signalbox/runs';
import type { Applied, RunTables } from '../runs/member.ts';
import { type NumberedRun, RUN_COLUMNS } from '../runs/run-rows.ts';
import { sqliteCode } from '../sqlite/connection.ts';
import type { JsonColumns } from '../sqlite/json-column.ts';
import { namesIn } from './blob-names.ts';
import { addReferences, type BlobFile, oldBlobs, removeBlob } from './blob-sweep.ts';
import { type CollapsePlan, collapseRows } from './collapse-rows.ts';
import { allRows } from './run-rows-of-all-tables.ts';

/**
 * Taking runs away, and parts of them. Each call is one transaction: a process that is killed leaves a run as it was, or
 * as it was to become.
 */
export interface RetentionStore {
  /** Every run, as far as it matters for how long it stays. */
  retained(): readonly Omit<RetainedRun, 'isDriven'>[];
  /** Marks a run as one that stays, or takes the mark away. */
  keep(run: RunId, kept: RunRecord['kept'], told: Told): Result<RunRecord, RetentionError>;
  /** What collapsing a run would take away; nothing is changed. */
  weighCollapse(run: RunId): Weight;
  collapse(run: RunId, tell: (ranges: CollapsePlan['ranges']) => Told): Result<Weight, RetentionError>;
  weigh(runs: readonly RunId[]): number;
  /** All of them or none. */
  remove(runs: readonly RunId[]): Result<void, RetentionError>;
  /** Old blobs that no row refers to, nor any of the texts, nor another blob that stays. Rows of `without` do not count. */
  unreferenced(options: {
    readonly nowMs: number;
    readonly without: readonly RunId[];
    readonly texts: Iterable<string>;
  }): Promise<readonly BlobFile[]>;
  removeBlobs(blobs: readonly BlobFile[], nowMs: number): readonly BlobFile[];
  /** Gives the room of what was removed back to the disk. Takes as long as writing the database anew. */
  compact(): void;
}

export type RetentionError = ErrorEnvelope<'STORE_IO_FAILED' | 'run/unknown'>;

/** The event that tells it, in the same transaction. */
export interface Told {
  readonly at: Timestamp;
  readonly event: EventDraft;
}

export interface Weight {
  readonly frames: number;
  readonly bytes: number;
}

export interface RetentionPorts {
  readonly database: DatabaseSync;
  readonly tables: RunTables;
  readonly json: JsonColumns;
  /** The data directory. */
  readonly home: string;
  /** Writes an event from outside the driver into the open transaction. */
  readonly note: (run: RunId, told: Told) => Result<Applied, ErrorEnvelope>;
  readonly tell: (notices: readonly CommitNotice[]) => void;
  /** What is remembered of rows is not so any more. */
  readonly forget: () => void;
  readonly forgetBlob: (name: Digest) => void;
}

export function retentionStore(ports: RetentionPorts): RetentionStore {
  const { database, tables, json, home, note, tell, forget, forgetBlob } = ports;
  const all = allRows(database);
  const collapsing = collapseRows(database, tables, json);
  const listed = database.prepare(
    `select ${RUN_COLUMNS} from runs join run_details on run_details.run = runs.n order by n`,
  );
  const numbers = database.prepare('select n, id from runs order by n');

  /** What `work` answers is committed before it is told, or nothing of it is there. */
  function transaction<T>(work: () => T): Result<T, RetentionError> {
    try {
      database.exec('begin immediate');
      const done = work();
      database.exec('commit');
      return ok(done);
    } catch (cause) {
      if (database.isTransaction) database.exec('rollback');
      if (cause instanceof Refusal) return err(cause.envelope);
      if (sqliteCode(cause) === undefined) throw cause;
      return err(notWritten(cause));
    } finally {
      forget();
    }
  }

  function found(run: RunId): NumberedRun {
    const numbered = tables.runs.find(run);
    if (numbered === undefined) throw new Refusal(unknown(run));
    return numbered;
  }

  /** Puts fields into the record of a run, with the event that tells it. */
  function noted(
    run: RunId,
    told: Told,
    fields: Pick<RunRecord, 'kept' | 'collected'>,
  ): { record: RunRecord; notice: CommitNotice } {
    found(run);
    const applied = note(run, told);
    if (!applied.ok) throw new Refusal(notWritten(applied.error));
    const { n, record } = found(run);
    const { kept: _, ...rest } = record;
    const changed = 'kept' in fields ? { ...rest, ...withoutUndefined(fields) } : { ...record, ...fields };
    tables.runs.update(n, changed, true);
    return { record: changed, notice: applied.value.notice };
  }

  return {
    retained: () => listed.all().map(row => retainedOf(tables.runs.fromRow(row).record)),
    keep(run, kept, told) {
      const done = transaction(() => noted(run, told, { kept }));
      if (!done.ok) return done;
      tell([done.value.notice]);
      return ok(done.value.record);
    },
    weighCollapse(run) {
      const numbered = tables.runs.find(run);
      return numbered === undefined ? { frames: 0, bytes: 0 } : weightOf(collapsing.plan(numbered.n, numbered.record));
    },
    collapse(run, toldOf) {
      const done = transaction(() => {
        const { n, record } = found(run);
        const plan = collapsing.plan(n, record);
        collapsing.apply(n, plan);
        const { notice } = noted(run, toldOf(plan.ranges), {
          collected: [...(record.collected ?? []), ...plan.ranges],
        });
        return { weight: weightOf(plan), notice };
      });
      if (!done.ok) return done;
      tell([done.value.notice]);
      return ok(done.value.weight);
    },
    weigh: runs => runs.reduce((sum, run) => sum + all.bytesOf(tables.runs.find(run)?.n ?? -1), 0),
    remove: runs =>
      transaction(() => {
        for (const run of runs) all.remove(tables.runs.find(run)?.n ?? -1);
      }),
    async unreferenced({ nowMs, without, texts }) {
      const old = oldBlobs(home, nowMs);
      if (old.length === 0) return [];
      const live = new Set<string>();
      const gone = new Set<unknown>(without);
      for (const { n, id } of numbers.all()) {
        if (gone.has(id)) continue;
        for (const value of all.values(Number(n))) for (const name of namesIn(value)) live.add(name);
        // Others have their turn between two runs; what they refer to anew is young.
        await new Promise(resolve => setImmediate(resolve));
      }
      for (const text of texts) for (const name of namesIn(text)) live.add(name);
      addReferences(home, live);
      return old.filter(({ name }) => name === undefined || !live.has(name));
    },
    removeBlobs(blobs, nowMs) {
      return blobs.filter(blob => {
        const isGone = removeBlob(blob, nowMs);
        if (isGone && blob.name !== undefined) forgetBlob(`sha256:${blob.name}` as Digest);
        return isGone;
      });
    },
    compact() {
      database.exec('vacuum');
      database.exec('pragma wal_checkpoint(truncate)');
    },
  };
}

/** Thrown to where the transaction is. */
class Refusal extends Error {
  readonly envelope: RetentionError;

  constructor(envelope: RetentionError) {
    super(envelope.message);
    this.envelope = envelope;
  }
}

function retainedOf({
  id,
  status,
  endedAt,
  origin,
  kept,
  collected,
  frames,
}: RunRecord): Omit<RetainedRun, 'isDriven'> {
  return { id, status, endedAt, origin, isKept: kept !== undefined, isCollapsed: collected !== undefined, frames };
}

function weightOf({ ranges, bytes }: CollapsePlan): Weight {
  return { frames: ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0), bytes };
}

function withoutUndefined(fields: Pick<RunRecord, 'kept' | 'collected'>): Partial<RunRecord> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function notWritten(cause: unknown): RetentionError {
  return failure('STORE_IO_FAILED', {
    message: `Nothing was changed: ${(cause as { readonly message?: string }).message ?? String(cause)}.`,
    suggestion: 'See that the disk is writable and not full, then do it again: it is safe to repeat.',
    retry: { kind: 'retryable_immediate' },
  });
}

function unknown(run: RunId): RetentionError {
  return failure('run/unknown', {
    message: `There is no run ${run} in this data directory.`,
    suggestion: 'See "signalbox ls" for the runs there are.',
    details: { run },
  });
}
