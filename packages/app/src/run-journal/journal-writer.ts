import { type Disk, hostDisk, type Journal } from '@signalbox/journal';
import type { ErrorEnvelope, Result, RunId } from '@signalbox/model';
import type { RunReader } from '@signalbox/runs';
import { extendJournal, journalOfRun } from './derive-journal.ts';
import { rewriteJournal } from './rewrite-journal.ts';
import { ownRecordSchema, type RunRecordEvent } from './run-record-event.ts';
import { openWrittenLengths } from './written-lengths.ts';

/** How many records of a run the end of a process writes. */
export const LAST_RECORDS = 64;

/** Brings journals up to date with their logs. */
export interface JournalWriter {
  /** Runs whose journals may be incomplete. */
  behind(): Promise<readonly RunId[]>;
  /** Returns which of the runs are still incomplete. A run that lacks more than `most` records is skipped. */
  write(runs: readonly RunId[], most?: number): Promise<readonly RunId[]>;
  /** Rewrites a journal, after bodies of its log were replaced. */
  rewrite(run: RunId): Promise<Result<void, ErrorEnvelope>>;
}

/**
 * Writes in this thread, and only short writes once the process ends. Recently written journals stay open, so that an active run need not
 * read what it wrote.
 */
export function createJournalWriter(
  dataDirectory: string,
  reader: Pick<RunReader, 'records'>,
  isEnding: () => boolean = () => false,
  disk: Disk = hostDisk,
): JournalWriter {
  let open = new Map<RunId, Journal<RunRecordEvent>>();
  const written = openWrittenLengths(dataDirectory, 'journaled', disk);

  async function isWritten(
    run: RunId,
    journal: Journal<RunRecordEvent>,
    most: number,
    lengths: Map<RunId, number>,
  ): Promise<boolean> {
    // A run that was removed meanwhile needs no journal.
    if ((await reader.records(run, 0, 1)).length === 0) return true;
    const extended = await extendJournal(
      journal,
      dataDirectory,
      reader,
      run,
      next => next > (isEnding() ? Math.min(most, LAST_RECORDS) : most),
      disk,
    );
    if (!extended.ok) return false;
    open.set(run, journal);
    lengths.set(run, extended.value.records);
    return extended.value.isWhole;
  }

  return {
    behind: async () => written.behind(),
    rewrite(run) {
      open.delete(run);
      return rewriteJournal(dataDirectory, reader, run);
    },
    async write(runs, most = Number.POSITIVE_INFINITY) {
      const before = open;
      open = new Map();
      const left: RunId[] = [];
      const lengths = new Map<RunId, number>();
      for (const run of runs) {
        const journal = before.get(run) ?? journalOfRun(dataDirectory, run, ownRecordSchema, disk);
        if (!(await isWritten(run, journal, most, lengths).catch(() => false))) left.push(run);
      }
      written.note(lengths);
      return left;
    },
  };
}
