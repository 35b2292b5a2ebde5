import type { FleetDesk } from '@signalbox/app/fleet';
import type { MetricShelf } from './metric-shelf.ts';

/** Fine enough for the 50th, 95th and 99th percentile of what the specification allows: 50 to 500 milliseconds. */
const LATENCY_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1, 5];

/** The agents of the fleet, and how fast their events arrive. */
export function fleetMetrics(shelf: MetricShelf, fleet: FleetDesk): () => void {
  const events = shelf.counter('fleet_events_total', 'Events of agents that were published, by type.', ['type']);
  const latency = shelf.histogram(
    'fleet_event_latency_seconds',
    'Time from an event at its agent to its publication, by type.',
    LATENCY_BUCKETS,
    ['type'],
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
    latency.observe({ type }, Math.max(0, publishedAt - occurredAt) / 1_000);
  });
}
