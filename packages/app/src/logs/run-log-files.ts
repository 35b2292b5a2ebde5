import type { RunId } from '@signalbox/model';
import type { Timers } from '@signalbox/plan';
import type { RunFeed } from '@signalbox/runs';
import type { JournalMark } from '../run-journal/journal-mark.ts';
import type { RunLogWriter } from './run-log-writer.ts';

/**
 * Has the logs of runs written a moment after what they tell was committed, many lines at a time, by whoever writes them. Nothing
 * waits for it. A log that cannot be written is tried again, after waits that double. What a process that was
 * killed had not written is written after the next start, which knows by the mark since when logs may lack something.
 */
export interface RunLogFiles {
  /** Writes what is left. */
  close(): Promise<void>;
}

export interface RunLogOptions {
  readonly feed: RunFeed;
  readonly timers: Timers;
  readonly mark: JournalMark;
  readonly writer: RunLogWriter;
  /** Writes at the end of a process that was too short to start the other. */
  readonly last?: RunLogWriter | undefined;
  /** Told why a log could not be written; the run goes on. */
  readonly onFault?: ((thrown: unknown) => void) | undefined;
}

/** How long lines are gathered before they are written. */
const GATHER_MS = 100;
/** Between two tries at a log that cannot be written. */
const FIRST_WAIT_MS = 1000;
const MOST_WAIT_MS = 60_000;

export function openRunLogs({ feed, timers, mark, last, onFault, ...options }: RunLogOptions): RunLogFiles {
  let { writer } = options;
  let waiting = new Set<RunId>(mark.behind());
  /** Runs whose last lines could not be written. */
  let behind: ReadonlySet<RunId> = new Set();
  let cancel: (() => void) | undefined;
  let cancelRetry: (() => void) | undefined;
  let writing: Promise<void> = Promise.resolve();
  let waitMs = FIRST_WAIT_MS;
  let isClosed = false;
  let hasWritten = false;

  const unsubscribe = feed.subscribe('all', ({ run }) => {
    waiting.add(run);
    cancel ??= timers.after(GATHER_MS, flush);
  });

  if (waiting.size > 0) cancel = timers.after(GATHER_MS, flush);

  function flush(): void {
    cancel = undefined;
    writing = writing.then(write);
  }

  async function write(): Promise<void> {
    const runs = [...waiting];
    waiting = new Set();
    if (runs.length === 0) return;
    hasWritten = true;
    const { left, fault } = await writer.writeLogs(runs).catch(thrown => ({ left: runs, fault: thrown as unknown }));
    if (fault !== undefined && left.some(run => !behind.has(run))) onFault?.(fault);
    behind = new Set([...[...behind].filter(run => !runs.includes(run)), ...left]);
    if (behind.size === 0) waitMs = FIRST_WAIT_MS;
    else if (!isClosed) {
      cancelRetry?.();
      cancelRetry = timers.after(waitMs, retry);
      waitMs = Math.min(waitMs * 2, MOST_WAIT_MS);
    }
  }

  function retry(): void {
    for (const run of behind) waiting.add(run);
    flush();
  }

  return {
    async close() {
      unsubscribe();
      isClosed = true;
      cancel?.();
      cancelRetry?.();
      const since = mark.now();
      await writing;
      if (!hasWritten && last !== undefined) writer = last;
      await write();
      const { fault } = await writer.restLogs().catch(thrown => ({ fault: thrown as unknown }));
      if (fault !== undefined) onFault?.(fault);
      if (behind.size === 0) mark.whole(since);
    },
  };
}
