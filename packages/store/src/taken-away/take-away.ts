import type { Timestamp } from '@signalbox/model';
import {
  type AwayCheck,
  awayCheck,
  type BodyRewrite,
  type CommitNotice,
  type EventDraft,
  type FrameRange,
  type LogRecord,
  type RewrittenRecord,
  type RunRecord,
  type SealPorts,
  sealBody,
  sealRecord,
  type TakingAway,
} from '@signalbox/runs';
import { replaceRows } from '../repair/rebuild-rows.ts';
import { findRun, viewOf } from '../runs/commit-rows.ts';
import type { LogRows } from '../runs/log-rows.ts';
import { replayRows } from '../runs/replay-rows.ts';
import type { NumberedRun } from '../runs/run-rows.ts';
import { StoreDamage, StoreFault } from '../sqlite/json-column.ts';
import { type MemoryTables, memoryTables, type ReplayPorts } from '../verify/replay-log.ts';

/**
 * Removes parts of a run's log by replacing bodies, and says so in a new record (T7).
 *
 * 1. Headers stay, so the chain and every noted head stay valid. The new record names the old and the new digest of each body.
 * 2. Rows are not edited: the new log is replayed, by the code that every check uses, and the resulting rows replace the old ones.
 * 3. Everything happens in the caller's transaction. A damaged log is left alone.
 */
export interface TakeAwayPorts extends ReplayPorts {
  readonly log: LogRows;
  readonly seal: SealPorts;
}

/** Who removes something, when and why, and the event to record. */
export interface TakingFacts {
  readonly at: Timestamp;
  readonly kind: TakingAway['kind'];
  readonly by: string;
  readonly why: string;
  readonly retention?: { readonly collapse: readonly FrameRange[] };
  /** Builds the event once the replaced records are known. */
  readonly event: (records: readonly number[]) => EventDraft;
}

/** The result of a removal. */
interface Taking {
  /** The numbers of the records whose bodies were replaced. */
  readonly records: readonly number[];
  /** The size of the old bodies minus that of the new ones. */
  readonly bytes: number;
  readonly notice: CommitNotice;
}

/** A log before the removal. The caller closes the tables. */
export interface WholeLog {
  readonly found: NumberedRun;
  readonly records: readonly LogRecord[];
  readonly replayed: readonly RewrittenRecord[];
  readonly memory: MemoryTables;
}

/** Reads and checks a whole log. Throws `StoreDamage` if it is damaged. */
export function readWhole(ports: TakeAwayPorts, found: NumberedRun): WholeLog {
  const memory = memoryTables(ports);
  const away = awayCheck();
  try {
    const records = [...ports.log.records(found.n, 0)];
    const replayed = records.map(record => replayInto(ports, memory, found.n, record, away));
    settled(away);
    return { found, records, replayed, memory };
  } catch (cause) {
    memory.database.close();
    throw cause;
  }
}

/** The remaining log, and the rows that follow from it. Writes nothing to the database. The caller closes the tables. */
export interface LeftLog extends Taking {
  readonly bodies: ReadonlyMap<number, string>;
  readonly taking: LogRecord;
  readonly after: RunRecord;
  readonly memory: MemoryTables;
}

export function planTaking(
  ports: TakeAwayPorts,
  { found, records, replayed }: WholeLog,
  rewriteWith: (memory: MemoryTables) => BodyRewrite,
  facts: TakingFacts,
): LeftLog | undefined {
  const { n, record: run } = found;
  const memory = memoryTables(ports);
  // Contents are written only when the bodies that name them are about to be.
  const seal = { ...ports.seal, putText: memory.json.putText };
  try {
    const rewrite = rewriteWith(memory);
    const check = awayCheck();
    const bodies = new Map<number, string>();
    const taken: { n: number; was: RewrittenRecord['record']['digest']; now: RewrittenRecord['record']['digest'] }[] =
      [];
    let bytes = 0;
    for (const [index, given] of replayed.entries()) {
      const record = records[index] as LogRecord;
      const left = rewrite(given, viewOf(memory.tables, findRun(memory.tables, run.id)));
      if (left === undefined) {
        replayInto(ports, memory, n, record, check);
        continue;
      }
      // `away` comes first, so that it is found without parsing the whole body.
      const { away: { by: _, ...away } = {}, ...rest } = left;
      const { body } = sealBody(seal, { away: { by: run.records, ...away }, ...rest }, given.record.header.at);
      bodies.set(index, body);
      bytes += record.body.length - body.length;
      taken.push({ n: index, was: given.record.digest, now: ports.hasher(body) });
      replayInto(ports, memory, n, { ...record, body }, check);
    }
    if (taken.length === 0 && facts.retention === undefined) {
      memory.database.close();
      return undefined;
    }
    const { kind, by, why, retention, at } = facts;
    const numbers = taken.map(one => one.n);
    const events = [facts.event(numbers)];
    const place = { log: run.id, n: run.records, at, who: 'outside', version: run.version, seq: run.nextSeq } as const;
    const draft = { taken: { kind, by, why, records: taken }, ...(retention && { retention }), events };
    const taking = sealRecord(seal, run.head, { ...place, events: events.length }, draft);
    const { outcome } = replayInto(ports, memory, n, taking, check);
    settled(check);
    const { id, version, nextSeq: seq } = run;
    const notice = { run: id, version, seq, asks: false, events: outcome.events(), stream: [] };
    return { records: numbers, bytes, notice, bodies, taking, after: outcome.record, memory };
  } catch (cause) {
    memory.database.close();
    throw cause;
  }
}

/** Writes the remaining log into the open transaction. */
export function writeTaking(ports: TakeAwayPorts, { n }: NumberedRun, left: LeftLog): void {
  const { database, log } = ports;
  database.exec('pragma defer_foreign_keys = on');
  // An existing blob keeps its age: rows that named it still do.
  for (const [name, content] of left.memory.made) {
    const put = ports.blobs.get(name).ok ? undefined : ports.blobs.put(content);
    if (put?.ok === false) throw new StoreFault(put.error);
  }
  for (const [index, body] of left.bodies) log.replaceBody(n, index, body);
  const { events } = left.notice;
  const { records, nextSeq } = left.after;
  log.append(n, records - 1, nextSeq - events.length, left.taking, []);
  replaceRows(ports, n, { database: left.memory.database, made: new Map() });
  database.prepare(`delete from stream where run = ? and kind in ('token', 'thinking')`).run(n);
}

/** Whether each kept frame, and the state after the last one, is unchanged. */
export function isSameAt(before: MemoryTables, after: MemoryTables, n: number, frame: number): boolean {
  const [was, now] = [before, after].map(({ tables, json }) =>
    tables.intervals
      .heldAt(n, frame)
      .map(({ space, key, value }) => {
        return JSON.stringify([space, key, 'json' in value ? value.json : JSON.parse(json.blobText(value.blob))]);
      })
      .sort(),
  );
  return was?.length === now?.length && (was ?? []).every((text, index) => text === now?.[index]);
}

function replayInto(
  { hasher }: Pick<TakeAwayPorts, 'hasher'>,
  { tables, json }: MemoryTables,
  n: number,
  record: LogRecord,
  away: AwayCheck,
): RewrittenRecord {
  const replayed = replayRows(tables, record, { hasher, textOf: json.blobText, awayOf: () => away, n });
  if (!replayed.ok) throw new StoreDamage(replayed.error.why);
  return replayed.value;
}

function settled(away: AwayCheck): void {
  const fault = away.end();
  if (fault !== undefined) throw new StoreDamage(`record ${fault.record}: ${fault.what}`);
}
