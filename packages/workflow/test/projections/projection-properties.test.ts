import { canonicalJson } from '@signalbox/model';
import { seededRng } from '@signalbox/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { projectCapabilities } from '../../src/projections/capabilities.ts';
import { projectPreferences } from '../../src/projections/effective-preferences.ts';
import { projectGaps } from '../../src/projections/gaps.ts';
import { projectNodeOutputs } from '../../src/projections/node-outputs.ts';
import { rankResumable } from '../../src/projections/resume-ranking.ts';
import { projectRunContexts } from '../../src/projections/run-context.ts';
import { lineage, projectRunDags } from '../../src/projections/run-dag.ts';
import { projectSession } from '../../src/projections/session-view.ts';
import { nextAttemptId, nextCheckpointId } from '../../src/session/attempts.ts';
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
    gaps: projectGaps(events),
    preferences: [...projectPreferences(events)],
    outputs: [...projectNodeOutputs(events)],
    next: [...dags.values()].flatMap(({ runId, nodes }) =>
      [...nodes.keys()].map(nodeId => {
        const place = { sessionId: SESSION, runId, nodeId };
        return [nextAttemptId(events, place), nextCheckpointId(events, place)];
      }),
    ),
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

  it('[W175] of a history that goes on, append by append, are those of the whole, and leave the earlier ones as they were', async () => {
    const walked = (await randomSession(12, 25)).events();
    fc.assert(
      fc.property(fc.nat(), fc.array(fc.nat({ max: walked.length }), { maxLength: 3 }), (seed, cuts) => {
        // Other objects each time: nothing is known of them.
        const rng = seededRng(seed);
        const events = structuredClone(walked) as DomainEvent[];
        const order = rng.below(2) === 0 ? events : events.toSorted(() => rng.below(3) - 1);
        const histories = [...cuts, order.length].sort((left, right) => left - right).map(end => order.slice(0, end));
        const asItGrew = histories.map(projected);
        const atOnce = histories.map(history => projected(structuredClone(history) as DomainEvent[]));
        expect(asItGrew).toEqual(atOnce);
        expect(histories.map(projected)).toEqual(atOnce);
      }),
      { numRuns: 12 },
    );
  });

  it('[W175] of two histories that begin alike are apart', async () => {
    const events = (await randomSession(13, 30)).events();
    const other = [...events.slice(0, 20), ...events.slice(30)];
    expect([events.slice(0, 25), other, events].map(projected)).toEqual(
      [events.slice(0, 25), other, events].map(history => projected(structuredClone(history) as DomainEvent[])),
    );
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
