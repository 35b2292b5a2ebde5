import type { RunHost } from '@signalbox/app/host';
import manifest from '../../package.json' with { type: 'json' };
import { createLiveMeter, type LiveMeter } from '../live/live-meter.ts';
import { createMetricShelf } from './metric-shelf.ts';
import { modelMetrics } from './model-metrics.ts';
import { processMetrics } from './process-metrics.ts';
import { queueMetrics } from './queue-metrics.ts';
import { storageMetrics } from './storage-metrics.ts';
import { workMetrics } from './work-metrics.ts';

export interface RunMetrics {
  readonly contentType: string;
  /** In the form that Prometheus reads. */
  text(): Promise<string>;
  close(): void;
}

/**
 * What the server counts, since it started. `docs/metrics.md` names all of it.
 *
 * 1. What a scrape costs does not grow with the runs that there ever were: it is counted as it happens.
 * 2. Labels have a bounded number of values; what is more is `other`.
 */
export function createRunMetrics(
  host: Pick<RunHost, 'reader' | 'feed' | 'driven' | 'activity' | 'providers' | 'storage'>,
  live: LiveMeter = createLiveMeter(),
): RunMetrics {
  const shelf = createMetricShelf();
  const stops = [
    workMetrics(shelf, host),
    queueMetrics(shelf, host),
    modelMetrics(shelf, host),
    storageMetrics(shelf, host),
    processMetrics(shelf, live, manifest.version),
  ];
  return {
    contentType: shelf.registry.contentType,
    text: () => shelf.registry.metrics(),
    close() {
      for (const stop of stops) stop();
    },
  };
}
