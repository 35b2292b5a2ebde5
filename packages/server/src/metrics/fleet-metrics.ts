import type { FleetDesk } from '@signalbox/app/fleet';
import type { MetricShelf } from './metric-shelf.ts';

/** Fine enough for the 50th, 95th and 99th percentile of what the specification allows: 50 to 500 milliseconds. */
const LATENCY_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1, 5];

const PERCENTILES = [50, 95, 99];
/** Events of each type that percentiles are computed from. */
const LATEST = 1_000;

/** The agents of the fleet, and how fast their events arrive. */
export function fleetMetrics(shelf: MetricShelf, fleet: FleetDesk): () => void {
  const events = shelf.counter('fleet_events_total', 'Events of agents that were published, by type.', ['type']);
  const latency = shelf.histogram(
    'fleet_event_latency_seconds',
    'Time from an event at its agent to its publication, by type.',
    LATENCY_BUCKETS,
    ['type'],
  );
  const latest = new Map<string, number[]>();
  shelf.gauges(
    'fleet_event_latency_percentile_seconds',
    `The time from an event at its agent to its publication, by type, over the latest ${LATEST} of each.`,
    ['type', 'percentile'],
    () =>
      [...latest].flatMap(([type, seconds]) => {
        const sorted = seconds.toSorted((a, b) => a - b);
        return PERCENTILES.map(p => [{ type, percentile: `${p}` }, percentileOf(sorted, p)] as const);
      }),
  );
  shelf.gauges('fleet_agents', 'Agents, by standing.', ['standing'], () => {
    const counts = new Map<string, number>();
    for (const { standing } of fleet.agents()) counts.set(standing, (counts.get(standing) ?? 0) + 1);
    return [...counts].map(([standing, count]) => [{ standing }, count] as const);
  });
  shelf.gauge('fleet_decisions_open', 'Decisions of agents that wait for a person.', () => fleet.queue().length);
  shelf.gauge('fleet_tick', 'The current tick.', () => fleet.ticks().current);
  return fleet.onPublished(({ type, occurredAt, publishedAt }) => {
    events.inc({ type });
    // The clock of an agent may be ahead of ours.
    const seconds = Math.max(0, publishedAt - occurredAt) / 1_000;
    latency.observe({ type }, seconds);
    const kept = latest.get(type) ?? [];
    kept.push(seconds);
    if (kept.length > LATEST) kept.shift();
    latest.set(type, kept);
  });
}

/** The smallest value that so many percent of the values are not above. */
function percentileOf(sorted: readonly number[], percentile: number): number {
  return sorted[Math.max(0, Math.ceil((percentile / 100) * sorted.length) - 1)] ?? 0;
}
