import {
  type Disk,
  type EventSchema,
  hostDisk,
  type Journal,
  lineLocks,
  nodeHasher,
  openContentStore,
  openJournal,
  zstdPacking,
} from '@signalbox/journal';
import { type ErrorEnvelope, err, failure, ok, type Result, type RunId, type SessionId } from '@signalbox/model';
import type { LogRecord, RunReader } from '@signalbox/runs';
import { openBlobFiles } from '@signalbox/store';
import {
  draftOfRecord,
  type JournaledRecord,
  type LogId,
  type LogOf,
  type RunRecordEvent,
  recordSchemas,
} from './run-record-event.ts';

/** The most records of one append; the journal's own bound is higher. */
const MAX_RECORDS = 500;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * The journal of a run: `runs/<run>` in the data directory, in the attested form of every journal. Only the owner of the data directory
 * writes it, in one thread at a time: the owner's lock excludes all others.
 */
export function journalOfRun(
  dataDirectory: string,
  run: LogId,
  schema?: EventSchema<RunRecordEvent>,
  disk: Disk = hostDisk,
  of: LogOf = 'run',
): Journal<RunRecordEvent> {
  const writer = `journal-${process.pid}`;
  return openJournal({
    disk,
    locks: lineLocks,
    hasher: nodeHasher,
    schema: schema ?? recordSchemas[of],
    snapshots: openContentStore({ disk, hasher: nodeHasher, home: dataDirectory, name: 'snapshots', writer }),
    home: dataDirectory,
    collection: collections[of],
    // A journal has a single log, whose id it uses.
    sessionId: run as string as SessionId,
    packing: zstdPacking,
  });
}

/** Where the journals of logs are. */
export const collections: { readonly [Of in LogOf]: string } = { run: 'runs', project: 'projects' };

/** How many records a journal has, and how many of them are new. */
export interface DerivedJournal {
  readonly records: number;
  readonly added: number;
  /** Whether it has every record of the log as last read. */
  readonly isWhole: boolean;
}

/** Brings the journal of a run up to date with its log (T3). It holds the same records; existing ones are not written again. */
export async function deriveJournal(
  dataDirectory: string,
  reader: Pick<RunReader, 'records'>,
  run: RunId,
): Promise<Result<DerivedJournal, ErrorEnvelope>> {
  return extendJournal(journalOfRun(dataDirectory, run), dataDirectory, reader, run);
}

/** The same for an open journal. It ends early when the given number of records is reached. */
export async function extendJournal(
  journal: Journal<RunRecordEvent>,
  dataDirectory: string,
  reader: Pick<RunReader, 'records'>,
  run: LogId,
  isEnough: (next: number) => boolean = () => false,
  disk: Disk = hostDisk,
  of: LogOf = 'run',
): Promise<Result<DerivedJournal, ErrorEnvelope>> {
  return journal.withLock<DerivedJournal, ErrorEnvelope>(async (witness, view) => {
    const before = view.length;
    let length = before;
    for (;;) {
      const page = await reader.records(run as RunId, length, MAX_RECORDS);
      const records = bounded(page);
      const derived = { records: length, added: length - before };
      if (records.length === 0) return ok({ ...derived, isWhole: true });
      if (isEnough(records.length)) return ok({ ...derived, isWhole: false });
      const drafts = [];
      for (const [index, record] of records.entries()) {
        if (record.body === '') return err(unreadable(of, run, length + index));
        const held = smallEnough(dataDirectory, record, disk);
        if (!held.ok) return held;
        drafts.push(draftOfRecord(run, length + index, held.value, of));
      }
      const appended = journal.append(witness, { events: drafts });
      if (!appended.ok) return err(appended.error);
      length += records.length;
      // Following a growing log would write a segment for every record.
      if (page.length < MAX_RECORDS && records.length === page.length) {
        return ok({ records: length, added: length - before, isWhole: true });
      }
    }
  });
}

/** A journal vouches for its content: unreadable records are not added. */
function unreadable(of: LogOf, log: LogId, n: number): ErrorEnvelope<'store/damaged'> {
  return failure('store/damaged', {
    message: `The journal of ${of} ${log} ends before record ${n}, whose body cannot be read: the database is damaged.`,
    suggestion: `Verify it with "signalbox verify ${log}", and restore it from a backup or an export.`,
    details: { [of]: log, record: n },
  });
}

/** The records of one append; at least one. */
function bounded(records: readonly LogRecord[]): readonly LogRecord[] {
  let bytes = 0;
  const end = records.findIndex(({ header, body }, index) => {
    bytes += (header.length + body.length) * 3;
    return bytes > MAX_BYTES && index > 0;
  });
  return end < 0 ? records : records.slice(0, end);
}

/** Puts a body that is too large for an append into a blob: the one that its header names, unless the body was replaced. */
function smallEnough(dataDirectory: string, record: LogRecord, disk: Disk): Result<JournaledRecord, ErrorEnvelope> {
  const { header, body, hash } = record;
  if (body.length <= MAX_BYTES) return ok(record);
  const blobs = openBlobFiles({ disk, hasher: nodeHasher, home: dataDirectory, writer: `journal-${process.pid}` });
  const put = blobs.put(Buffer.from(body));
  if (!put.ok) return put;
  const isReplaced = !header.includes(put.value);
  return ok({ header, hash, ...(isReplaced && { blob: put.value }) });
}
