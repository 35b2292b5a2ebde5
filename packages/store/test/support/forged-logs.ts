import type { DatabaseSync } from 'node:sqlite';
import { nodeHasher } from '@signalbox/journal';
import { chainHead, type Digest, EMPTY_HEAD } from '@signalbox/model';
import { bodyOfCell, cellOfBody } from '../../src/runs/body-cell.ts';
import { firstPlaceOf, lastPlaceOf } from '../../src/runs/places.ts';
import { cellOfBlob } from '../../src/sqlite/json-column.ts';

/** The records of a run, as an attacker reads and writes them. */
export interface Kept {
  readonly seq: number;
  readonly header: string;
  readonly body: string;
  readonly hash: Uint8Array;
}

export function logOf(database: DatabaseSync, n: number): readonly Kept[] {
  const rows = database.prepare(
    'select seq, header, body, hash from records where place between ? and ? order by place',
  );
  return rows
    .all(firstPlaceOf(n), lastPlaceOf(n))
    .map(row => ({ ...row, body: bodyOfCell(row.body) }) as unknown as Kept);
}

export function writeLog(database: DatabaseSync, n: number, records: readonly Kept[]): void {
  database.prepare('delete from records where place between ? and ?').run(firstPlaceOf(n), lastPlaceOf(n));
  const insert = database.prepare('insert into records (place, seq, header, body, hash) values (?, ?, ?, ?, ?)');
  for (const [index, { seq, header, body, hash }] of records.entries()) {
    insert.run(firstPlaceOf(n) + index, seq, header, cellOfBody(body), hash);
  }
}

/**
 * The same records with numbers, digests and hashes that fit each other, as somebody who knows the format would make them. Records that
 * replaced bodies say what is there now.
 */
export function resealed(records: readonly Kept[]): readonly Kept[] {
  let [head, seq] = [EMPTY_HEAD, 0];
  const digests: Digest[] = [];
  return records.map(({ header, body: given }, n) => {
    const body = withDigests(given, digests);
    const digest = nodeHasher(body);
    digests.push(digest);
    const facts = { ...(JSON.parse(header) as { events: number; body: Digest }), n, seq, body: digest };
    const text = JSON.stringify(facts);
    const hash = chainHead(nodeHasher, head, text);
    const kept = { seq, header: text, body, hash: cellOfBlob(hash) };
    [head, seq] = [hash, seq + facts.events];
    return kept;
  });
}

function withDigests(body: string, digests: readonly Digest[]): string {
  const parsed = JSON.parse(body) as { taken?: { records: readonly { n: number; was: Digest; now: Digest }[] } };
  if (parsed.taken === undefined) return body;
  const records = parsed.taken.records.map(({ n, was, now }) => ({
    n,
    was: digests[n] ?? was,
    now: digests[n] ?? now,
  }));
  return JSON.stringify({ ...parsed, taken: { ...parsed.taken, records } });
}

/** A hash that was changed is right again once it was sealed. */
export function isSameLog(a: readonly Kept[], b: readonly Kept[]): boolean {
  return a.length === b.length && a.every(({ header, body }, at) => header === b[at]?.header && body === b[at]?.body);
}

/** Lets statements of tests read bodies: `body_text(body)`. What they write in its place is a body too. */
export function readsBodies(database: DatabaseSync): DatabaseSync {
  database.function('body_text', bodyOfCell);
  return database;
}

/** Something that is done to a log, and the first record that is wrong then. */
export interface LogChange {
  readonly name: string;
  readonly changed: readonly Kept[];
  readonly record: number;
}

/** Everything that can be done to the records that `isChosen` lets through. */
export function* logChanges(records: readonly Kept[], isChosen: (at: number) => boolean): Generator<LogChange> {
  for (const [at, record] of records.entries()) {
    if (!isChosen(at)) continue;
    const next = (at + 1) % records.length;
    const change = (name: string, changed: readonly Kept[], first = at): LogChange => ({
      name: `record ${at} ${name}`,
      changed,
      record: first,
    });
    yield change(
      'has another salt',
      records.with(at, { ...record, body: record.body.replace('"salt":"', '"salt":"x') }),
    );
    yield change('has another fact', records.with(at, { ...record, body: otherFact(record.body) }));
    yield change(
      'has another time',
      records.with(at, { ...record, header: record.header.replace(/"at":"2/, '"at":"1') }),
    );
    yield change('has another hash', records.with(at, { ...record, hash: flipped(record.hash) }));
    yield change('is deleted', records.toSpliced(at, 1));
    yield change('is there twice', records.toSpliced(at, 0, record), at + 1);
    yield change('is followed by one of another log', records.toSpliced(at + 1, 0, otherLog(record)), at + 1);
    if (next !== at) yield change('and the next change places', swapped(records, at, next), Math.min(at, next));
    if (at > 0) yield change('is where the log ends', records.slice(0, at));
  }
}

/** The last number in a body, made another one; or the salt, where there is none. */
function otherFact(body: string): string {
  const changed = body.replace(/(.*[:[,])(\d)(\d*[,}\]])/, (_, before: string, digit: string, after: string) => {
    return `${before}${(Number(digit) % 9) + 1}${after}`;
  });
  return changed === body ? body.replace('"salt":"', '"salt":"y') : changed;
}

function otherLog({ header, ...record }: Kept): Kept {
  return { ...record, header: header.replace(/"log":"./, '"log":"f') };
}

function flipped(hash: Uint8Array): Uint8Array {
  return Uint8Array.from(hash, (byte, at) => (at === 0 ? byte ^ 1 : byte));
}

function swapped(records: readonly Kept[], a: number, b: number): readonly Kept[] {
  return records.with(a, records[b] as Kept).with(b, records[a] as Kept);
}
