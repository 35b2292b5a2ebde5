import type { DatabaseSync } from 'node:sqlite';
import { Bug, type Digest } from '@signalbox/model';
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
  const insert = database.prepare('insert into events (place, event, hash, outside_id) values (?, ?, ?, ?)');
  const from = database.prepare('select event, hash from events where place between ? and ? order by place limit ?');
  const insertFrame = database.prepare('insert into frames (place, frame) values (?, ?)');
  const frames = database.prepare('select frame from frames where place between ? and ? order by place limit ?');
  return {
    insert(run, events, isFromOutside) {
      for (const { event, canonical, hash } of events) {
        const bytes = Buffer.from(hash.slice('sha256:'.length), 'hex');
        insert.run(placeOf(run, event.seq), json.cellOf(canonical), bytes, isFromOutside ? event.id : null);
      }
    },
    from: (run, seq, limit) =>
      from.all(placeOf(run, seq), lastPlaceOf(run), limit).map(row => ({
        event: json.read(anyEvent, row.event, `an event after ${seq}`),
        hash: `sha256:${Buffer.from(row.hash as Uint8Array).toString('hex')}` as Digest,
      })),
    insertFrame: (run, record) => void insertFrame.run(placeOf(run, record.index), json.cellOf(JSON.stringify(record))),
    frames: (run, index, limit) =>
      frames
        .all(placeOf(run, index), lastPlaceOf(run), limit)
        .map(row => json.read(frame, row.frame, `a frame after ${index}`)),
  };
}

/** Room for the events, and for the frames, of one run. Places stay exact as numbers for 2^25 runs. */
export const PLACES = 2 ** 28;

function placeOf(run: number, index: number): number {
  if (index >= PLACES) throw new Bug(`run number ${run} has no place ${index}`);
  return run * PLACES + index;
}

function lastPlaceOf(run: number): number {
  return placeOf(run, PLACES - 1);
}
