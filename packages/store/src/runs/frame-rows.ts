import type { DatabaseSync } from 'node:sqlite';
import { type Frame, frame } from '@signalbox/runs';
import * as z from 'zod';
import { type JsonColumns, StoreDamage } from '../sqlite/json-column.ts';
import { firstPlaceOf, lastPlaceOf, placeOf } from './places.ts';

export interface FrameRows {
  insert(run: number, frame: Frame): void;
  /** From `from` on, oldest first. */
  page(run: number, from: number, limit: number): readonly Frame[];
}

export function frameRows(database: DatabaseSync, json: JsonColumns): FrameRows {
  const insert = database.prepare('insert into frames (place, frame) values (?, ?)');
  const page = database.prepare('select place, frame from frames where place between ? and ? order by place limit ?');
  return {
    insert: (run, record) => void insert.run(placeOf(run, record.index), json.cellOf(textOf(record))),
    page: (run, from, limit) =>
      page.all(placeOf(run, from), lastPlaceOf(run), limit).map(row => {
        const index = Number(row.place) - firstPlaceOf(run);
        const rest = json.read(cell, row.frame, `frame ${index}`);
        const parsed = frame.safeParse({ index, ...USUAL, ...rest });
        if (!parsed.success) throw new StoreDamage(`frame ${index} is damaged`);
        return parsed.data;
      }),
  };
}

const cell = z.looseObject({});

/** Default values, which are not stored. */
const USUAL = { mounted: [], unmounted: [], written: [], verifiable: true } as const;

/** In a fixed order: the rows of a replayed log must be identical. */
function textOf({ at, trigger, mounted, unmounted, written, digest, verifiable, planVersion }: Frame): string {
  return JSON.stringify({
    at,
    trigger,
    ...(mounted.length > 0 && { mounted }),
    ...(unmounted.length > 0 && { unmounted }),
    ...(written.length > 0 && { written }),
    digest,
    ...(!verifiable && { verifiable }),
    ...(planVersion !== undefined && { planVersion }),
  });
}
