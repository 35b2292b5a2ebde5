import type { RunId } from '@signalbox/model';
import type { Timers } from '@signalbox/plan';
import type { RunFeed } from '@signalbox/runs';
import type { RunLogWriter } from './run-log-writer.ts';

/**
 * Writes the logs of runs shortly after their commits, many lines at a time. Nothing waits for it. A log that cannot be written is retried,
 * after doubling waits. Lines that a killed process had not written are written after the next start, which compares how many records each
 * run has with how many its log has.
 */
export interface RunLogFiles {
  /** Writes the rest. */
  close(): Promise<void>;
}

export interface RunLogOptions {
  readonly feed: RunFeed;
  readonly timers: Timers;
  readonly writer: RunLogWriter;
  /** Writes at the end of a process that was too short to start the other writer. */
  readonly last?: RunLogWriter | undefined;
  /** Called with why a log could not be written; the run continues. */
  readonly onFault?: ((thrown: unknown) => void) | undefined;
}

/** How long lines are collected before they are written. */
const GATHER_MS = 100;
/** When the first lines are written, and logs of earlier processes checked: the start itself needs the processors more. */
const FIRST_MS = 500;
/** Between two attempts at a log that cannot be written. */
const FIRST_WAIT_MS = 1000;
const MOST_WAIT_MS = 60_000;

export function openRunLogs({ feed, timers, last, onFault, ...options }: RunLogOptions): RunLogFiles {
  let { writer } = options;
  let waiting = new Set<RunId>();
  let hasLooked = false;
  /** Runs whose last lines could not be written. */
  let behind: ReadonlySet<RunId> = new Set();
  let cancel: (() => void) | undefined;
  let cancelRetry: (() => void) | undefined;
  let writing: Promise<void> = Promise.resolve();
  let waitMs = FIRST_WAIT_MS;
  let isClosed = false;
  let hasWritten = false;
  let isGathering = true;

  const unsubscribe = feed.subscribe('all', ({ run }) => {
    waiting.add(run);
    if (isGathering) return;
    isGathering = true;
    cancel = timers.after(GATHER_MS, flush);
  });

  cancel = timers.after(FIRST_MS, flush);

  function flush(): void {
    cancel = undefined;
    isGathering = false;
    writing = writing.then(write);
  }

  async function write(): Promise<void> {
    if (!hasLooked && !isClosed) {
      hasLooked = true;
      for (const run of await writer.behindLogs().catch(() => [])) waiting.add(run);
    }
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
      await writing;
      if (!hasWritten && last !== undefined) writer = last;
      await write();
      const { fault } = await writer.restLogs().catch(thrown => ({ fault: thrown as unknown }));
      if (fault !== undefined) onFault?.(fault);
    },
  };
}
