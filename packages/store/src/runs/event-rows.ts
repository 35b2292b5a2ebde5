import type { DatabaseSync } from 'node:sqlite';
import type { Digest } from '@signalbox/model';
import { anyEvent, type CommitPlan, type Frame, frame, type StoredEvent } from '@signalbox/runs';
import type { JsonColumns } from '../sqlite/json-column.ts';

/** Events with their hashes, and frames. */
export interface EventRows {
  /** An event that came from outside the driver is refused by its id if it came before. */
  insert(run: number, events: CommitPlan['events'], isFromOutside: boolean): void;
  from(run: number, seq: number, limit: number): readonly StoredEvent[];
  insertFrame(run: number, frame: Frame): void;
  frames(run: number, from: number, limit: number): readonly Frame[];
}

export function eventRows(database: DatabaseSync, json: JsonColumns): EventRows {
  const insert = database.prepare('insert into events (run, seq, event, hash, outside_id) values (?, ?, ?, ?, ?)');
  const from = database.prepare('select event, hash from events where run = ? and seq >= ? order by seq limit ?');
  const insertFrame = database.prepare('insert into frames (run, idx, frame) values (?, ?, ?)');
  const frames = database.prepare('select frame from frames where run = ? and idx >= ? order by idx limit ?');
  return {
    insert(run, events, isFromOutside) {
      for (const { event, canonical, hash } of events) {
        const bytes = Buffer.from(hash.slice('sha256:'.length), 'hex');
        insert.run(run, event.seq, json.cellOf(canonical), bytes, isFromOutside ? event.id : null);
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
