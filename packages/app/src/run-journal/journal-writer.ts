import { type Disk, hostDisk, type Journal } from '@signalbox/journal';
import type { ErrorEnvelope, ProjectId, Result, RunId } from '@signalbox/model';
import type { ProjectReader, RunReader } from '@signalbox/runs';
import { extendJournal, journalOfRun } from './derive-journal.ts';
import { rewriteJournal } from './rewrite-journal.ts';
import { type LogId, type LogOf, ownRecordSchema, type RunRecordEvent } from './run-record-event.ts';
import { openWrittenLengths } from './written-lengths.ts';

/** How many records of a run the end of a process writes. */
export const LAST_RECORDS = 64;

/** Brings journals up to date with their logs. */
export interface JournalWriter {
  /** Runs and projects whose journals may be incomplete. */
  behind(): Promise<readonly LogId[]>;
  /** Returns which of the runs are still incomplete. A run that lacks more than `most` records is skipped. */
  write(runs: readonly LogId[], most?: number): Promise<readonly LogId[]>;
  /** Rewrites a journal, after bodies of its log were replaced. */
  rewrite(run: RunId): Promise<Result<void, ErrorEnvelope>>;
}

/** The logs of runs, and those of projects. */
export type LogReader = Pick<RunReader, 'records'> & Partial<Pick<ProjectReader, 'project' | 'projectRecords'>>;

/**
 * Writes in this thread, and only short writes once the process ends. Recently written journals stay open, so that an active run need not
 * read what it wrote.
 */
export function createJournalWriter(
  dataDirectory: string,
  reader: LogReader,
  isEnding: () => boolean = () => false,
  disk: Disk = hostDisk,
): JournalWriter {
  let open = new Map<LogId, Journal<RunRecordEvent>>();
  const written = openWrittenLengths(dataDirectory, 'journaled', disk);

  /** Ids of runs and projects differ. Undefined if the log was removed meanwhile: it needs no journal. */
  async function kindOf(log: LogId): Promise<LogOf | undefined> {
    if ((await reader.records(log as RunId, 0, 1)).length > 0) return 'run';
    return reader.project?.(log as ProjectId) === undefined ? undefined : 'project';
  }

  const logs: { readonly [Of in LogOf]: Pick<RunReader, 'records'> } = {
    run: reader,
    project: {
      records: async (log, from, limit) => reader.projectRecords?.(log as string as ProjectId, from, limit) ?? [],
    },
  };

  async function isWritten(
    log: LogId,
    known: Journal<RunRecordEvent> | undefined,
    most: number,
    lengths: Map<LogId, number>,
  ): Promise<boolean> {
    const of = await kindOf(log);
    if (of === undefined) return true;
    const journal = known ?? journalOfRun(dataDirectory, log, ownRecordSchema, disk, of);
    const extended = await extendJournal(
      journal,
      dataDirectory,
      logs[of],
      log,
      next => next > (isEnding() ? Math.min(most, LAST_RECORDS) : most),
      disk,
      of,
    );
    if (!extended.ok) return false;
    open.set(log, journal);
    lengths.set(log, extended.value.records);
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
      const left: LogId[] = [];
      const lengths = new Map<LogId, number>();
      for (const log of runs) {
        if (!(await isWritten(log, before.get(log), most, lengths).catch(() => false))) left.push(log);
      }
      written.note(lengths);
      return left;
    },
  };
}
