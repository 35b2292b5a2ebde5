import type { DatabaseSync } from 'node:sqlite';
import { sqliteCode } from '@signalbox/journal';
import { type Digest, type ErrorEnvelope, err, failure, ok, type Result, type RunId } from '@signalbox/model';
import {
  type AnyEvent,
  type FrameRange,
  keptFrames,
  type RetainedRun,
  type RunRecord,
  rangesBetween,
} from '@signalbox/runs';
import { type NumberedRun, RUN_COLUMNS } from '../runs/run-rows.ts';
import type { RunTables } from '../runs/run-tables.ts';
import { SQLITE_FULL } from '../sqlite/connection.ts';
import { namesIn } from './blob-names.ts';
import { addReferences, type BlobFile, oldBlobs, removeBlob } from './blob-sweep.ts';
import { allRows } from './run-rows-of-all-tables.ts';

/** Removes runs, and parts of them. Each call is one transaction: a killed process leaves a run as before or as intended. */
export interface RetentionStore {
  /** Every run, with the fields that matter to retention. */
  retained(): readonly Omit<RetainedRun, 'isDriven'>[];
  /** The frames that collapsing a run would collect, and what that would free; changes nothing. */
  weighCollapse(run: RunId): Weight & { readonly ranges: readonly FrameRange[] };
  weigh(runs: readonly RunId[]): number;
  /** All of them or none. */
  remove(runs: readonly RunId[]): Result<void, RetentionError>;
  /** Old blobs that no row, text or remaining blob refers to. Rows of `without` do not count. */
  unreferenced(options: {
    readonly nowMs: number;
    readonly without: readonly RunId[];
    readonly texts: Iterable<string>;
  }): Promise<readonly BlobFile[]>;
  /** The names of all blobs that rows, texts or other blobs refer to. */
  referenced(texts: Iterable<string>): ReadonlySet<string>;
  removeBlobs(blobs: readonly BlobFile[], nowMs: number): readonly BlobFile[];
  /** Returns freed space to the disk. Takes as long as rewriting the database. */
  compact(): void;
}

type RetentionError = ErrorEnvelope<'STORE_IO_FAILED'>;

interface Weight {
  readonly frames: number;
  readonly bytes: number;
}

export interface RetentionPorts {
  /** The bytes that collecting frames would remove from the log. */
  readonly weighLog: (run: RunId, frames: readonly FrameRange[]) => number;
  readonly database: DatabaseSync;
  readonly tables: RunTables;
  /** The data directory. */
  readonly home: string;
  /** Clears caches of rows. */
  readonly forget: () => void;
  readonly forgetBlob: (name: Digest) => void;
}

export function retentionStore(ports: RetentionPorts): RetentionStore {
  const { database, tables, home, forget, forgetBlob, weighLog } = ports;
  const all = allRows(database);
  const forks = database.prepare(
    `select ${RUN_COLUMNS} from runs join run_details on run_details.run = runs.n
     where origin_run = ? and origin_kind = 'fork'`,
  );
  const listed = database.prepare(
    `select ${RUN_COLUMNS} from runs join run_details on run_details.run = runs.n
     order by created_at, id`,
  );
  const numbers = database.prepare('select n, id from runs order by n');

  /** Returns the result of `work` once it is committed; otherwise nothing of it is stored. */
  function transaction<T>(work: () => T): Result<T, RetentionError> {
    for (let tries = 1; ; tries++) {
      try {
        database.exec('begin immediate');
        const done = work();
        database.exec('commit');
        return ok(done);
      } catch (cause) {
        if (database.isTransaction) database.exec('rollback');
        if (sqliteCode(cause) === undefined) throw cause;
        // What the log of earlier transactions takes may be enough.
        if (sqliteCode(cause) !== SQLITE_FULL || tries > 1 || !emptiesLog()) return err(notWritten(cause));
      } finally {
        forget();
      }
    }
  }

  /** Moves the write-ahead log into the database, and returns its space to the disk. */
  function emptiesLog(): boolean {
    try {
      return database.prepare('pragma wal_checkpoint(truncate)').get()?.busy === 0;
    } catch {
      return false;
    }
  }

  function* eventsOf(n: number): Generator<AnyEvent> {
    for (const record of tables.log.records(n, 0)) {
      for (const { event } of tables.log.told(n, record, 'a record')) yield event;
    }
  }

  function rangesOf({ n, record }: NumberedRun): readonly FrameRange[] {
    const forkedAt = forks.all(record.id).flatMap(row => {
      const { origin } = tables.runs.fromRow(row).record;
      return origin?.kind === 'fork' ? [origin.frame] : [];
    });
    return rangesBetween(keptFrames(eventsOf(n), record.frames, forkedAt), record.frames);
  }

  return {
    retained: () => listed.all().map(row => retainedOf(tables.runs.fromRow(row).record)),
    weighCollapse(run) {
      const found = tables.runs.find(run);
      if (found === undefined) return { ranges: [], frames: 0, bytes: 0 };
      const ranges = rangesOf(found);
      const bytes = tables.collapse.weigh(found.n, { ...found.record, collected: ranges }) + weighLog(run, ranges);
      return { ranges, frames: ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0), bytes };
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
        // Lets others run between two runs; any blobs they refer to are young.
        await new Promise(resolve => setImmediate(resolve));
      }
      for (const value of [...all.projectValues(), ...texts]) for (const name of namesIn(value)) live.add(name);
      addReferences(home, live);
      return old.filter(({ name }) => name === undefined || !live.has(name));
    },
    referenced(texts) {
      const live = new Set<string>();
      for (const { n } of numbers.all()) {
        for (const value of all.values(Number(n))) for (const name of namesIn(value)) live.add(name);
      }
      for (const value of [...all.projectValues(), ...texts]) for (const name of namesIn(value)) live.add(name);
      addReferences(home, live);
      return live;
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

function notWritten(cause: unknown): RetentionError {
  return failure('STORE_IO_FAILED', {
    message: `Nothing was changed: ${(cause as { readonly message?: string }).message ?? String(cause)}.`,
    suggestion: 'Make sure that the disk is writable and not full, then try again: it is safe to repeat.',
    retry: { kind: 'retryable_immediate' },
  });
}
