import type { DatabaseSync } from 'node:sqlite';
import { type StreamChunk, streamChunk, type TaskId } from '@signalbox/runs';
import { type JsonColumns, StoreDamage } from '../sqlite/json-column.ts';

export interface StreamRows {
  /** A chunk that is there already is left as it is. */
  insert(run: number, chunk: StreamChunk): void;
  has(run: number, chunk: StreamChunk): boolean;
  from(run: number, task: TaskId, index: number, limit: number): readonly StreamChunk[];
}

export function streamRows(database: DatabaseSync, json: JsonColumns): StreamRows {
  const insert = database.prepare(`
    insert into stream (run, task, idx, kind, payload, at) values (?, ?, ?, ?, ?, ?) on conflict do nothing`);
  const one = database.prepare('select 1 from stream where run = ? and task = ? and idx = ?');
  const from = database.prepare(`
    select task, idx, kind, payload, at from stream where run = ? and task = ? and idx >= ? order by idx limit ?`);
  return {
    insert: (run, { task, index, kind, payload, at }) =>
      void insert.run(run, task, index, kind, json.cellOf(JSON.stringify(payload)), at),
    has: (run, { task, index }) => one.get(run, task, index) !== undefined,
    from: (run, task, index, limit) =>
      from.all(run, task, index, limit).map(row => {
        const { idx, payload, ...rest } = row;
        const chunk = streamChunk.safeParse({ ...rest, index: idx, payload: JSON.parse(json.textOf(payload)) });
        if (!chunk.success) throw new StoreDamage(`chunk ${idx} of task ${task} is damaged`);
        return chunk.data;
      }),
  };
}
