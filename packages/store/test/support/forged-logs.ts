import type { DatabaseSync } from 'node:sqlite';
import { nodeHasher } from '@signalbox/journal';
import { chainHead, type Digest, EMPTY_HEAD } from '@signalbox/model';
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
  return rows.all(firstPlaceOf(n), lastPlaceOf(n)) as unknown as Kept[];
}

export function writeLog(database: DatabaseSync, n: number, records: readonly Kept[]): void {
  database.prepare('delete from records where place between ? and ?').run(firstPlaceOf(n), lastPlaceOf(n));
  const insert = database.prepare('insert into records (place, seq, header, body, hash) values (?, ?, ?, ?, ?)');
  for (const [index, { seq, header, body, hash }] of records.entries()) {
    insert.run(firstPlaceOf(n) + index, seq, header, body, hash);
  }
}

/** The same records with numbers, digests and hashes that fit each other, as somebody who knows the format would make them. */
export function resealed(records: readonly Kept[]): readonly Kept[] {
  let [head, seq] = [EMPTY_HEAD, 0];
  return records.map(({ header, body }, n) => {
    const facts = { ...(JSON.parse(header) as { events: number; body: Digest }), n, seq, body: nodeHasher(body) };
    const text = JSON.stringify(facts);
    const hash = chainHead(nodeHasher, head, text);
    const kept = { seq, header: text, body, hash: cellOfBlob(hash) };
    [head, seq] = [hash, seq + facts.events];
    return kept;
  });
}

/** What can be done to a log: to every third record, unless all of them are asked for. */
export function* logChanges(
  records: readonly Kept[],
  isWhole: boolean,
): Generator<readonly [name: string, changed: readonly Kept[]]> {
  for (const [at, record] of records.entries()) {
    if (!isWhole && at % 3 !== 0 && at !== records.length - 1) continue;
    const other = records[(at + 1) % records.length] as Kept;
    const { body } = record;
    yield [`record ${at} is changed`, records.with(at, { ...record, body: body.replace('"salt":"', '"salt":"x') })];
    yield [`record ${at} is deleted`, records.toSpliced(at, 1)];
    yield [`record ${at} is there twice`, records.toSpliced(at, 0, record)];
    if (other !== record)
      yield [`record ${at} and the next change places`, swapped(records, at, (at + 1) % records.length)];
    if (at > 0) yield [`the log ends before record ${at}`, records.slice(0, at)];
  }
}

function swapped(records: readonly Kept[], a: number, b: number): readonly Kept[] {
  return records.with(a, records[b] as Kept).with(b, records[a] as Kept);
}
