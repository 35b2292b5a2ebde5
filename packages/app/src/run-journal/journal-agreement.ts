import { nodeHasher } from '@signalbox/journal';
import type { Digest, RunId } from '@signalbox/model';
import { type LogRecord, openRecord, type RunReader } from '@signalbox/runs';
import { journalOfRun } from './derive-journal.ts';
import type { LogId, LogOf, RunRecordEvent } from './run-record-event.ts';

const PAGE = 500;

/** The content of a run's journal. */
export interface JournalRecords {
  readonly records: readonly RunRecordEvent[];
  /** Why it cannot be read. */
  readonly fault?: string;
}

export function readJournal(dataDirectory: string, log: LogId, of: LogOf = 'run'): JournalRecords {
  const journal = journalOfRun(dataDirectory, log, undefined, undefined, of).read();
  return journal.ok ? { records: journal.value.events() } : { records: [], fault: journal.error.message };
}

/**
 * Why the records in the journal of a run differ from those of its log; they were written at another time, perhaps before a change. A
 * missing or short journal disagrees with nothing. The log must be read after the journal, which follows it, unless the journal may be
 * ahead.
 */
export async function journalDisagreement(
  { records: events, fault }: JournalRecords,
  reader: Pick<RunReader, 'records'>,
  run: RunId,
  { mayBeAhead = false }: { readonly mayBeAhead?: boolean } = {},
): Promise<string | undefined> {
  if (fault !== undefined) return fault;
  for (let n = 0; n < events.length; ) {
    const page = await reader.records(run, n, Math.min(PAGE, events.length - n));
    if (page.length === 0) return mayBeAhead ? undefined : `it has ${events.length} records, the log ${n}`;
    for (const record of page) {
      const data = events[n]?.data;
      if (data === undefined || record.hash !== data.hash || record.header !== data.header) return changedAt(n);
      if (!isSameBody(data, record)) return takenAt(n, record) ?? changedAt(n);
      n += 1;
    }
  }
  return undefined;
}

/** A body that is too large for the journal is named: by `blob`, or by the header. */
function isSameBody(
  { body, blob }: { readonly body?: string | undefined; readonly blob?: Digest | undefined },
  record: LogRecord,
): boolean {
  if (body !== undefined) return body === record.body;
  const digest = nodeHasher(record.body);
  if (blob !== undefined) return blob === digest;
  // The header of a run's record and that of a project's both name it.
  return record.header.endsWith(`"body":"${digest}"}`);
}

function changedAt(n: number): string {
  return `its record ${n} is not that of the log: the log was changed after it was written`;
}

/** The journal holds a body that the log marks as replaced. */
function takenAt(n: number, record: LogRecord): string | undefined {
  const opened = openRecord(record, nodeHasher);
  const by = opened.ok ? opened.value.body.away?.by : undefined;
  return by === undefined
    ? undefined
    : `its record ${n} still has the body that record ${by} of the log replaced: whoever replaced it did not do so through Signalbox, ` +
        'or was cut off; the next start of an owner ends what was cut off';
}
