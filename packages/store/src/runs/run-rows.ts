import type { DatabaseSync } from 'node:sqlite';
import { type RunId, runId } from '@signalbox/model';
import { isUsualRun, type RunRecord, runRecord } from '@signalbox/runs';
import { type JsonColumns, StoreDamage } from '../sqlite/json-column.ts';
import type { Cell, Row } from '../sqlite/row-codec.ts';

/** A run's record, and its short number. */
export interface NumberedRun {
  readonly n: number;
  readonly record: RunRecord;
}

export interface RunRows {
  find(id: RunId): NumberedRun | undefined;
  /** The run that was created with an idempotency key. */
  idOfKey(idempotencyKey: string): RunId | undefined;
  fromRow(row: Row): NumberedRun;
  /** Uses the given number, or the next one. */
  insert(record: RunRecord, n?: number): number;
  /** `withDetails` also writes the fields that seldom change. */
  update(n: number, record: RunRecord, withDetails: boolean): void;
}

/** The columns that readers of runs select, with `run_details` joined. */
export const RUN_COLUMNS = 'runs.*, run_details.details';

export function runRows(database: DatabaseSync, json: JsonColumns): RunRows {
  const byId = database.prepare(
    `select ${RUN_COLUMNS} from runs join run_details on run_details.run = runs.n where runs.id = ?`,
  );
  const byKey = database.prepare('select id from runs where idempotency_key = ?');
  const insertRun = database.prepare(`
    insert into runs (n, id, status, phase, name, correlation_id, idempotency_key, origin_kind, origin_run, epoch, version, frames,
      input_seq, next_seq, records, head, created_at, updated_at, started_at, ended_at)
    values (:n, :id, :status, :phase, :name, :correlation_id, :idempotency_key, :origin_kind, :origin_run, :epoch, :version, :frames,
      :input_seq, :next_seq, :records, :head, :created_at, :updated_at, :started_at, :ended_at)`);
  const updateHot = database.prepare(`
    update runs set epoch = ?, version = ?, frames = ?, input_seq = ?, next_seq = ?, records = ?, head = ?, updated_at = ?
    where n = ?`);
  const updateAll = database.prepare(`
    update runs set status = ?, phase = ?, name = ?, started_at = ?, ended_at = ? where n = ?`);
  const putDetails = database.prepare(`
    insert into run_details (run, details) values (?, ?) on conflict (run) do update set details = excluded.details`);
  const dropTags = database.prepare('delete from run_tags where run = ?');
  const addTag = database.prepare('insert into run_tags (run, tag) values (?, ?) on conflict do nothing');

  function putRest(n: number, record: RunRecord): void {
    putDetails.run(n, json.cellOf(JSON.stringify(detailsOf(record))));
    dropTags.run(n);
    for (const tag of record.tags) addTag.run(n, tag);
  }

  function fromRow(row: Row): NumberedRun {
    const whole = { ...hotOf(row), ...(json.readPlain(row.details, `run ${row.id}`) as object) };
    if (isUsualRun(whole)) return { n: Number(row.n), record: whole as unknown as RunRecord };
    const parsed = runRecord.safeParse(whole);
    if (!parsed.success) throw new StoreDamage(`run ${row.id} is damaged at ${parsed.error.issues[0]?.path.join('.')}`);
    return { n: Number(row.n), record: parsed.data };
  }

  return {
    find(id) {
      const row = byId.get(id);
      return row === undefined ? undefined : fromRow(row);
    },
    idOfKey(key) {
      const row = byKey.get(key);
      return row && runId.parse(row.id);
    },
    fromRow,
    insert(record, given) {
      const n = Number(insertRun.run({ n: given ?? null, ...rowOf(record) }).lastInsertRowid);
      putRest(n, record);
      return n;
    },
    update(n, record, withDetails) {
      const { epoch, version, frames, inputSeq, nextSeq, records, head, updatedAt } = record;
      updateHot.run(epoch, version, frames, inputSeq, nextSeq, records, head, updatedAt, n);
      if (!withDetails) return;
      const { status, phase, name, startedAt, endedAt } = record;
      updateAll.run(status, phase, name, startedAt ?? null, endedAt ?? null, n);
      putRest(n, record);
    },
  };
}

/** Stored as one JSON text. */
function detailsOf(record: RunRecord): Partial<RunRecord> {
  const { driver, tags, origin, source, workingDirectory, workspace, mode, globalMode, input, limits, seed } = record;
  const { earlierPlans, owner, stopReason, error, output, kept, collected } = record;
  const start = { driver, tags, origin, source, workingDirectory, workspace, mode, globalMode, input, limits, seed };
  return { ...start, earlierPlans, owner, stopReason, error, output, kept, collected };
}

function rowOf(record: RunRecord): Record<string, Cell> {
  return {
    id: record.id,
    status: record.status,
    phase: record.phase,
    name: record.name,
    correlation_id: record.correlationId ?? null,
    idempotency_key: record.idempotencyKey ?? null,
    origin_kind: record.origin?.kind ?? null,
    origin_run: record.origin?.run ?? null,
    epoch: record.epoch,
    version: record.version,
    frames: record.frames,
    input_seq: record.inputSeq,
    next_seq: record.nextSeq,
    records: record.records,
    head: record.head,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    started_at: record.startedAt ?? null,
    ended_at: record.endedAt ?? null,
  };
}

function hotOf(row: Row): Record<string, unknown> {
  return {
    id: row.id,
    status: row.status,
    phase: row.phase,
    name: row.name,
    ...(row.correlation_id === null ? {} : { correlationId: row.correlation_id }),
    ...(row.idempotency_key === null ? {} : { idempotencyKey: row.idempotency_key }),
    epoch: row.epoch,
    version: row.version,
    frames: row.frames,
    inputSeq: row.input_seq,
    nextSeq: row.next_seq,
    records: row.records,
    head: row.head,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...(row.started_at === null ? {} : { startedAt: row.started_at }),
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at }),
  };
}
