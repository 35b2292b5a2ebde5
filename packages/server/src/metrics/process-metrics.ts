import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { LiveMeter } from '../live/live-meter.ts';
import type { MetricShelf } from './metric-shelf.ts';

/** How often the loop is looked at. */
const RESOLUTION_MS = 20;

/** Seconds beyond the time after which a look was due, which is part of what is measured. */
const lateness = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000);

/** How late the server itself is, and who watches. */
export function processMetrics(shelf: MetricShelf, live: LiveMeter, version: string): () => void {
  shelf.gauges('build_info', 'Always 1; the label says which version runs.', ['version'], () => [[{ version }, 1]]);

  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const late = { median: 0, p99: 0, worst: 0 };
  // The first of the three that is looked at takes what was measured since the last scrape, for all of them.
  shelf.gauge(
    'event_loop_delay_p50_seconds',
    'How late the loop of events was since the last scrape, half of the time.',
    () => {
      const isMeasured = delay.count > 0;
      late.median = isMeasured ? lateness(delay.percentile(50)) : 0;
      late.p99 = isMeasured ? lateness(delay.percentile(99)) : 0;
      late.worst = isMeasured ? lateness(delay.max) : 0;
      delay.reset();
      return late.median;
    },
  );
  shelf.gauge(
    'event_loop_delay_p99_seconds',
    'How late the loop of events was since the last scrape, all but one time in a hundred.',
    () => late.p99,
  );
  shelf.gauge(
    'event_loop_delay_max_seconds',
    'How late the loop of events was since the last scrape, at worst.',
    () => late.worst,
  );

  shelf.gauge('live_connections', 'Clients that are connected to the live socket.', () => live.connections);
  shelf.gauges('live_subscriptions', 'What clients watch: one run, or all.', ['of'], () => [
    [{ of: 'run' }, live.subscriptions.run],
    [{ of: 'all' }, live.subscriptions.all],
  ]);
  const dropped = shelf.counter(
    'live_dropped_total',
    'Parts of what agents said that were not sent to a client, because too much waited for it.',
  );
  const tooSlow = shelf.counter('live_slow_clients_total', 'Clients that were cut off because they did not read.');
  const stop = live.listen({ dropped: count => dropped.inc(count), tooSlow: () => tooSlow.inc() });
  return () => {
    stop();
    delay.disable();
  };
}
