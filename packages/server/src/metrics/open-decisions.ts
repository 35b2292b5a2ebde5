import type { CommitNotice, RunHost } from '@signalbox/app/host';

export interface OpenDecisions {
  count(): Promise<number>;
  close(): void;
}

/**
 * Counts open decisions. They are read once, at the first request, and followed from then on: later requests cost nothing, however many
 * decisions there ever were.
 */
export function countOpenDecisions({ reader, feed }: Pick<RunHost, 'reader' | 'feed'>): OpenDecisions {
  const open = new Set<string>();
  /** Decisions closed while the open ones are being read, which may return old rows. */
  const closed = new Set<string>();
  let reading: Promise<void> | undefined;
  let isRead = false;
  let stop = () => {};

  const follow = ({ events }: CommitNotice): void => {
    for (const { event } of events) {
      switch (event.type) {
        case 'decision.asked':
          open.add(event.decision);
          break;
        case 'decision.answered':
        case 'decision.withdrawn':
          open.delete(event.decision);
          if (reading !== undefined) closed.add(event.decision);
          break;
        // These include decisions.
        case 'run.imported':
        case 'run.forked':
          isRead = false;
          break;
        default:
          break;
      }
    }
  };

  async function read(): Promise<void> {
    stop();
    stop = feed.subscribe('all', follow);
    closed.clear();
    isRead = false;
    const found = await reader.decisions({ status: ['open'] });
    for (const { decision } of found) if (!closed.has(decision.id)) open.add(decision.id);
    closed.clear();
    isRead = true;
  }

  return {
    async count() {
      if (!isRead) {
        reading ??= read().finally(() => {
          reading = undefined;
        });
        await reading;
      }
      return open.size;
    },
    close: () => stop(),
  };
}
