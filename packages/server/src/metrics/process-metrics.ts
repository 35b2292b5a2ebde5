import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { LiveMeter } from '../live/live-meter.ts';
import type { MetricShelf } from './metric-shelf.ts';

/** How often the event loop is sampled. */
const RESOLUTION_MS = 20;

/** Seconds beyond the sampling interval, which is part of what is measured. */
const lateness = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000);

/** The delay of the server's event loop, and its watchers. */
export function processMetrics(shelf: MetricShelf, live: LiveMeter, version: string): () => void {
  shelf.gauges('build_info', 'Always 1; the label is the running version.', ['version'], () => [[{ version }, 1]]);

  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const late = { median: 0, p99: 0, worst: 0 };
  // The first of the three gauges to be read takes the measurements since the last scrape for all of them.
  shelf.gauge('event_loop_delay_p50_seconds', 'Event loop delay since the last scrape, median.', () => {
    const isMeasured = delay.count > 0;
    late.median = isMeasured ? lateness(delay.percentile(50)) : 0;
    late.p99 = isMeasured ? lateness(delay.percentile(99)) : 0;
    late.worst = isMeasured ? lateness(delay.max) : 0;
    delay.reset();
    return late.median;
  });
  shelf.gauge(
    'event_loop_delay_p99_seconds',
    'Event loop delay since the last scrape, 99th percentile.',
    () => late.p99,
  );
  shelf.gauge('event_loop_delay_max_seconds', 'Event loop delay since the last scrape, maximum.', () => late.worst);

  shelf.gauge('live_connections', 'Clients connected to the live socket.', () => live.connections);
  shelf.gauges('live_subscriptions', 'Subscriptions of clients: to one run, to all, or to the fleet.', ['of'], () => [
    [{ of: 'run' }, live.subscriptions.run],
    [{ of: 'all' }, live.subscriptions.all],
    [{ of: 'fleet' }, live.subscriptions.fleet],
  ]);
  const dropped = shelf.counter(
    'live_dropped_total',
    'Parts of agent output that were not sent because too much waited for the client.',
  );
  const tooSlow = shelf.counter('live_slow_clients_total', 'Clients that were cut off because they did not read.');
  const stop = live.listen({ dropped: count => dropped.inc(count), tooSlow: () => tooSlow.inc() });
  return () => {
    stop();
    delay.disable();
  };
}
