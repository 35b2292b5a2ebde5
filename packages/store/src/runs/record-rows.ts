import type { DatabaseSync } from 'node:sqlite';
import { type ApprovalId, type TaskStatus, taskStatus } from '@signalbox/model';
import {
  type ArtifactRecord,
  artifactRecord,
  type Decision,
  decision,
  isTaskUnderWay,
  type Task,
  type TaskId,
  task,
  taskId,
  type UsageRecord,
  usageRecord,
} from '@signalbox/runs';
import type { JsonColumns } from '../sqlite/json-column.ts';
import { type RowCodec, rowCodec } from '../sqlite/row-codec.ts';
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
  /** The tasks of another run whose end was handled before a frame, under ids of their own and handled in frame 0. */
  inheritTasks(run: number, from: number, frame: number, idOf: (task: TaskId) => TaskId): void;
  decision(run: number, id: ApprovalId): Decision | undefined;
  putDecision(run: number, decision: Decision): void;
  insertArtifact(run: number, artifact: ArtifactRecord): void;
  /** The last version of a key; 0 where there is none. */
  artifactVersion(run: number, key: string): number;
  /** A call that is there already is not counted again. */
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
  const putTask = database.prepare(insertInto('tasks', tasks.columns, 'run, id'));
  let inheritedId = (task: TaskId): TaskId => task;
  database.function('inherited_id', id => inheritedId(taskId.parse(id)));
  const inherited = tasks.columns.map(column =>
    column === 'id' ? 'inherited_id(id)' : column === 'handled_frame' ? '0' : column,
  );
  const inheritTasks = database.prepare(`
    insert into tasks (run, ${tasks.columns.join(', ')})
    select :run, ${inherited.join(', ')} from tasks where run = :parent and handled_frame < :frame order by n`);
  const decisionById = database.prepare('select * from decisions where run = ? and id = ?');
  const putDecision = database.prepare(insertInto('decisions', decisions.columns, 'id'));
  const insertArtifact = database.prepare(insertInto('artifacts', artifacts.columns));
  const lastVersion = database.prepare(
    'select max(version) as version from artifacts where run = ? and key = ? and version is not null',
  );
  const insertUsage = database.prepare(`${insertInto('usage', usages.columns)} on conflict do nothing`);

  return {
    codecs: { task: tasks, decision: decisions, artifact: artifacts, usage: usages },
    task(run, id) {
      const row = taskById.get(run, id);
      return row && tasks.fromRow(row);
    },
    taskStatus(run, id) {
      const known = cache.get(taskPlace(run, id))?.value ?? statusById.get(run, id)?.status;
      return known === undefined ? undefined : taskStatus.parse(known);
    },
    putTask(run, record) {
      putTask.run(run, ...tasks.toCells(record));
      const place = taskPlace(run, record.id);
      if (isTaskUnderWay(record.status)) cache.remember(place, { value: record.status, ...NO_ROWS });
      else cache.forget(place);
    },
    inheritTasks(run, parent, frame, idOf) {
      inheritedId = idOf;
      inheritTasks.run({ run, parent, frame });
    },
    decision(run, id) {
      const row = decisionById.get(run, id);
      return row && decisions.fromRow(row);
    },
    putDecision: (run, record) => void putDecision.run(run, ...decisions.toCells(record)),
    insertArtifact: (run, record) => void insertArtifact.run(run, ...artifacts.toCells(record)),
    artifactVersion: (run, key) => Number(lastVersion.get(run, key)?.version ?? 0),
    insertUsage: (run, record) => void insertUsage.run(run, ...usages.toCells(record)),
  };
}

const taskPlace = (run: number, id: TaskId): string => `${run} task ${id}`;
const NO_ROWS = { fromFrame: 0, baseBytes: 0, chainBytes: 0 };

/** An insert of a run's row; where `key` is there already, the row is replaced. */
function insertInto(table: string, columns: readonly string[], key?: string): string {
  const names = ['run', ...columns];
  const insert = `insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`;
  if (key === undefined) return insert;
  const updates = columns.filter(column => column !== 'id').map(column => `${column} = excluded.${column}`);
  return `${insert} on conflict (${key}) do update set ${updates.join(', ')}`;
}
