import { agentEventType, deriveId, type EventId, type Json } from '@signalbox/model';
import { malformedEvents } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { agentEventSamples } from '../../../model/test/fleet-event-samples.ts';
import { agentNamed, artifact, only, type Scene, scene, sessionNamed, timeAt } from '../../test/scene.ts';
import { foldFleet } from '../fleet.ts';
import { fleetState } from '../fleet-state.ts';
import { eventRoutes, routeOf } from './event-routing.ts';
import { emptyIntake, type IntakeQueue, mayDrop, offered } from './intake-queue.ts';
import { hasSeen, nothingSeen, withSeen } from './seen-ids.ts';

const maya = agentNamed('maya');
const status = { type: 'status', message: 'working' } as const;
const intake = (current: Scene) => {
  const found = current.state.pipeline.agents[maya];
  if (found === undefined) throw new Error('maya has sent nothing');
  return found;
};
const sends = (current: Scene, payload: Json) => current.happens('event_received', { agentId: maya, payload });
/** The sequences that were committed, without those of the fleet's own events. */
const sequences = (current: Scene) =>
  only(current.effects, 'commit_event')
    .filter(({ marks }) => !marks.isOwn)
    .map(({ envelope }) => envelope.sourceSequence);
const said = (current: Scene) =>
  only(current.effects, 'commit_event').flatMap(({ envelope: { event } }) =>
    event.type === 'status' ? [event.message] : [],
  );

describe('checking', () => {
  it('[F1, F192] commits a valid event unchanged, and publishes it afterwards', () => {
    const current = scene();
    current.now = 5;
    const effects = current.emits('maya', status);
    expect(effects.map(({ kind }) => kind)).toEqual(['commit_event', 'publish_event']);
    expect(only(effects, 'commit_event')[0]?.envelope).toEqual({
      sourceEventId: deriveId<EventId>('test-event', sessionNamed('maya-1'), 0),
      sourceSequence: 0,
      sourceOccurredAt: timeAt(5),
      runId: sessionNamed('maya-1'),
      event: { agentId: maya, ...status },
      ingestedAt: timeAt(5),
    });
  });

  it('[F2] repairs an event that lacks harmless fields, and marks it', () => {
    const current = scene();
    const [committed] = only(
      current.emits('maya', { type: 'completion', outcome: 'success' } as never),
      'commit_event',
    );
    expect(committed?.marks.repairs.toSorted()).toEqual(['artifactsProduced', 'decisionsNeeded', 'summary']);
    expect(committed?.envelope.event).toEqual({
      type: 'completion',
      agentId: maya,
      outcome: 'success',
      summary: '',
      artifactsProduced: [],
      decisionsNeeded: [],
    });
    expect(intake(current).counts.repaired).toBe(1);
  });

  it('[F3] leaves out unknown fields and counts them, and raw events', () => {
    const current = scene();
    const [committed] = only(current.emits('maya', { ...status, mood: 'good', color: 1 } as never), 'commit_event');
    expect([committed?.envelope.event, committed?.marks.unknownFields]).toEqual([{ agentId: maya, ...status }, 2]);
    current.emits('maya', { type: 'raw_provider', providerName: 'x', eventType: 'y', payload: {} });
    expect(intake(current).counts).toMatchObject({ unknownFields: 2, rawProvider: 1, quarantined: 0 });
  });

  const whole = {
    sourceEventId: deriveId<EventId>('m', 1),
    sourceSequence: 0,
    sourceOccurredAt: timeAt(0),
    runId: sessionNamed('maya-1'),
  };
  const of = (event: Json) => ({ ...whole, event });
  const malformed: readonly (readonly [string, Json, RegExp])[] = [
    ['half of a message', '{"sourceEventId": "x', /JSON/],
    ['an empty message', '   ', /empty/],
    ['a list', [], /object/],
    ['a number', 7, /object/],
    ['no event', { ...whole }, /"event" is missing/],
    ['an unknown type', of({ type: 'dance', agentId: maya }), /event/],
    ['a status without words', of({ type: 'status', agentId: maya }), /"event.message" is missing/],
    ['a number for a text', of({ type: 'status', agentId: maya, message: 5 }), /must be text, not 5/],
    [
      'a doubt beyond its scale',
      of({ ...JSON.parse(JSON.stringify(agentEventSamples.decision)), agentId: maya, confidence: 7 }),
      /confidence.*at most 1/,
    ],
    ['a negative sequence', { ...of({ agentId: maya, ...status }), sourceSequence: -1 }, /sourceSequence/],
    ['an id that is none', { ...of({ agentId: maya, ...status }), sourceEventId: 'x' }, /UUID/],
    [
      'a path out of the project',
      of({
        ...JSON.parse(JSON.stringify(artifact('a'))),
        agentId: maya,
        provenance: { createdBy: maya, createdAt: timeAt(0), sourcePath: '../x' },
      }),
      /sourcePath.*below the project/,
    ],
    ['another agent', of({ ...status, agentId: agentNamed('eve') }), /is about agent/],
  ];
  it.each(malformed)('[F4] quarantines %s, and says why', (_kind, payload, reason) => {
    const current = scene();
    const effects = sends(current, payload);
    expect(effects.map(({ kind }) => kind)).toEqual(['save_quarantined']);
    const [message] = current.state.pipeline.quarantine.kept;
    expect(message?.reason).toMatch(reason);
    expect(message?.raw).toBe(typeof payload === 'string' ? payload : JSON.stringify(payload));
  });

  it.each(malformedEvents(maya))('[F4] quarantines a message $kind', ({ raw }) => {
    const current = scene();
    sends(current, new TextDecoder().decode(raw));
    expect(current.state.pipeline.quarantine.kept).toMatchObject([
      { agentId: maya, reason: expect.stringMatching(/\.$/) },
    ]);
    expect(intake(current).counts.accepted).toBe(0);
  });

  it('[F4, F5] bounds what is in quarantine', () => {
    const current = scene();
    sends(current, `{${'x'.repeat(40_000)}`);
    expect(current.state.pipeline.quarantine.kept[0]).toMatchObject({ rawBytes: 40_001 });
    expect(current.state.pipeline.quarantine.kept[0]?.raw.length).toBeLessThanOrEqual(16_384);
    for (let n = 0; n < 250; n++) sends(current, `{${n}`);
    const { kept, total, discarded } = current.state.pipeline.quarantine;
    expect([kept.length, total, discarded, kept.at(-1)?.raw]).toEqual([200, 251, 51, '{249']);
    expect(new Set(kept.map(({ id }) => id)).size).toBe(200);
  });

  it('[F6] turns text into a status', () => {
    const current = scene();
    sends(current, 'I am thinking.');
    expect(said(current)).toEqual(['I am thinking.']);
  });

  it('[F7] puts an artifact without a workstream into its agent’s', () => {
    const current = scene(['maya/frontend']);
    const { workstream: _none, ...event } = artifact('page');
    current.emits('maya', event as never);
    expect(current.state.knowledge.artifacts[event.artifactId]?.workstream).toBe('frontend');
    expect(intake(current).counts.repaired).toBe(0);
  });

  it('[F8] does not let an adapter speak for another agent', () => {
    const current = scene(['maya', 'david']);
    current.emits('maya', { ...status, agentId: agentNamed('david') } as never);
    expect(intake(current).counts).toMatchObject({ accepted: 0, quarantined: 1 });
  });
});

describe('order', () => {
  it('[F9] accepts events by sequence', () => {
    const current = scene();
    for (const sequence of [0, 3, 2, 1, 4]) current.emits('maya', status, { sequence });
    expect(sequences(current)).toEqual([0, 1, 2, 3, 4]);
  });

  it('[F10] accepts an id once, also after a restart and in a new session', () => {
    const current = scene();
    current.emits('maya', status, { sequence: 0 });
    current.state = fleetState.parse(JSON.parse(JSON.stringify(current.state)));
    current.emits('maya', status, { sequence: 0 });
    const id = deriveId<EventId>('test-event', sessionNamed('maya-1'), 0);
    current.happens('agent_started', { agentId: maya, session: sessionNamed('maya-2'), sessionId: '' });
    current.emits('maya', status, { sequence: 0, id });
    expect(intake(current).counts).toMatchObject({ received: 3, accepted: 1, duplicates: 2 });
    let seen = nothingSeen;
    for (let n = 0; n < 9_000; n++) seen = withSeen(seen, `id-${n}`);
    const known = Array.from({ length: 9_000 }, (_, n) => hasSeen(seen, `id-${n}`));
    expect(known.slice(-2_500).every(Boolean)).toBe(true);
    expect(known.filter(Boolean).length).toBeLessThanOrEqual(5_000);
  });

  it('[F11] asks for a gap again, and says what is lost if nothing comes', () => {
    const current = scene();
    current.emits('maya', status, { sequence: 0 });
    current.emits('maya', status, { sequence: 4 });
    expect(only(current.ticks(1), 'request_replay')).toEqual([]);
    const [asked] = only(current.ticks(1), 'request_replay');
    expect(asked).toMatchObject({ agentId: maya, runId: sessionNamed('maya-1'), fromSequence: 1, toSequence: 3 });
    const effects = current.ticks(10);
    expect(only(effects, 'request_snapshot')).toEqual([{ kind: 'request_snapshot', agentId: maya }]);
    expect(said(current)).toContain(`Event gap detected: sequences 1-3 lost for agent ${maya}`);
    expect([sequences(current), intake(current).counts.lost]).toEqual([[0, 4], 3]);
  });

  it('[F11] asks at once when many wait, and gives up when the adapter has nothing', () => {
    const current = scene();
    for (let n = 0; n < 65; n++) current.emits('maya', status, { sequence: 2 + n });
    expect(only(current.effects, 'request_replay')).toMatchObject([{ fromSequence: 0, toSequence: 1 }]);
    current.happens('replay_unavailable', { agentId: maya, fromSequence: 0, toSequence: 1 });
    expect(sequences(current)).toHaveLength(65);
  });

  it('[F9, F11] a replay fills the gap', () => {
    const current = scene();
    current.emits('maya', status, { sequence: 2 });
    current.ticks(2);
    for (const sequence of [0, 1]) current.emits('maya', status, { sequence });
    current.ticks(20);
    expect([sequences(current), intake(current).counts.lost]).toEqual([[0, 1, 2], 0]);
  });

  it('[F12] accepts a late event, once', () => {
    const current = scene();
    current.emits('maya', status, { sequence: 1 });
    current.ticks(2);
    current.ticks(10);
    const [late] = only(current.emits('maya', status, { sequence: 0 }), 'commit_event');
    expect(late?.marks.isLate).toBe(true);
    current.emits('maya', status, { sequence: 0 });
    expect(intake(current).counts).toMatchObject({ accepted: 2, late: 1, lost: 0, duplicates: 1 });
  });

  it('[F13] quarantines a second event with the same sequence', () => {
    const current = scene();
    current.emits('maya', status, { sequence: 0 });
    current.emits('maya', status, { sequence: 0, id: deriveId<EventId>('other') });
    expect(current.state.pipeline.quarantine.kept[0]?.reason).toMatch(/Sequence 0 belongs to another event/);
  });

  it('[F14] begins a new session at 0, and refuses events of the one before', () => {
    const current = scene();
    current.emits('maya', status);
    current.happens('agent_started', { agentId: maya, session: sessionNamed('maya-2'), sessionId: '' });
    current.emits('maya', status);
    current.emits('maya', status, { session: sessionNamed('maya-1'), sequence: 1 });
    expect(sequences(current)).toEqual([0, 0]);
    expect(current.state.pipeline.quarantine.kept[0]?.reason).toMatch(/has ended/);
  });
});

describe('the queue before the pipeline', () => {
  const message = (type: string, n: number): Json => ({ n, event: { type } });
  const fill = (types: readonly string[]) =>
    types.reduce<IntakeQueue<Json>>((queue, type, n) => offered(queue, message(type, n), mayDrop, 4), emptyIntake);

  it('[F15] drops the oldest message that may be dropped', () => {
    expect(fill(['decision', 'status', 'tool_call', 'artifact', 'error'])).toEqual({
      waiting: [message('decision', 0), message('tool_call', 2), message('artifact', 3), message('error', 4)],
      dropped: 1,
    });
    expect(fill(['decision', 'error', 'completion', 'artifact', 'status']).dropped).toBe(1);
    expect(fill(['decision', 'error', 'completion', 'artifact', 'decision'])).toMatchObject({ dropped: 0 });
    expect([mayDrop('{broken'), mayDrop('text'), mayDrop(5)]).toEqual([false, true, false]);
    let queue: IntakeQueue<Json> = emptyIntake;
    for (let n = 0; n < 501; n++) queue = offered(queue, message('status', n), mayDrop);
    expect([queue.waiting.length, queue.dropped]).toEqual([500, 1]);
  });

  it('[F16] reports drops as an error, and counts them', () => {
    const current = scene();
    const effects = current.happens('events_dropped', { agentId: maya, count: 12 });
    expect(only(effects, 'commit_event')[0]?.envelope.event).toMatchObject({
      type: 'error',
      severity: 'warning',
      message: `backpressure: 12 events dropped for agent ${maya}`,
    });
    expect(intake(current).counts.dropped).toBe(12);
  });
});

it('[F17] routes every type of event', () => {
  expect(Object.keys(eventRoutes).toSorted()).toEqual([...agentEventType.options].toSorted());
  const areas = Object.values(agentEventSamples).map(event => {
    const { primary, secondary } = routeOf(event);
    return [event.type, primary?.area ?? null, ...secondary.map(({ area }) => area)];
  });
  expect(Object.fromEntries(areas.map(([type, ...rest]) => [type, rest]))).toMatchObject({
    decision: ['queue', 'briefing'],
    artifact: ['map', 'brief_editor'],
    coherence: ['map', 'briefing'],
    status: ['briefing'],
    tool_call: ['controls'],
    completion: ['briefing', 'controls'],
    error: ['briefing', 'controls'],
    delegation: ['briefing', 'map'],
    lifecycle: ['briefing', 'controls'],
    progress: ['briefing'],
    raw_provider: [null, 'controls'],
  });
  const guardrail = { type: 'guardrail', agentId: maya, guardrailName: 'g', level: 'tool', message: '' } as const;
  expect(routeOf({ ...guardrail, tripped: true }).secondary).toHaveLength(1);
  expect(routeOf({ ...guardrail, tripped: false }).secondary).toHaveLength(0);
});

it('[F18] accounts for every message', () => {
  const current = scene();
  for (const sequence of [0, 0, 5, 2, 1]) current.emits('maya', status, { sequence });
  sends(current, '{');
  sends(current, 'text');
  const { counts, held } = intake(current);
  expect(counts).toMatchObject({ received: 7, accepted: 3, duplicates: 1, quarantined: 1, texts: 1 });
  expect(held).toHaveLength(1);
  expect(foldFleet(current.facts)).toEqual(current.state);
});
