import type { RunHost } from '@signalbox/app/host';
import { storageReason } from '@signalbox/model';
import type { MetricShelf } from './metric-shelf.ts';

/** Whether the data directory accepts writes, and what waits for it. */
export function storageMetrics(shelf: MetricShelf, { storage }: Pick<RunHost, 'storage'>): () => void {
  shelf.gauges('storage_held', '1 while the data directory accepts no writes, by reason.', ['reason'], () => {
    const { status } = storage.standing();
    return storageReason.options.map(reason => [{ reason }, status === reason ? 1 : 0] as const);
  });
  shelf.gauge('storage_held_runs', 'Runs that are paused because the data directory accepts no writes.', () => {
    const now = storage.standing();
    return now.status === 'ok' ? 0 : now.runs.length;
  });
  const holds = shelf.counter('storage_holds_total', 'Times when the data directory stopped accepting writes.');
  let isHeld = false;
  return storage.subscribe(() => {
    const { status } = storage.standing();
    if (status !== 'ok' && !isHeld) holds.inc();
    isHeld = status !== 'ok';
  });
}
