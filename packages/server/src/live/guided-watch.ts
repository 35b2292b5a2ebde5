import type { GuidedRuns } from '@signalbox/app/guided';
import type { Machine } from '@signalbox/app/runs';
import type { RunId, RunSummary } from '@signalbox/model';

/** How often guided sessions are looked at while somebody watches: any process may write them, and none tells us. */
export const GUIDED_LOOK_MS = 500;

/** Guided runs for all who watch: one look serves them all, and nobody looks where nobody watches. */
export interface GuidedWatch {
  readonly runs: GuidedRuns;
  /** Told of runs that changed, as they are by then. Ends when the returned function is called. */
  subscribe(listener: (changed: readonly RunSummary[]) => void): () => void;
  close(): void;
}

/** `onFault` is told of a look that failed; the next one tries again. */
export function createGuidedWatch(
  runs: GuidedRuns,
  timers: Machine['timers'],
  onFault: (thrown: unknown) => void,
): GuidedWatch {
  const listeners = new Set<(changed: readonly RunSummary[]) => void>();
  let seen: ReadonlyMap<RunId, string> | undefined;
  let endWait: (() => void) | undefined;

  function look(): void {
    const listed = runs.list();
    if (!listed.ok) onFault(new Error(listed.error.message));
    else {
      const now = new Map(listed.value.map(run => [run.id, JSON.stringify(run)]));
      const changed = seen === undefined ? [] : listed.value.filter(({ id }) => seen?.get(id) !== now.get(id));
      seen = now;
      if (changed.length > 0) for (const listener of [...listeners]) listener(changed);
    }
    if (listeners.size > 0) endWait = timers.after(GUIDED_LOOK_MS, look);
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
