import type { NodeId, RunId } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { type DomainEvent, dedupeKeyOf } from '../../src/session/domain-event.ts';
import { historyFault } from '../../src/session/history-fault.ts';
import { guidedId } from '../../src/session/ids.ts';
import { randomSession } from './random-session.ts';

const other = guidedId<NodeId>('test', 'other');
const otherRun = guidedId<RunId>('test', 'other run');

/** A walked session with the last event of a kind changed. */
async function faultOf<K extends DomainEvent['kind']>(
  kind: K,
  change: (event: Extract<DomainEvent, { kind: K }>) => object,
  isIt: (event: Extract<DomainEvent, { kind: K }>) => boolean = () => true,
): Promise<string | undefined> {
  const events = [...(await randomSession(5, 40)).events()];
  const index = events.findLastIndex(event => event.kind === kind && isIt(event as never));
  const changed = { ...events[index], ...change(events[index] as never) } as DomainEvent;
  events[index] = { ...changed, dedupeKey: dedupeKeyOf(changed) };
  return historyFault(events);
}

describe('events that are no history', () => {
  it('[W95] are told what is wrong with them', async () => {
    const faults = {
      'a parent of nowhere': await faultOf('node_created', event => ({ data: { ...event.data, parentNodeId: other } })),
      'a second root': await faultOf(
        'node_created',
        event => ({ data: { ...event.data, parentNodeId: null } }),
        event => event.data.parentNodeId !== null,
      ),
      'another workflow': await faultOf('node_created', event => ({
        data: { ...event.data, workflowHash: `sha256:${'0'.repeat(64)}` },
      })),
      'a run of nowhere': await faultOf('context_set', () => ({ scope: { runId: otherRun } })),
      'an output of nowhere': await faultOf('node_output_appended', event => ({
        scope: { ...event.scope, nodeId: other },
      })),
      'a correction of nothing': await faultOf('node_output_appended', event => ({
        data: { ...event.data, supersedesOutputId: other },
      })),
      'an edge that turns back': await faultOf('edge_created', event => ({
        data: { ...event.data, fromNodeId: event.data.toNodeId, toNodeId: event.data.fromNodeId },
      })),
      'an edge to nowhere': await faultOf('edge_created', event => ({ data: { ...event.data, toNodeId: other } })),
      'an edge without cause': await faultOf('edge_created', event => ({
        data: { ...event.data, cause: { ...event.data.cause, eventId: other } },
      })),
      'an advance to nowhere': await faultOf(
        'advance_recorded',
        event => ({ data: { ...event.data, outcome: { kind: 'advanced', toNodeId: other } } }),
        event => event.data.outcome.kind === 'advanced',
      ),
      'an answer to nothing': await faultOf('gap_recorded', event => ({
        data: { ...event.data, resolution: { kind: 'resolves', resolvesGapId: other } },
      })),
      'evidence of nothing': await faultOf('gap_recorded', event => ({
        data: { ...event.data, evidenceRefs: [{ kind: 'event', eventId: other }] },
      })),
    };
    expect(
      Object.fromEntries(Object.entries(faults).map(([name, fault]) => [name, fault?.replace(/^event \d+ /, '')])),
    ).toEqual({
      'a parent of nowhere': '(node_created): its parent is not a node of its run',
      'a second root': '(node_created): its run has a root already',
      'another workflow': '(node_created): its workflow is not the one that its run is pinned to',
      'a run of nowhere': '(context_set): its run was not started',
      'an output of nowhere': '(node_output_appended): its node is not one of its run',
      'a correction of nothing': '(node_output_appended): it corrects an output that its node does not have',
      'an edge that turns back': '(edge_created): it does not lead from a parent to its child',
      'an edge to nowhere': '(edge_created): its ends are not nodes of its run',
      'an edge without cause': '(edge_created): its cause is not in the session',
      'an advance to nowhere': '(advance_recorded): the node or the edge it led to is not recorded',
      'an answer to nothing': '(gap_recorded): it resolves no known gap',
      'evidence of nothing': '(gap_recorded): its evidence is not in the session',
    });
  });

  it('[W95] has every id and every key once', async () => {
    const events = (await randomSession(5, 10)).events();
    const [first, second] = events;
    if (first === undefined || second === undefined) throw new Error('no events');
    expect(historyFault([first, { ...second, eventId: first.eventId }])).toBe('an event id is used twice');
    expect(historyFault([first, second, { ...second, eventId: other as never }])).toContain(
      'its dedupe key was used before',
    );
    expect(historyFault([{ ...second, eventIndex: 0 }])).toContain('a session begins with session_created');
  });
});
