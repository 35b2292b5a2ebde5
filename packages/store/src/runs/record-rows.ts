import type { DatabaseSync } from 'node:sqlite';
import { type ApprovalId, type TaskStatus, taskStatus } from '@signalbox/model';
import {
  type ArtifactRecord,
  artifactRecord,
  type Beginning,
  type Decision,
  decision,
  isTaskUnderWay,
  type Task,
  type TaskId,
  task,
  type UsageRecord,
  usageRecord,
} from '@signalbox/runs';
import { blobOf, type JsonColumns } from '../sqlite/json-column.ts';
import { type RowCodec, rowCodec } from '../sqlite/row-codec.ts';
import { heldCell } from './change-cells.ts';
import { PLACES } from './places.ts';
import type { ValueCache } from './value-cache.ts';

/** Tasks, decisions, artifacts and usage: records whose fields are columns. */
export interface RecordRows {
  readonly codecs: {
    readonly task: RowCodec<Task>;
    readonly decision: RowCodec<Decision>;
    readonly artifact: RowCodec<ArtifactRecord>;
    readonly usage: RowCodec<UsageRecord>;
  };
  task(run: number, id: TaskId): Task | undefined;
  taskStatus(run: number, id: TaskId): TaskStatus | undefined;
  putTask(run: number, task: Task): void;
  /** The tasks whose end was handled before a frame. Results in blobs are named, not read. */
  heldTasks(run: number, frame: number): Beginning['tasks'];
  /** Writes the initial tasks of a run. */
  beginTasks(run: number, tasks: Beginning['tasks']): void;
  decision(run: number, id: ApprovalId): Decision | undefined;
  putDecision(run: number, decision: Decision): void;
  insertArtifact(run: number, artifact: ArtifactRecord): void;
  /** The last version of a key; 0 if there is none. */
  artifactVersion(run: number, key: string): number;
  hasUsage(run: number, call: string): boolean;
  insertUsage(run: number, usage: UsageRecord): void;
}

export function recordRows(database: DatabaseSync, json: JsonColumns, cache: ValueCache): RecordRows {
  const tasks = rowCodec(json, task, {
    id: 'plain',
    node: 'plain',
    iteration: 'plain',
    signature: 'plain',
    status: 'plain',
    effects: 'plain',
    leaseOwner: 'plain',
    leaseExpiresAt: 'plain',
    heartbeatAt: 'plain',
    retryCount: 'plain',
    maxRetries: 'plain',
    backoffMs: 'plain',
    nextRetryAt: 'plain',
    lastError: 'json',
    blockReason: 'plain',
    result: 'json',
    handledFrame: 'plain',
    createdAt: 'plain',
    startedAt: 'plain',
    endedAt: 'plain',
  });
  const decisions = rowCodec(json, decision, {
    id: 'plain',
    node: 'plain',
    iteration: 'plain',
    call: 'plain',
    kind: 'plain',
    proposal: 'json',
    proposalHash: 'plain',
    askedAt: 'plain',
    status: 'plain',
    resolution: 'json',
    answeredBy: 'plain',
    closedAt: 'plain',
    deliveredAt: 'plain',
  });
  const artifacts = rowCodec(json, artifactRecord, {
    id: 'plain',
    node: 'plain',
    task: 'plain',
    kind: 'plain',
    name: 'plain',
    digest: 'plain',
    bytes: 'plain',
    mimeType: 'plain',
    content: 'plain',
    createdAt: 'plain',
    key: 'plain',
    version: 'plain',
    alt: 'plain',
    workstream: 'plain',
    status: 'plain',
    provenance: 'json',
    diff: 'json',
  });
  const usages = rowCodec(json, usageRecord, {
    call: 'plain',
    node: 'plain',
    task: 'plain',
    provider: 'plain',
    model: 'plain',
    inputTokens: 'plain',
    outputTokens: 'plain',
    cachedTokens: 'plain',
    toolCalls: 'plain',
    costMicroUsd: 'plain',
    wallMs: 'plain',
    at: 'plain',
  });

  const taskById = database.prepare('select * from tasks where run = ? and id = ?');
  const statusById = database.prepare('select status from tasks where run = ? and id = ?');
  const putTask = database.prepare(placeInto('tasks', tasks.columns, 'run, id'));
  // Setting an indexed column writes its index entry again, even if the value is the same.
  const changed = tasks.columns.filter(column => column !== 'id');
  const changeTask = database.prepare(
    `update tasks set ${changed.map(column => `${column} = ?`).join(', ')} where run = ? and id = ?`,
  );
  const handledBefore = database.prepare('select * from tasks where run = ? and handled_frame < ? order by place');
  const resultAt = tasks.columns.indexOf('result');
  const decisionById = database.prepare('select * from decisions where run = ? and id = ?');
  const putDecision = database.prepare(placeInto('decisions', decisions.columns, 'id'));
  const insertArtifact = database.prepare(placeInto('artifacts', artifacts.columns));
  const lastVersion = database.prepare(
    'select max(version) as version from artifacts where run = ? and key = ? and version is not null',
  );
  const insertUsage = database.prepare(insertInto('usage', usages.columns));
  const usageOfCall = database.prepare('select 1 from usage where run = ? and call = ?');

  return {
    codecs: { task: tasks, decision: decisions, artifact: artifacts, usage: usages },
    task(run, id) {
      const row = taskById.get(run, id);
      return row && tasks.fromRow(row);
    },
    taskStatus(run, id) {
      // A cached status was written by this process.
      const known = cache.get(taskPlace(run, id))?.value as TaskStatus | undefined;
      if (known !== undefined) return known;
      const row = statusById.get(run, id);
      return row && taskStatus.parse(row.status);
    },
    putTask(run, record) {
      const place = taskPlace(run, record.id);
      // A cached task has a row.
      if (cache.get(place) === undefined) putTask.run(run, ...tasks.toCells(record));
      else {
        const [id = null, ...cells] = tasks.toCells(record);
        changeTask.run(...cells, run, id);
      }
      if (isTaskUnderWay(record.status)) cache.remember(place, { value: record.status, ...NO_ROWS });
      else cache.forget(place);
    },
    heldTasks: (run, frame) =>
      handledBefore.all(run, frame).map(row => {
        const { result: cell } = row;
        if (!(cell instanceof Uint8Array)) {
          const { result, ...rest } = tasks.fromRow(row);
          return { task: rest, ...(result === undefined ? {} : { result: { json: result } }) };
        }
        const { result: _, ...rest } = tasks.fromRow({ ...row, result: null });
        return { task: rest, result: { blob: blobOf(cell), length: 0 } };
      }),
    beginTasks(run, held) {
      for (const { task: record, result } of held) {
        const cells = tasks.toCells(record);
        if (result !== undefined) cells[resultAt] = heldCell(json, result)[0];
        putTask.run(run, ...cells);
      }
    },
    decision(run, id) {
      const row = decisionById.get(run, id);
      return row && decisions.fromRow(row);
    },
    putDecision: (run, record) => void putDecision.run(run, ...decisions.toCells(record)),
    insertArtifact: (run, record) => void insertArtifact.run(run, ...artifacts.toCells(record)),
    artifactVersion: (run, key) => Number(lastVersion.get(run, key)?.version ?? 0),
    hasUsage: (run, call) => usageOfCall.get(run, call) !== undefined,
    insertUsage: (run, record) => void insertUsage.run(run, ...usages.toCells(record)),
  };
}

const taskPlace = (run: number, id: TaskId): string => `${run} task ${id}`;
const NO_ROWS = { fromFrame: 0, baseBytes: 0, chainBytes: 0 };

/** Inserts a row of a run; if `key` exists, the row is replaced. */
function insertInto(table: string, columns: readonly string[], key?: string): string {
  const names = ['run', ...columns];
  const insert = `insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`;
  return key === undefined ? insert : `${insert} ${replacing(columns, key)}`;
}

/** The same for a table whose rows have places: a new row gets the next place of its run. */
function placeInto(table: string, columns: readonly string[], key?: string): string {
  const names = ['place', 'run', ...columns];
  const last = `(select max(place) from ${table} where place between ?1 * ${PLACES} and ?1 * ${PLACES} + ${PLACES - 1})`;
  const values = [`coalesce(${last} + 1, ?1 * ${PLACES})`, ...names.slice(1).map((_, index) => `?${index + 1}`)];
  const insert = `insert into ${table} (${names.join(', ')}) values (${values.join(', ')})`;
  return key === undefined ? insert : `${insert} ${replacing(columns, key)}`;
}

function replacing(columns: readonly string[], key: string): string {
  const updates = columns.filter(column => column !== 'id').map(column => `${column} = excluded.${column}`);
  return `on conflict (${key}) do update set ${updates.join(', ')}`;
}
