import type { ErrorEnvelope, Result, RunId } from '@signalbox/model';
import type { Timers } from '@signalbox/plan';
import type { ProjectLog, RunFeed } from '@signalbox/runs';
import { type JournalWriter, LAST_RECORDS } from './journal-writer.ts';
import type { LogId } from './run-record-event.ts';

/**
 * Writes the journals of runs and projects soon after their commits.
 *
 * K1  Journals are copies: nothing waits for them. A commit is written within a second, many records at a time.
 * K2  A journal that cannot be written now is retried, after doubling waits.
 * K3  The end of the process finishes the current write, and writes only short ones. The next process writes the rest after comparing how
 *     many records each log has with how many its journal is known to hold; so does an export or a verification of the run.
 */
export interface JournalKeeper {
  /** Writes the missing records of a journal now. */
  drain(log: LogId): Promise<void>;
  /** Rewrites a journal, after bodies of its log were replaced: by the writer of all others, between two writes. */
  rewrite(run: RunId): Promise<Result<void, ErrorEnvelope>>;
  close(): Promise<void>;
}

export interface JournalKeeperPorts {
  readonly feed: RunFeed;
  /** Says which projects were committed to. */
  readonly projects?: Pick<ProjectLog, 'onProjectCommit'>;
  readonly timers: Timers;
  /** Writes while the process runs. It may take a moment to start. */
  readonly writer: JournalWriter & { isStarted(): boolean; end(): void; close(): Promise<void> };
  /** Writes at the end of a process that was too short to start the other writer. */
  readonly last: JournalWriter;
}

const SOON_MS = 500;
const FIRST_WAIT_MS = 1000;
const MOST_WAIT_MS = 60_000;
/** For how many runs the end of the process writes something. */
const LAST_RUNS = 4;

export function createJournalKeeper({ feed, projects, timers, writer, last }: JournalKeeperPorts): JournalKeeper {
  const due = new Set<LogId>();
  let hasLooked = false;
  let writing: Promise<void> = Promise.resolve();
  let waitMs = FIRST_WAIT_MS;
  let planned: (() => void) | undefined;
  let isClosed = false;

  function plan(ms: number): void {
    planned ??= timers.after(ms, () => {
      planned = undefined;
      writing = writing.then(writeDue);
    });
  }

  async function writeDue(): Promise<void> {
    if (!hasLooked && !isClosed) {
      hasLooked = true;
      for (const run of await writer.behind().catch(() => [])) due.add(run);
    }
    const runs = [...due];
    due.clear();
    const left = runs.length === 0 ? runs : await writer.write(runs).catch(() => runs);
    for (const run of left) due.add(run);
    if (left.length === 0) {
      waitMs = FIRST_WAIT_MS;
    } else if (!isClosed) {
      plan(waitMs);
      waitMs = Math.min(waitMs * 2, MOST_WAIT_MS);
    }
  }

  const soon = (log: LogId) => {
    due.add(log);
    plan(SOON_MS);
  };
  const unsubscribe = feed.subscribe('all', ({ run }) => soon(run));
  const forgetProjects = projects?.onProjectCommit(soon);
  plan(SOON_MS);

  return {
    async drain(log) {
      due.add(log);
      writing = writing.then(writeDue);
      await writing;
    },
    rewrite(run) {
      const done = writing.then(() => writer.rewrite(run));
      writing = done.then(
        () => {},
        () => {},
      );
      return done;
    },
    async close() {
      unsubscribe();
      forgetProjects?.();
      isClosed = true;
      planned?.();
      writer.end();
      await writing;
      if (due.size > 0 && due.size <= LAST_RUNS) {
        await (writer.isStarted() ? writer : last).write([...due], LAST_RECORDS).catch(() => {});
      }
      await writer.close();
    },
  };
}
