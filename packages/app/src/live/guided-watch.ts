import type { GuidedRuns } from '@signalbox/guided';
import type { RunId, RunSummary } from '@signalbox/model';
import type { Machine } from '../machine.ts';

/**
 * How often guided sessions are polled while a client watches: any process may write them without notice. Polling costs a little per
 * session, so it slows down with many.
 */
const GUIDED_LOOK_MS = 500;
const RUNS_A_LOOK = 200;

/** Watches guided runs for all clients with one poll, and only while a client watches. */
export interface GuidedWatch {
  readonly runs: GuidedRuns;
  /** Calls the listener with the new state of changed runs, until the returned function is called. */
  subscribe(listener: (changed: readonly RunSummary[]) => void): () => void;
  close(): void;
}

/** `onFault` gets the error of a failed poll; the next one tries again. */
export function createGuidedWatch(
  runs: GuidedRuns,
  timers: Machine['timers'],
  onFault: (thrown: unknown) => void,
): GuidedWatch {
  const listeners = new Set<(changed: readonly RunSummary[]) => void>();
  let seen: ReadonlyMap<RunId, RunSummary> | undefined;
  let endWait: (() => void) | undefined;

  function look(): void {
    const listed = runs.list();
    if (!listed.ok) onFault(new Error(listed.error.message));
    else {
      const before = seen;
      const changed = before === undefined ? [] : listed.value.filter(run => !isSame(before.get(run.id), run));
      seen = new Map(listed.value.map(run => [run.id, run]));
      if (changed.length > 0) for (const listener of [...listeners]) listener(changed);
    }
    if (listeners.size > 0) {
      endWait = timers.after(GUIDED_LOOK_MS * (1 + Math.floor((seen?.size ?? 0) / RUNS_A_LOOK)), look);
    }
  }

  function rest(): void {
    endWait?.();
    endWait = undefined;
    seen = undefined;
  }

  return {
    runs,
    subscribe(listener) {
      listeners.add(listener);
      if (listeners.size === 1) look();
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) rest();
      };
    },
    close() {
      listeners.clear();
      rest();
    },
  };
}

function isSame(before: RunSummary | undefined, run: RunSummary): boolean {
  return before === run || (before !== undefined && JSON.stringify(before) === JSON.stringify(run));
}
