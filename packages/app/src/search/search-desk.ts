/**
 * The search of a data directory, in the process that owns it.
 *
 * F1  Commits do not wait for the index: it is brought up to date by the thread that writes journals, some time after a commit.
 * F2  A search brings it up to date first, but waits only a moment; the answer says how much is missing.
 */
import { type ErrorEnvelope, type FindQuery, type FoundList, ok, type Result } from '@signalbox/model';
import type { Timers } from '@signalbox/plan';
import type { RunFeed } from '@signalbox/runs';
import type { DerivedThread } from '../run-journal/journal-thread.ts';

export interface SearchDesk {
  find(query: FindQuery): Promise<Result<FoundList, ErrorEnvelope>>;
  /** Begins to bring the index up to date: something was removed. */
  refresh(): void;
  close(): void;
}

export interface SearchDeskPorts {
  readonly feed: RunFeed;
  readonly timers: Timers;
  readonly derived: Pick<DerivedThread, 'refreshSearch' | 'find'>;
}

/** Long after the journals are written: a run that works all the time is indexed this often. */
const SOON_MS = 3_000;
/** How long a search waits for the index. */
const WAIT_MS = 400;

export function createSearchDesk({ feed, timers, derived }: SearchDeskPorts): SearchDesk {
  let planned: (() => void) | undefined;
  let running: Promise<number> | undefined;
  /** Runs with commits that no finished refresh has seen. */
  let due = new Set<string>();

  function refresh(): Promise<number> {
    running ??= (async () => {
      const seen = due;
      due = new Set();
      try {
        return await derived.refreshSearch();
      } catch {
        // The next search tries again.
        for (const run of seen) due.add(run);
        return seen.size;
      } finally {
        running = undefined;
      }
    })();
    return running;
  }

  const unsubscribe = feed.subscribe('all', ({ run }) => {
    due.add(run);
    planned ??= timers.after(SOON_MS, () => {
      planned = undefined;
      void refresh();
    });
  });

  return {
    async find(query) {
      let cancel = () => {};
      const late = new Promise<number>(resolve => {
        cancel = timers.after(WAIT_MS, () => resolve(Math.max(1, due.size)));
      });
      const behind = await Promise.race([refresh(), late]);
      cancel();
      return ok({ ...(await derived.find(query)), behind });
    },
    refresh: () => void refresh(),
    close() {
      unsubscribe();
      planned?.();
    },
  };
}
