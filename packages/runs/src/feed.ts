import type { RunId } from '@signalbox/model';
import type { CommitNotice, RunFeed } from './reader.ts';

/** Publishes commits to subscribers in order; each notice reaches all of them before the next. */
export function createFeed(): RunFeed & { tell(notices: readonly CommitNotice[]): void } {
  const listeners = new Map<RunId | 'all', Set<(notice: CommitNotice) => void>>();
  return {
    subscribe(run, listener) {
      // A separate function, so that one listener can subscribe twice and end each subscription on its own.
      const own = (notice: CommitNotice) => listener(notice);
      const others = listeners.get(run) ?? new Set();
      listeners.set(run, others.add(own));
      return () => {
        others.delete(own);
        if (others.size === 0 && listeners.get(run) === others) listeners.delete(run);
      };
    },
    tell(notices) {
      for (const notice of notices) {
        for (const listener of [...(listeners.get(notice.run) ?? []), ...(listeners.get('all') ?? [])]) {
          listener(notice);
        }
      }
    },
  };
}
