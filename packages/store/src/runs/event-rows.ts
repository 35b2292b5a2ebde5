import type { DatabaseSync } from 'node:sqlite';
import type { Digest } from '@signalbox/model';
import { anyEvent, type CommitPlan, type Frame, frame, type StoredEvent } from '@signalbox/runs';
import type { JsonColumns } from '../sqlite/json-column.ts';

/** Events with their hashes, and frames. */
export interface EventRows {
  insert(run: number, events: CommitPlan['events']): void;
  from(run: number, seq: number, limit: number): readonly StoredEvent[];
  insertFrame(run: number, frame: Frame): void;
  frames(run: number, from: number, limit: number): readonly Frame[];
}

export function eventRows(database: DatabaseSync, json: JsonColumns): EventRows {
  const insert = database.prepare('insert into events (run, seq, id, event, hash) values (?, ?, ?, ?, ?)');
  const from = database.prepare('select event, hash from events where run = ? and seq >= ? order by seq limit ?');
  const insertFrame = database.prepare('insert into frames (run, idx, frame) values (?, ?, ?)');
  const frames = database.prepare('select frame from frames where run = ? and idx >= ? order by idx limit ?');
  return {
    insert(run, events) {
      for (const { event, canonical, hash } of events) {
        const id = Buffer.from(event.id.replaceAll('-', ''), 'hex');
        insert.run(run, event.seq, id, json.cellOf(canonical), Buffer.from(hash.slice('sha256:'.length), 'hex'));
      }
    },
    from: (run, seq, limit) =>
      from.all(run, seq, limit).map(row => ({
        event: json.read(anyEvent, row.event, `an event after ${seq}`),
        hash: `sha256:${Buffer.from(row.hash as Uint8Array).toString('hex')}` as Digest,
      })),
    insertFrame: (run, record) => void insertFrame.run(run, record.index, json.cellOf(JSON.stringify(record))),
    frames: (run, index, limit) =>
      frames.all(run, index, limit).map(row => json.read(frame, row.frame, `a frame after ${index}`)),
  };
}
