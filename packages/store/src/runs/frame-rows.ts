import type { DatabaseSync } from 'node:sqlite';
import { type Frame, frame } from '@signalbox/runs';
import type { JsonColumns } from '../sqlite/json-column.ts';
import { lastPlaceOf, placeOf } from './places.ts';

export interface FrameRows {
  insert(run: number, frame: Frame): void;
  /** From `from` on, oldest first. */
  page(run: number, from: number, limit: number): readonly Frame[];
}

export function frameRows(database: DatabaseSync, json: JsonColumns): FrameRows {
  const insert = database.prepare('insert into frames (place, frame) values (?, ?)');
  const page = database.prepare('select frame from frames where place between ? and ? order by place limit ?');
  return {
    insert: (run, record) => void insert.run(placeOf(run, record.index), json.cellOf(JSON.stringify(record))),
    page: (run, from, limit) =>
      page
        .all(placeOf(run, from), lastPlaceOf(run), limit)
        .map(row => json.read(frame, row.frame, `a frame after ${from}`)),
  };
}
