import type { DatabaseSync } from 'node:sqlite';
import { type StreamChunk, streamChunk, type TaskId } from '@signalbox/runs';
import { type JsonColumns, StoreDamage } from '../sqlite/json-column.ts';

export interface StreamRows {
  /** Does nothing if the chunk exists. */
  insert(run: number, chunk: StreamChunk): void;
  has(run: number, chunk: StreamChunk): boolean;
  from(run: number, task: TaskId, index: number, limit: number): readonly StreamChunk[];
  messageBefore(run: number, task: TaskId, index: number): number | undefined;
}

export function streamRows(database: DatabaseSync, json: JsonColumns): StreamRows {
  const insert = database.prepare(`
    insert into stream (run, task, idx, kind, payload, at) values (?, ?, ?, ?, ?, ?) on conflict do nothing`);
  const one = database.prepare('select 1 from stream where run = ? and task = ? and idx = ?');
  const from = database.prepare(`
    select task, idx, kind, payload, at from stream where run = ? and task = ? and idx >= ? order by idx limit ?`);
  const messageBefore = database.prepare(`
    select idx from stream where run = ? and task = ? and idx < ? and kind = 'message' order by idx desc limit 1`);
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
    messageBefore(run, task, index) {
      const found = messageBefore.get(run, task, index)?.idx;
      return found === undefined ? undefined : Number(found);
    },
  };
}
