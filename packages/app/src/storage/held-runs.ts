import { type RunId, runStatus, type StorageStanding } from '@signalbox/model';
import type { CommitNotice, RunFeed, RunReader, RunRecord } from '@signalbox/runs';

type Listed = Awaited<ReturnType<RunReader['runs']>>;

/**
 * Runs in their actual state: a run that waits for the disk is shown as paused with the reason, though that cannot be committed. It is
 * committed as running, or as it was before it was resumed.
 */
export function withHeld<Reader extends Pick<RunReader, 'run' | 'runs' | 'children'>>(
  reader: Reader,
  standing: () => StorageStanding,
): Reader {
  const shown = (record: RunRecord): RunRecord => {
    const now = standing();
    if (now.status === 'ok' || record.status === 'completed' || !now.runs.includes(record.id)) return record;
    return { ...record, status: 'paused', stopReason: now.message };
  };
  return {
    ...reader,
    async run(run: RunId) {
      const record = await reader.run(run);
      return record && shown(record);
    },
    async children(run: RunId) {
      return (await reader.children(run)).map(shown);
    },
    async runs(filter: Parameters<RunReader['runs']>[0] = {}): Promise<Listed> {
      const now = standing();
      if (now.status === 'ok' || filter.status === undefined) {
        const page = await reader.runs(filter);
        return { ...page, items: page.items.map(shown) };
      }
      // Held runs are committed with another status, so a query for paused ones must search all.
      const asked = new Set(filter.status);
      const status = asked.has('paused') ? runStatus.options : filter.status;
      const page = await reader.runs({ ...filter, status });
      return { ...page, items: page.items.map(shown).filter(record => asked.has(record.status)) };
    },
  };
}

/** Also notifies, besides commits, when runs are held or released: with an empty notice. */
export function feedWithHeld(
  feed: RunFeed,
  storage: { standing(): StorageStanding; subscribe(listener: () => void): () => void },
): RunFeed {
  return {
    subscribe(run, listener) {
      let known: readonly RunId[] = [];
      const stopHolds = storage.subscribe(() => {
        const now = storage.standing();
        const held = now.status === 'ok' ? [] : now.runs;
        const changed = [...known.filter(id => !held.includes(id)), ...held.filter(id => !known.includes(id))];
        known = held;
        for (const id of changed) if (run === 'all' || run === id) listener(emptyNotice(id));
      });
      const stop = feed.subscribe(run, listener);
      return () => {
        stop();
        stopHolds();
      };
    },
  };
}

function emptyNotice(run: RunId): CommitNotice {
  return { run, version: 0, seq: 0, asks: false, events: [], stream: [] };
}
