import type { DomainEvent, EventOf, Place } from '@signalbox/workflow';

/** The prefix of the record of a choice that the agent may make itself. */
export const ASSUMED = 'Assumed, not asked: ';

/** The kinds that an attempt appends after its outcome; every append begins with another kind, or with a person's answer. */
const FOLLOWING: ReadonlySet<DomainEvent['kind']> = new Set([
  'node_output_appended',
  'gap_recorded',
  'capability_observed',
  'divergence_recorded',
  'context_set',
  'decision_trace_appended',
]);

/** The history as of when an attempt was recorded: its answer derives from it, whatever was appended since. */
export function historyAt(
  events: readonly DomainEvent[],
  outcome: EventOf<'advance_recorded'> | EventOf<'edge_created'>,
): readonly DomainEvent[] {
  if (outcome.kind === 'edge_created') return firstOf(events, outcome.eventIndex + 1);
  let end = outcome.eventIndex + 1;
  for (let event = events[end]; event !== undefined && isFollowing(event); event = events[end]) end++;
  return firstOf(events, end);
}

/** The history as of a run's start: the trace of the first choice ends that append. */
export function historyAtStart(events: readonly DomainEvent[], root: EventOf<'node_created'>): readonly DomainEvent[] {
  const trace = events.findIndex(
    event => event.kind === 'decision_trace_appended' && event.scope.nodeId === root.scope.nodeId,
  );
  return firstOf(events, Math.max(trace, root.eventIndex) + 1);
}

/** The events appended with the attempt that led to a place; for the root of a run, with its start. */
export function attemptEvents(events: readonly DomainEvent[], { runId, nodeId }: Place): readonly DomainEvent[] {
  const created = events.findLastIndex(event => event.kind === 'node_created' && event.scope.nodeId === nodeId);
  const node = events[created];
  if (node?.kind !== 'node_created') return [];
  if (node.data.parentNodeId === null) {
    return historyAtStart(events, node).slice(
      events.findIndex(event => event.kind === 'run_started' && event.scope.runId === runId),
    );
  }
  let from = created - 1;
  while (from >= 0 && events[from]?.kind !== 'advance_recorded') from--;
  const advance = events[from];
  const isItsOwn =
    advance?.kind === 'advance_recorded' &&
    advance.data.outcome.kind === 'advanced' &&
    advance.data.outcome.toNodeId === nodeId;
  return isItsOwn ? events.slice(from, created) : [];
}

function isFollowing(event: DomainEvent): boolean {
  return FOLLOWING.has(event.kind) && !(event.kind === 'gap_recorded' && event.data.answer !== undefined);
}

/** Returns the list itself if all of it is wanted, so that values cached for it apply. */
function firstOf(events: readonly DomainEvent[], count: number): readonly DomainEvent[] {
  return count >= events.length ? events : events.slice(0, count);
}
