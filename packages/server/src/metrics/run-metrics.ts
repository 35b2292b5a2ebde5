import type { FleetDesk } from '@signalbox/app/fleet';
import type { RunHost } from '@signalbox/app/host';
import manifest from '../../package.json' with { type: 'json' };
import { createLiveMeter, type LiveMeter } from '../live/live-meter.ts';
import { fleetMetrics } from './fleet-metrics.ts';
import { createMetricShelf } from './metric-shelf.ts';
import { modelMetrics } from './model-metrics.ts';
import { processMetrics } from './process-metrics.ts';
import { queueMetrics } from './queue-metrics.ts';
import { storageMetrics } from './storage-metrics.ts';
import { workMetrics } from './work-metrics.ts';

export interface RunMetrics {
  readonly contentType: string;
  /** In the Prometheus text format. */
  text(): Promise<string>;
  close(): void;
}

/**
 * The server's metrics since it started. `docs/metrics.md` lists all of them.
 *
 * 1. The cost of a scrape does not grow with the number of past runs: events are counted as they happen.
 * 2. Labels have a bounded number of values; further ones are `other`.
 */
export function createRunMetrics(
  host: Pick<RunHost, 'reader' | 'feed' | 'driven' | 'activity' | 'providers' | 'storage'>,
  live: LiveMeter = createLiveMeter(),
  fleet?: FleetDesk,
): RunMetrics {
  const shelf = createMetricShelf();
  const stops = [
    workMetrics(shelf, host),
    queueMetrics(shelf, host),
    modelMetrics(shelf, host),
    storageMetrics(shelf, host),
    ...(fleet === undefined ? [] : [fleetMetrics(shelf, fleet)]),
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
