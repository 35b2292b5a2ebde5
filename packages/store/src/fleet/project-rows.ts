import type { DatabaseSync } from 'node:sqlite';
import type { Digest, Hasher, Json, ProjectId, Timestamp } from '@signalbox/model';
import {
  type KeptState,
  type LogRecord,
  type OpenProjectRecord,
  openProjectRecord,
  type PlacedThing,
  type ProjectRow,
  type Thing,
  type ThingFilter,
  thingKind,
} from '@signalbox/runs';
import { cellOfBody } from '../runs/body-cell.ts';
import { recordOf } from '../runs/log-rows.ts';
import { cellOfBlob, type JsonColumns, StoreDamage } from '../sqlite/json-column.ts';
import type { Cell, Row } from '../sqlite/row-codec.ts';

export interface NumberedProject {
  readonly n: number;
  readonly row: ProjectRow;
}

/** Every statement on the tables of projects, prepared once. */
export interface ProjectRows {
  find(id: ProjectId): NumberedProject | undefined;
  all(): readonly NumberedProject[];
  /** Writes a record and what follows from it. A new project gets the next number, unless one is given. */
  append(
    found: NumberedProject | undefined,
    row: ProjectRow,
    record: LogRecord,
    things: readonly Thing[],
    n?: number,
  ): number;
  records(project: number, from: number, limit?: number): Iterable<LogRecord>;
  /** Throws `StoreDamage` if the record is not what was written. */
  open(record: LogRecord, n: number): OpenProjectRecord;
  things(project: number, filter: ThingFilter): readonly PlacedThing[];
  keepState(project: number, state: KeptState): void;
  keptState(project: number): KeptState | undefined;
}

export function projectRows(database: DatabaseSync, json: JsonColumns, hasher: Hasher): ProjectRows {
  const byId = database.prepare('select * from projects where id = ?');
  const all = database.prepare('select * from projects order by created_at, id');
  const put = database.prepare(
    `insert into projects (n, id, records, head, created_at, updated_at) values (?, ?, ?, ?, ?, ?)
     on conflict (n) do update set records = excluded.records, head = excluded.head, updated_at = excluded.updated_at`,
  );
  const next = database.prepare('select coalesce(max(n), 0) + 1 as n from projects');
  const insert = database.prepare(
    'insert into project_records (project, n, header, body, hash) values (?, ?, ?, ?, ?)',
  );
  const from = database.prepare(
    'select header, body, hash from project_records where project = ? and n >= ? order by n limit ?',
  );
  const one = database.prepare('select header, body, hash from project_records where project = ? and n = ?');
  const putThing = database.prepare(
    `insert into things (project, kind, id, agent, status, record, part) values (?, ?, ?, ?, ?, ?, ?)
     on conflict (project, kind, id) do update set
       agent = excluded.agent, status = excluded.status, record = excluded.record, part = excluded.part`,
  );
  const putState = database.prepare(
    `insert into project_states (project, records, head, state) values (?, ?, ?, ?)
     on conflict (project) do update set records = excluded.records, head = excluded.head, state = excluded.state`,
  );
  const state = database.prepare('select records, head, state from project_states where project = ?');
  const hashAt = database.prepare('select lower(hex(hash)) as hash from project_records where project = ? and n = ?');
  const lists = new Map<string, ReturnType<DatabaseSync['prepare']>>();

  function listed(conditions: readonly string[]) {
    const where = ['project = ?', 'kind = ?', ...conditions].join(' and ');
    const known = lists.get(where);
    if (known !== undefined) return known;
    const made = database.prepare(
      `select kind, id, agent, status, record, part from things where ${where} order by record desc, part desc limit ?`,
    );
    lists.set(where, made);
    return made;
  }

  function open(record: LogRecord, n: number): OpenProjectRecord {
    const opened = openProjectRecord(record, hasher, json.blobText);
    if (!opened.ok) throw new StoreDamage(`record ${n} of a project is damaged: ${opened.error}`);
    return opened.value;
  }

  return {
    find(id) {
      const row = byId.get(id);
      return row && numbered(row);
    },
    all: () => all.all().map(numbered),
    append(found, row, record, things, n) {
      const number = found?.n ?? n ?? Number(next.get()?.n);
      put.run(number, row.id, row.records, row.head, row.createdAt, row.updatedAt);
      const at = row.records - 1;
      insert.run(number, at, record.header, cellOfBody(record.body), cellOfBlob(record.hash));
      for (const [part, { kind, id, agent = null, status = null }] of things.entries())
        putThing.run(number, kind, id, agent, status, at, part);
      return number;
    },
    *records(project, first, limit = -1) {
      for (const row of from.iterate(project, first, limit)) yield recordOf(row);
    },
    open,
    things(project, { kind, id, agent, status, before, limit }) {
      const conditions: string[] = [];
      const parameters: Cell[] = [];
      for (const [column, value] of Object.entries({ id, agent, status })) {
        if (value === undefined) continue;
        conditions.push(`${column} = ?`);
        parameters.push(value);
      }
      if (before !== undefined) {
        conditions.push('(record, part) < (?, ?)');
        parameters.push(before.record, before.index);
      }
      const opened = new Map<number, OpenProjectRecord>();
      return listed(conditions)
        .all(project, kind, ...parameters, limit)
        .map(row => {
          const [record, index] = [Number(row.record), Number(row.part)];
          const found = opened.get(record) ?? openAt(project, record);
          opened.set(record, found);
          const thing = found.body.things[index];
          if (thing === undefined || thing.kind !== thingKind.parse(row.kind) || thing.id !== row.id)
            throw new StoreDamage(`${kind} ${String(row.id)} is not in record ${record} of its project`);
          return { ...thing, record, index };
        });
    },
    keepState: (project, kept) =>
      void putState.run(project, kept.records, kept.head, json.cellOf(JSON.stringify(kept.state))),
    keptState(project) {
      const row = state.get(project);
      if (row === undefined) return undefined;
      const head = String(row.head) as Digest;
      const hash = hashAt.get(project, Number(row.records) - 1)?.hash;
      if (head !== `sha256:${hash}`) return undefined;
      try {
        return { records: Number(row.records), head, state: json.readPlain(row.state, 'a kept state') as Json };
      } catch (cause) {
        // It can be computed again.
        if (cause instanceof StoreDamage) return undefined;
        throw cause;
      }
    },
  };

  function openAt(project: number, n: number): OpenProjectRecord {
    const row = one.get(project, n);
    if (row === undefined) throw new StoreDamage(`record ${n} of a project is missing`);
    return open(recordOf(row), n);
  }
}

function numbered(row: Row): NumberedProject {
  return {
    n: Number(row.n),
    row: {
      id: String(row.id) as ProjectId,
      records: Number(row.records),
      head: String(row.head) as Digest,
      createdAt: String(row.created_at) as Timestamp,
      updatedAt: String(row.updated_at) as Timestamp,
    },
  };
}
