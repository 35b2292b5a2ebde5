import { sqliteCode } from '@signalbox/journal';
import {
  Bug,
  type Digest,
  type ErrorEnvelope,
  type EventId,
  err,
  failure,
  ok,
  type Result,
  type RunId,
  type SecretFilter,
  type Timestamp,
} from '@signalbox/model';
import {
  type CommitNotice,
  collapseBodies,
  type EventDraft,
  type FrameRange,
  isInRanges,
  redactLog,
} from '@signalbox/runs';
import type { RunTables } from '../runs/run-tables.ts';
import { type JsonColumns, StoreDamage, StoreFault } from '../sqlite/json-column.ts';
import type { MemoryTables } from '../verify/replay-log.ts';
import {
  isSameAt,
  type LeftLog,
  planTaking,
  readWhole,
  type TakeAwayPorts,
  type TakingFacts,
  type WholeLog,
  writeTaking,
} from './take-away.ts';

/** Permanently removes parts of runs. Each call is one transaction. */
export interface TakenAwayStore {
  /** The bytes that collecting these frames would remove from the log; changes nothing. */
  weighCollapse(run: RunId, frames: readonly FrameRange[]): number;
  collapse(run: RunId, frames: readonly FrameRange[], request: TakeRequest): Result<Taken, TakeError>;
  /** Redacts a secret from a run. Does nothing if the run does not contain it. */
  redact(run: RunId, request: RedactRequest): Result<Taken, TakeError>;
  /** Runs whose log or message parts contain a secret. */
  holders(filter: Pick<SecretFilter, 'has'>): readonly RunId[];
  /** Overwrites freed space on disk; returns false while a reader still uses the old data. */
  scrub(): boolean;
}

interface TakeRequest {
  readonly at: Timestamp;
  readonly by: string;
  readonly why: string;
  readonly eventId: EventId;
}

interface RedactRequest extends TakeRequest {
  readonly name: string;
  readonly filter: Pick<SecretFilter, 'text' | 'data' | 'has'>;
  /** Only report what would change. */
  readonly dryRun?: boolean | undefined;
}

export interface Taken {
  /** The numbers of the records whose bodies were replaced. */
  readonly records: readonly number[];
  readonly bytes: number;
  /** Whether message parts contained it. */
  readonly hadDeltas?: boolean;
}

type TakeError = ErrorEnvelope<'STORE_IO_FAILED' | 'run/unknown' | 'store/damaged'>;

export interface TakenAwayPorts extends TakeAwayPorts {
  readonly json: JsonColumns;
  readonly tables: RunTables;
  readonly forget: () => void;
  readonly tell: (notices: readonly CommitNotice[]) => void;
}

export function takenAwayStore(ports: TakenAwayPorts): TakenAwayStore {
  const { database, tables, seal, blobs, forget, tell } = ports;
  const logs = database.prepare('select n, id from runs order by created_at, id');
  const deltasOf = database.prepare(
    `select task, payload from stream where run = ? and kind in ('token', 'thinking') order by task, idx`,
  );

  /** Reads a run, plans the removal and writes it. */
  function take(
    run: RunId,
    dryRun: boolean,
    plan: (whole: WholeLog) => LeftLog | undefined,
  ): Result<Omit<Taken, 'hadDeltas'>, TakeError> {
    const found = tables.runs.find(run);
    if (found === undefined) return err(unknown(run));
    let whole: WholeLog | undefined;
    let left: LeftLog | undefined;
    try {
      database.exec('begin immediate');
      whole = readWhole(ports, found);
      left = plan(whole);
      if (left !== undefined && !dryRun) writeTaking(ports, found, left);
      database.exec(dryRun ? 'rollback' : 'commit');
      if (left === undefined) return ok({ records: [], bytes: 0 });
      if (!dryRun) tell([left.notice]);
      return ok({ records: left.records, bytes: Math.max(0, left.bytes) });
    } catch (cause) {
      if (cause instanceof StoreDamage) return err(damaged(run, cause.message));
      if (sqliteCode(cause) === undefined && !(cause instanceof StoreFault)) throw cause;
      return err(notWritten(run, (cause as Error).message));
    } finally {
      if (database.isTransaction) database.exec('rollback');
      whole?.memory.database.close();
      left?.memory.database.close();
      forget();
    }
  }

  function planCollapse(whole: WholeLog, frames: readonly FrameRange[], facts: TakingFacts): LeftLog | undefined {
    const { n, record } = whole.found;
    const left = planTaking(ports, whole, () => collapseBodies(whole.replayed, frames, record.frames), facts);
    if (left === undefined) return undefined;
    for (let frame = 0; frame <= record.frames; frame++) {
      if (frame < record.frames && isInRanges([...(record.collected ?? []), ...frames], frame)) continue;
      if (isSameAt(whole.memory, left.memory, n, frame)) continue;
      left.memory.database.close();
      throw new Bug(`frame ${frame} of run ${record.id} would not be what it was`);
    }
    return left;
  }

  function collapse(run: RunId, frames: readonly FrameRange[], request: TakeRequest, dryRun: boolean) {
    const { at, by, why, eventId } = request;
    const event = { id: eventId, ts: at, type: 'run.collapsed', frames, by } as EventDraft;
    const retention = { collapse: frames };
    return take(run, dryRun, whole =>
      planCollapse(whole, frames, { at, kind: 'collapse', by, why, retention, event: () => event }),
    );
  }

  /** A secret may span two message parts. */
  function hasInDeltas(n: number, { has }: Pick<SecretFilter, 'has'>): boolean {
    const texts = new Map<unknown, string>();
    for (const { task, payload } of deltasOf.iterate(n)) {
      const text = typeof payload === 'string' ? payload : ports.json.textOf(payload);
      const said: unknown = JSON.parse(text);
      texts.set(task, (texts.get(task) ?? '') + (typeof said === 'string' ? said : text));
    }
    return texts.values().some(has);
  }

  function hasInLog(n: number, { has }: Pick<SecretFilter, 'has'>): boolean {
    for (const { body } of tables.log.records(n, 0)) if (has(body)) return true;
    return false;
  }

  function redactContent(filter: RedactRequest['filter'], { putBytes }: MemoryTables, name: Digest) {
    const content = blobs.get(name);
    const text = content.ok ? Buffer.from(content.value).toString('latin1') : '';
    if (!filter.has(text)) return undefined;
    const left = Buffer.from(filter.text(text), 'latin1');
    return { blob: putBytes(left), bytes: left.length };
  }

  return {
    weighCollapse(run, frames) {
      const request = { at: NEVER, by: 'nobody', why: 'weighed', eventId: NO_EVENT };
      const weighed = collapse(run, frames, request, true);
      return weighed.ok ? weighed.value.bytes : 0;
    },
    collapse: (run, frames, request) => collapse(run, frames, request, false),
    redact(run, { at, by, why, eventId, name, filter, dryRun = false }) {
      const event = (records: readonly number[]) =>
        ({ id: eventId, ts: at, type: 'run.redacted', records, name, by, why }) as EventDraft;
      const n = tables.runs.find(run)?.n ?? -1;
      const hadDeltas = hasInDeltas(n, filter);
      const done = take(run, dryRun, whole => {
        const rewriteWith = (memory: MemoryTables) =>
          redactLog({
            filter,
            hasher: ports.hasher,
            salt: seal.salt,
            textOf: memory.json.blobText,
            putText: memory.json.putText,
            redactContent: blob => redactContent(filter, memory, blob),
          });
        return planTaking(ports, whole, rewriteWith, { at, kind: 'redaction', by, why, event });
      });
      if (!done.ok) return done;
      // Message parts are not facts: they exist only in their rows.
      if (hadDeltas && done.value.records.length === 0 && !dryRun) {
        database.prepare(`delete from stream where run = ? and kind in ('token', 'thinking')`).run(n);
      }
      return ok({ ...done.value, ...(hadDeltas && { hadDeltas }) });
    },
    holders(filter) {
      const found: RunId[] = [];
      for (const { n, id } of logs.all()) {
        if (hasInLog(Number(n), filter) || hasInDeltas(Number(n), filter)) found.push(id as RunId);
      }
      return found;
    },
    scrub() {
      // Also overwrites the gaps between rows.
      database.exec('pragma secure_delete = on');
      try {
        database.exec('vacuum');
        return database.prepare('pragma wal_checkpoint(truncate)').get()?.busy === 0;
      } finally {
        database.exec('pragma secure_delete = off');
      }
    },
  };
}

const NEVER = '1970-01-01T00:00:00.000Z' as Timestamp;
const NO_EVENT = '00000000-0000-7000-8000-000000000000' as EventId;

function unknown(run: RunId): ErrorEnvelope<'run/unknown'> {
  return failure('run/unknown', {
    message: `There is no run ${run}.`,
    suggestion: 'List the runs and name one of them.',
    details: { run },
  });
}

function damaged(run: RunId, why: string): ErrorEnvelope<'store/damaged'> {
  return failure('store/damaged', {
    message: `Nothing was taken out of run ${run}, because its log is damaged: ${why}.`,
    suggestion: `Verify it with "signalbox verify ${run}", and restore it from a backup or an export.`,
    details: { run },
  });
}

function notWritten(run: RunId, why: string): ErrorEnvelope<'STORE_IO_FAILED'> {
  return failure('STORE_IO_FAILED', {
    message: `Nothing was taken out of run ${run}: ${why}.`,
    suggestion: 'Make sure that the disk is writable and not full, then try again: it is safe to repeat.',
    retry: { kind: 'retryable_immediate' },
    details: { run },
  });
}
