import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { hostDisk, nodeHasher } from '@signalbox/journal';
import { type Digest, ok, type Result, type RunId } from '@signalbox/model';
import {
  type ArchivePart,
  type ArchiveRows,
  anyEvent,
  type Blobs,
  frame,
  intervalSpace,
  intervalWrite,
  type RunArchive,
  type RunReader,
  streamChunk,
  transition,
} from '@signalbox/runs';
import { openBlobFiles } from '../blobs/blob-files.ts';
import { changeOfRow } from '../runs/change-cells.ts';
import { PLACES } from '../runs/event-rows.ts';
import { type RunTables, runTables } from '../runs/member.ts';
import { runReader } from '../runs/run-reader.ts';
import { valueCache } from '../runs/value-cache.ts';
import { type JsonColumns, jsonColumns, StoreDamage } from '../sqlite/json-column.ts';
import { openReadConnection, type ReadError } from '../sqlite/read-connection.ts';
import type { Row } from '../sqlite/row-codec.ts';

/** The rows of runs at one moment, whoever goes on writing. */
export type Archive = RunArchive & RunReader & Pick<Blobs, 'get'> & { close(): void };

/** Reads a data directory beside its owner: everything that it answers was committed at the same moment. */
export function openArchive({ path: file }: { readonly path: string }): Result<Archive, ReadError> {
  const connection = openReadConnection(file);
  if (!connection.ok) return connection;
  const database = connection.value;
  const blobs = openBlobFiles({ disk: hostDisk, hasher: nodeHasher, home: path.dirname(file), writer: 'nobody' });
  const json = jsonColumns(blobs);
  const tables = runTables(database, json, valueCache());
  database.exec('begin');
  return ok({
    ...runReader(database, tables),
    ...runArchive(database, json, tables),
    get: async name => blobs.get(name),
    close() {
      database.exec('rollback');
      database.close();
    },
  });
}

function runArchive(database: DatabaseSync, json: JsonColumns, tables: RunTables): RunArchive {
  const { codecs } = tables.records;
  const number = database.prepare('select n from runs where id = ?');
  const ofRun = (table: string, order: string) =>
    database.prepare(`select * from ${table} where run = ? order by ${order}`);
  const placed = (table: string) =>
    database.prepare(`select * from ${table} where place between ? and ? order by place`);
  const statements = {
    tasks: ofRun('tasks', 'n'),
    decisions: ofRun('decisions', 'n'),
    artifacts: ofRun('artifacts', 'n'),
    usage: ofRun('usage', 'call'),
    stream: ofRun('stream', 'task, idx'),
    intervals: ofRun('intervals', 'space, key, from_frame'),
    transitions: ofRun('transitions', 'frame, idx'),
    frames: placed('frames'),
    journal: placed('events'),
  };

  const readers: { readonly [Part in Exclude<ArchivePart, 'record'>]: (row: Row) => ArchiveRows[Part] } = {
    tasks: codecs.task.fromRow,
    decisions: codecs.decision.fromRow,
    artifacts: codecs.artifact.fromRow,
    usage: codecs.usage.fromRow,
    stream: ({ task, idx, kind, payload, at }) =>
      checked(streamChunk, { task, index: idx, kind, payload: json.readPlain(payload, 'a chunk'), at }, 'a chunk'),
    intervals(row) {
      const what = `a value of '${row.key}'`;
      const space = intervalSpace.options[Number(row.space)];
      const change = changeOfRow(json, row, what);
      return checked(intervalWrite, { space, key: row.key, fromFrame: row.from_frame, change }, what);
    },
    transitions(row) {
      const what = `transition ${row.idx} of frame ${row.frame}`;
      const { frame: index, idx, key, trigger, node, handler, at } = row;
      const origin = Object.entries({ trigger, node, handler }).filter(([, value]) => value !== null);
      const change = changeOfRow(json, row, what);
      return checked(transition, { frame: index, index: idx, key, change, ...Object.fromEntries(origin), at }, what);
    },
    frames: row => json.read(frame, row.frame, 'a frame'),
    journal: row => ({
      event: json.read(anyEvent, row.event, 'an event') as ArchiveRows['journal']['event'],
      hash: `sha256:${Buffer.from(row.hash as Uint8Array).toString('hex')}` as Digest,
    }),
  };

  function* rows(run: RunId, part: Exclude<ArchivePart, 'record'>): Iterable<Row> {
    const n = Number(number.get(run)?.n ?? -1);
    if (part === 'frames' || part === 'journal') yield* statements[part].iterate(n * PLACES, (n + 1) * PLACES - 1);
    else yield* statements[part].iterate(n);
  }

  return {
    *archived(run, part) {
      if (part === 'record') {
        const found = tables.runs.find(run);
        if (found !== undefined) yield found.record as never;
        return;
      }
      const kept: Exclude<ArchivePart, 'record'> = part;
      for (const row of rows(run, kept)) yield readers[kept](row) as never;
    },
  };
}

function checked<T>(
  schema: { safeParse(value: unknown): { success: boolean; data?: T } },
  value: unknown,
  what: string,
): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success || parsed.data === undefined) throw new StoreDamage(`${what} is damaged`);
  return parsed.data;
}
