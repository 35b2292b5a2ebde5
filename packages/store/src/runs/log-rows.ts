import type { DatabaseSync } from 'node:sqlite';
import type { Digest, Hasher } from '@signalbox/model';
import { type LogRecord, type OpenRecord, openRecord, recordEvents, type StoredEvent } from '@signalbox/runs';
import { blobOf, cellOfBlob, type JsonColumns, StoreDamage } from '../sqlite/json-column.ts';
import type { Row } from '../sqlite/row-codec.ts';
import { bodyOfCell, cellOfBody } from './body-cell.ts';
import { firstPlaceOf, lastPlaceOf, placeOf } from './places.ts';

/** The logs of runs, record by record. */
export interface LogRows {
  /** `seq` is that of the record's first event; `outsideIds` are the ids of events from outside the driver. */
  append(run: number, n: number, seq: number, record: LogRecord, outsideIds: readonly string[]): void;
  /** From record `n` on, in order. */
  records(run: number, n: number, limit?: number): Iterable<LogRecord>;
  /** The record as committed. Throws `StoreDamage` if its bytes were changed. */
  open(run: number, record: LogRecord, what: string): OpenRecord;
  /** The events of a record. Throws `StoreDamage` if it cannot be read. */
  told(run: number, record: LogRecord, what: string): readonly StoredEvent[];
  /** Replaces a body. The caller adds the record that says so. */
  replaceBody(run: number, n: number, body: string): void;
  /** Events from `seq` on, in order. */
  events(run: number, seq: number, limit: number): readonly StoredEvent[];
}

export function logRows(database: DatabaseSync, json: JsonColumns, hasher: Hasher): LogRows {
  const insert = database.prepare('insert into records (place, seq, header, body, hash) values (?, ?, ?, ?, ?)');
  const addOutside = database.prepare('insert into outside_events (id, run) values (?, ?)');
  const from = database.prepare(
    'select header, body, hash from records where place between ? and ? order by place limit ?',
  );
  const last = database.prepare('select max(place) as place from records where place between ? and ?');
  const seqAt = database.prepare('select seq from records where place = ?');

  const one = database.prepare('select header, body, hash from records where place = ?');
  const replace = database.prepare('update records set body = ? where place = ?');
  /** Recently read records that replaced bodies, by hash. */
  const takings = new Map<string, ReadonlyMap<number, Digest>>();

  function open(run: number, record: LogRecord, what: string): OpenRecord {
    const opened = openRecord(record, hasher, json.blobText);
    if (!opened.ok) throw new StoreDamage(`${what} is damaged: ${opened.error}`);
    const { header, body, digest } = opened.value;
    if (digest === header.body) return opened.value;
    const by = body.away?.by;
    if (by === undefined || takenBy(run, by).get(header.n) !== digest) {
      throw new StoreDamage(`${what} is damaged: its body is not the one that record ${by} put in its place`);
    }
    return opened.value;
  }

  function told(run: number, record: LogRecord, what: string): readonly StoredEvent[] {
    const { header, body } = open(run, record, what);
    const events = recordEvents(header, body, record.hash);
    if (!events.ok) throw new StoreDamage(`${what} is damaged: ${events.error}`);
    return events.value;
  }

  /** The digests of the bodies that a record replaced. */
  function takenBy(run: number, n: number): ReadonlyMap<number, Digest> {
    const row = one.get(placeOf(run, n));
    if (row === undefined) return new Map();
    const record = recordOf(row);
    const known = takings.get(record.hash);
    if (known !== undefined) return known;
    const opened = openRecord(record, hasher);
    const found = new Map(opened.ok ? opened.value.body.taken?.records.map(one => [one.n, one.now]) : []);
    if (takings.size >= MAX_TAKINGS) takings.clear();
    takings.set(record.hash, found);
    return found;
  }

  function* records(run: number, n: number, limit = -1): Iterable<LogRecord> {
    for (const row of from.iterate(placeOf(run, n), lastPlaceOf(run), limit)) yield recordOf(row);
  }

  /** The last record whose first event is not after `seq`, by binary search: both only increase. */
  function recordWith(run: number, seq: number): number {
    const end = last.get(firstPlaceOf(run), lastPlaceOf(run))?.place ?? null;
    let [low, high] = [0, end === null ? 0 : Number(end) - firstPlaceOf(run)];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (Number(seqAt.get(placeOf(run, middle))?.seq) <= seq) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  return {
    append(run, n, seq, { header, body, hash }, outsideIds) {
      insert.run(placeOf(run, n), seq, header, cellOfBody(body), cellOfBlob(hash));
      for (const id of outsideIds) addOutside.run(id, run);
    },
    records,
    open,
    told,
    replaceBody: (run, n, body) => void replace.run(cellOfBody(body), placeOf(run, n)),
    events(run, seq, limit) {
      const found: StoredEvent[] = [];
      for (const record of records(run, recordWith(run, seq))) {
        for (const stored of told(run, record, `a record with event ${seq}`)) {
          if (stored.event.seq >= seq) found.push(stored);
        }
        if (found.length >= limit) break;
      }
      return found.slice(0, limit);
    },
  };
}

const MAX_TAKINGS = 16;

/** A record from its row. */
export function recordOf({ header, body, hash }: Row): LogRecord {
  return { header: String(header), body: bodyOfCell(body), hash: blobOf(hash as Uint8Array) };
}
