import { canonicalJson } from '@signalbox/model';
import { seededRng } from '@signalbox/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { projectCapabilities } from '../../src/projections/capabilities.ts';
import { rankResumable } from '../../src/projections/resume-ranking.ts';
import { projectRunContexts } from '../../src/projections/run-context.ts';
import { lineage, projectRunDags } from '../../src/projections/run-dag.ts';
import { projectSession } from '../../src/projections/session-view.ts';
import type { DomainEvent } from '../../src/session/domain-event.ts';
import { historyFault } from '../../src/session/history-fault.ts';
import { SESSION } from '../session/guided-session.ts';
import { randomSession } from '../session/random-session.ts';

/** Everything that is projected, as one text. */
function projected(events: readonly DomainEvent[]): string {
  const dags = projectRunDags(events);
  const ranked = rankResumable([{ sessionId: SESSION, health: 'healthy', events }], { text: 'did' });
  return canonicalJson({
    view: projectSession(events, { health: 'healthy', engineStateOf: () => undefined }),
    dags: [...dags.values()].map(dag => [
      dag.runId,
      dag.preferredTip ?? null,
      dag.edges,
      [...dag.nodes.values()],
      [...dag.nodes.keys()].map(nodeId => lineage(dag, nodeId).length),
    ]),
    contexts: [...projectRunContexts(events)],
    capabilities: [...projectCapabilities(events)],
    ranked,
  });
}

describe('projections', () => {
  it('[W89] are total: any events in any order, of any prefix, have one, and the same one again', async () => {
    const session = await randomSession(11, 60);
    const events = session.events();
    fc.assert(
      fc.property(fc.nat(), fc.nat({ max: events.length }), fc.boolean(), (seed, length, isShuffled) => {
        const rng = seededRng(seed);
        const order = isShuffled
          ? events.map(event => [rng.below(1_000_000), event] as const).sort(([left], [right]) => left - right)
          : events.map(event => [0, event] as const);
        const some = order.slice(0, length).map(([, event]) => event);
        expect(projected(some)).toBe(projected(some));
      }),
      { numRuns: 100 },
    );
  });

  it('[W89] every prefix of a session that was really walked is a history', async () => {
    for (const seed of [1, 2, 3]) {
      const events = (await randomSession(seed, 40)).events();
      expect(historyFault(events)).toBeUndefined();
      for (const [index, event] of events.entries()) expect(event.eventIndex).toBe(index);
    }
  });

  it('[W83] a node that is its own ancestor is walked once', async () => {
    const events = (await randomSession(4, 10))
      .events()
      .map(event =>
        event.kind === 'node_created' ? { ...event, data: { ...event.data, parentNodeId: event.scope.nodeId } } : event,
      );
    for (const dag of projectRunDags(events).values()) {
      expect(dag.preferredTip).toBeUndefined();
      for (const nodeId of dag.nodes.keys()) expect(lineage(dag, nodeId).length).toBe(1);
    }
  });
});
