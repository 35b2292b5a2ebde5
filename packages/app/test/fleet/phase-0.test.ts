import type { FleetState } from '@signalbox/fleet';
import { defaultFleetConfig } from '@signalbox/fleet';
import {
  type AgentEvent,
  defaultTrustCalibration,
  type FleetMessage,
  fleetMessage,
  trustCalibrationProfiles,
} from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { stateSync } from '../../src/fleet/fleet-feed.ts';
import { type FleetStage, fleetStage } from './fleet-stage.ts';

/** The acceptance criteria of the plugin specification's phase 0, in its words, through the host that commits. */

/** A tick for each second: what waits for ticks goes on. */
const wallClock = { intervalMs: 1000, mode: 'wall_clock' } as const;

const events = ({ messages }: FleetStage) => messages.flatMap(message => (message.type === 'event' ? [message] : []));
const typesOf = (stage: FleetStage, agent: string) =>
  events(stage)
    .map(({ envelope }) => envelope.event)
    .filter(event => event.agentId === stage.agent(agent))
    .map(({ type }) => type);
const standings = (state: FleetState) => Object.values(state.agents.agents).map(({ status }) => status);
const isOver = (stage: FleetStage) =>
  standings(stage.state()).every(status => status === 'completed') ? true : undefined;
const own = (message: FleetMessage, find: (event: AgentEvent) => boolean) =>
  message.type === 'event' && find(message.envelope.event);

describe('phase 0', () => {
  it('[A968] `MockPlugin` implements `AgentPlugin` interface using `InProcessTransport` with `eventSink`', async () => {
    const stage = await fleetStage({ answers: false });
    await stage.until(() => (stage.desk.queue().length > 0 ? true : undefined));
    const backend = stage.agent('backend');
    for (const queued of stage.desk.queue()) {
      if (queued.from !== 'agent') continue;
      const { id, subject } = queued.decision;
      const option = subject.subtype === 'option' ? subject.options[0]?.id : undefined;
      const resolution = {
        resolutionType: option === undefined ? ('approve' as const) : ('choose_option' as const),
        ...(option === undefined ? {} : { chosenOptionId: option }),
        rationale: 'yes',
        actionKind: 'review' as const,
      };
      await stage.desk.resolve(id, { resolution }, 'ada');
    }
    await stage.host.idle();
    await stage.desk.pause(backend, 'look', 'ada');
    await stage.host.idle();
    await stage.desk.resume(backend, 'ada');
    await stage.desk.changeBrief(backend, { description: 'Else' }, 'ada');
    await stage.host.idle();
    await stage.desk.kill(stage.agent('tests'), 'enough', 'ada');
    await stage.host.idle();
    const called = new Set(stage.calls.map(({ call }) => call));
    for (const call of ['spawn', 'pause', 'resume', 'updateBrief', 'resolveDecision', 'kill'])
      expect([...called]).toContain(call);
    // Whatever it said came through the sink of its transport.
    expect(typesOf(stage, 'backend').length).toBeGreaterThan(0);
    expect(stage.faults).toEqual([]);
  });

  it('[A968] At least one scenario (recommend: David) runs end-to-end: mock events flow through event bus -> classifier -> WebSocket Hub', async () => {
    const stage = await fleetStage();
    await stage.until(() => isOver(stage));
    expect(stage.messages.filter(message => !fleetMessage.safeParse(message).success)).toEqual([]);
    const routes = Object.fromEntries(
      events(stage).map(({ envelope, workspace, secondaryWorkspaces }) => [
        envelope.event.type,
        [workspace, ...secondaryWorkspaces],
      ]),
    );
    expect(routes).toMatchObject({
      decision: ['queue', 'briefing'],
      artifact: ['map', 'brief_editor'],
      coherence: ['map', 'briefing'],
      status: ['briefing'],
      tool_call: ['controls'],
      completion: ['briefing', 'controls'],
      delegation: ['briefing', 'map'],
      lifecycle: ['briefing', 'controls'],
    });
    expect(stage.faults).toEqual([]);
    // Every message that was sent is an event in the log.
    const stored = stage.store.things(stage.host.project, { kind: 'event', limit: 1_000 }).map(({ id }) => id);
    expect(
      events(stage)
        .map(({ envelope }) => envelope.sourceEventId)
        .toSorted(),
    ).toEqual(stored.toSorted());
  });

  it('[A968] DecisionEvent appears in Queue workspace, auto-resolves via MockEventEntry.hitlBlock.autoResolveAfterMs timer, mock agent resumes emitting subsequent events', async () => {
    const stage = await fleetStage();
    const [asked] = await stage.until(() => (stage.desk.queue().length > 0 ? stage.desk.queue() : undefined));
    expect(asked).toMatchObject({ from: 'agent', decision: { status: 'open' } });
    const before = typesOf(stage, 'backend').length;
    await stage.until(() => isOver(stage));
    const closed = Object.values(stage.state().decisions.items);
    expect(closed.map(({ status, delivery, closedBy }) => [status, delivery, closedBy])).toEqual(
      closed.map(() => ['answered', 'done', 'script']),
    );
    expect(typesOf(stage, 'backend').length).toBeGreaterThan(before);
  });

  it('[A968] Minimal trust engine applies correct deltas from decision resolution, clamps to [10,100]', async () => {
    const stage = await fleetStage();
    await stage.until(() => isOver(stage));
    const causes = Object.values(stage.state().trust).flatMap(({ history }) =>
      history.map(({ cause, previousScore, newScore }) => [cause, newScore - previousScore]),
    );
    expect(causes).toEqual(
      expect.arrayContaining([
        ['human_approves_tool_call', 1],
        ['human_modifies_tool_args', -1],
        ['human_rejects_tool_call', -2],
        ['task_completed_success', 1],
      ]),
    );
    const scores = Object.values(stage.state().trust).map(({ score }) => score);
    expect(scores.filter(score => score < 10 || score > 100)).toEqual([]);
  });

  it('[A968] Layer 0 coherence monitor detects file conflict from mock scenario event data (two agents writing same URI)', async () => {
    const stage = await fleetStage();
    await stage.until(() => isOver(stage));
    expect(stage.desk.coherence().issues.map(({ title, category }) => [title, category])).toEqual(
      expect.arrayContaining([['Two agents write src/api.ts', 'contradiction']]),
    );
  });

  it('[A968] Emergency brake kills mock agent; orphaned decisions enter triage in Queue with "agent killed" badge', async () => {
    const stage = await fleetStage({ answers: false });
    await stage.until(() => (stage.desk.queue().length >= 2 ? true : undefined));
    // Only an explicit kill makes orphans; a brake suspends (R40).
    for (const { id } of stage.desk.agents()) await stage.desk.kill(id, 'stop', 'ada');
    await stage.host.idle();
    await stage.pass(31_000);
    const queue = stage.desk.queue();
    expect(queue.length).toBeGreaterThanOrEqual(2);
    for (const queued of queue) {
      if (queued.from === 'agent') expect(queued.decision).toMatchObject({ status: 'open', badges: ['agent_killed'] });
    }
    const actions = stage.desk.log({ kind: 'audit', limit: 500 });
    expect(actions.ok && actions.value.entries.map(({ status }) => status)).toEqual(
      expect.arrayContaining(['orphaned', 'triaged']),
    );
    expect(standings(stage.state()).filter(status => status === 'running')).toEqual([]);
  });

  it('[A968] In-memory KnowledgeStore stores artifacts from ArtifactEvent, serves KnowledgeSnapshot via getSnapshot()', async () => {
    const stage = await fleetStage();
    await stage.until(() => isOver(stage));
    const artifacts = stage.desk.artifacts('backend');
    expect(artifacts.length).toBeGreaterThan(0);
    const sync = stateSync(stage.state(), '2026-01-01T00:00:00.000Z' as never);
    expect(sync.type === 'state_sync' && sync.snapshot.artifactIndex.map(({ id }) => id).toSorted()).toEqual(
      stage.desk
        .artifacts(undefined)
        .map(({ id }) => id)
        .toSorted(),
    );
    expect(JSON.stringify(sync.type === 'state_sync' && sync.snapshot)).not.toMatch(/trust/i);
  });

  it('[A968] EventEnvelope wrapping works; duplicate sourceEventId is deduplicated', async () => {
    const stage = await fleetStage({ scenario: 'maya', load: { variant: 'duplicates' } });
    await stage.until(() => isOver(stage));
    const all = events(stage).map(({ envelope }) => envelope);
    expect(new Set(all.map(({ sourceEventId }) => sourceEventId)).size).toBe(all.length);
    for (const envelope of all)
      expect(Object.keys(envelope)).toEqual(
        expect.arrayContaining(['runId', 'ingestedAt', 'sourceSequence', 'sourceOccurredAt']),
      );
    const duplicates = Object.values(stage.state().pipeline.agents).map(({ counts }) => counts.duplicates);
    expect(duplicates.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(0);
  });

  it('[A968] At least one failure injection variant runs: malformed_event triggers quarantine', async () => {
    const stage = await fleetStage({ load: { variant: 'malformed' }, config: { ticks: wallClock } });
    await stage.until(() => isOver(stage));
    const quarantined = stage.desk.log({ kind: 'quarantined' });
    expect(quarantined.ok && quarantined.value.entries.length).toBeGreaterThan(0);
    expect(stage.state().pipeline.quarantine.total).toBeGreaterThan(0);
  });

  it('[A968] `error` triggers error-to-action mapping', async () => {
    const stage = await fleetStage({ scenario: 'sam', load: { variant: 'no-start' }, config: { ticks: wallClock } });
    const numbers = stage.agent('numbers');
    await stage.until(() => (typesOf(stage, 'proposal').includes('completion') ? true : undefined));
    expect(stage.state().agents.agents[numbers]).toMatchObject({ status: 'error', lives: 0 });
    const faults = events(stage).flatMap(({ envelope: { event } }) => (event.type === 'error' ? [event] : []));
    expect(faults).toMatchObject([
      { agentId: numbers, errorCode: 'provider_unavailable', severity: 'high', recoverable: false },
    ]);
  });

  it('[A968] WebSocket StateSyncMessage sent on frontend connect with current snapshot, active agents, trust scores, control mode', async () => {
    const stage = await fleetStage();
    const sync = stage.desk.sync();
    expect(fleetMessage.parse(sync)).toMatchObject({ type: 'state_sync', controlMode: 'orchestrator' });
    expect(sync.type === 'state_sync' && sync.activeAgents.map(({ status }) => status)).toEqual([
      'running',
      'running',
      'running',
    ]);
    expect(sync.type === 'state_sync' && sync.trustScores.map(({ score }) => score)).toEqual([50, 50, 50]);
  });

  it('[A968] TrustCalibrationConfig loads with default values; calibrationMode: true logs proposed deltas without mutating scores', async () => {
    const { balanced } = trustCalibrationProfiles;
    expect(defaultFleetConfig.trust).toEqual({ ...balanced, config: defaultTrustCalibration });
    const config = { trust: { ...balanced, config: { ...balanced.config, calibrationMode: true } } };
    const stage = await fleetStage({ config });
    await stage.until(() => isOver(stage));
    const trust = Object.values(stage.state().trust);
    expect(trust.map(({ score }) => score)).toEqual([50, 50, 50]);
    expect(trust.some(({ hypotheticalScore }) => hypotheticalScore !== 50)).toBe(true);
  });

  it('[A968] providerConfig validation rejects keys that shadow first-class AgentBrief fields; `experimental` sub-namespace keys pass through', async () => {
    const stage = await fleetStage({ plays: false });
    const spawn = (providerConfig: object) =>
      stage.desk.spawn(
        {
          name: 'backend',
          plugin: 'mock',
          agentId: stage.agent('backend'),
          brief: { role: 'Backend Agent', workstream: 'backend', providerConfig: providerConfig as never },
        },
        'ada',
      );
    expect(await spawn({ allowedTools: ['Bash'] })).toMatchObject({
      ok: false,
      error: { code: 'fleet/brief-invalid' },
    });
    const spawned = await spawn({ temperature: 0, experimental: { allowedTools: ['Bash'] } });
    expect(spawned).toMatchObject({ ok: true });
    await stage.host.idle();
    const sent = stage.calls.find(({ call }) => call === 'spawn')?.given[0];
    expect(sent).toMatchObject({ providerConfig: { temperature: 0, experimental: { allowedTools: ['Bash'] } } });
  });

  it('[A968] [A973] MockCoherenceScenario pre-computed similarities flow -> Layer 1 scan -> promotion to Layer 2 -> scripted result -> CoherenceEvent emitted', async () => {
    const stage = await fleetStage({ scenario: 'priya' });
    await stage.until(() => isOver(stage));
    await stage.happen({ kind: 'ticks_advanced', by: 20 });
    await stage.host.idle();
    await stage.happen({ kind: 'ticks_advanced', by: 20 });
    await stage.host.idle();
    const issues = stage.desk.coherence().issues.filter(({ foundBy }) => foundBy === 'system');
    expect(issues.map(({ category }) => category)).toContain('contradiction');
  });

  it("[A968] OrphanedDecisionPolicy with default: 'triage' keeps decisions in Queue after mock agent kill; decisions show 'agent killed' badge and elevated visual priority", async () => {
    const stage = await fleetStage({ answers: false });
    await stage.until(() => (stage.desk.queue().length >= 2 ? true : undefined));
    const [first, second] = stage.desk.queue();
    if (second?.from !== 'agent' || first?.from !== 'agent') throw new Error('two decisions of agents were expected');
    await stage.desk.kill(second.decision.agentId, 'stop', 'ada');
    await stage.pass(31_000);
    const [now] = stage.desk.queue();
    expect(now).toMatchObject({ decision: { id: second.decision.id, badges: ['agent_killed'] } });
    expect(now?.from === 'agent' && now.decision.score).toBeGreaterThan(first.decision.score);
  });

  it('[A968] [A971] TickService runs in wall_clock mode (default 1 tick/sec) and manual mode (for tests)', async () => {
    const wall = await fleetStage({ config: { ticks: wallClock }, answers: false });
    const records = () => wall.store.project(wall.host.project)?.records ?? 0;
    await wall.pass(15_000);
    const [before, written] = [wall.state().ticks.current, records()];
    await wall.pass(60_000);
    expect(wall.state().ticks.current - before).toBeGreaterThanOrEqual(40);
    // Ticks that bring nothing about are written down now and then, not each.
    expect(records() - written).toBeLessThan(30);
    const manual = await fleetStage({ answers: false });
    await manual.pass(10_000);
    expect(manual.state().ticks.current).toBe(0);
    expect(await manual.desk.advanceTicks(3)).toMatchObject({ ok: true, value: { current: 3 } });
  });

  it('[A968] MockPlugin runs David with MockCapabilityProfiles.claude; brake degrades pause to abort-and-save; brief update queues in pendingBriefChanges; LifecycleEvent reflects degraded action', async () => {
    const stage = await fleetStage({ profile: 'claude', answers: false });
    const backend = stage.agent('backend');
    await stage.until(() => (stage.desk.queue().length > 0 ? true : undefined));
    const changed = await stage.desk.changeBrief(backend, { description: 'Something else' }, 'ada');
    expect(changed).toMatchObject({
      ok: true,
      value: { handle: { pendingBriefChanges: { description: 'Something else' } } },
    });
    await stage.desk.brake({ scope: { type: 'agent', agentId: backend }, reason: 'look', behavior: 'pause' }, 'ada');
    await stage.host.idle();
    const [brake] = stage.desk.brakes().brakes;
    expect(brake?.agents).toMatchObject([{ agentId: backend, outcome: 'killed' }]);
    expect(stage.state().agents.agents[backend]).toMatchObject({ status: 'paused' });
    expect(
      stage.messages.some(message => own(message, event => event.type === 'lifecycle' && event.action === 'killed')),
    ).toBe(true);
    await stage.desk.releaseBrake(undefined, 'ada');
    await stage.host.idle();
    expect(stage.state().agents.agents[backend]).toMatchObject({
      status: 'running',
      pendingBriefChanges: null,
      lives: 2,
    });
    const resumed = stage.calls.findLast(({ call }) => call === 'resume')?.given[0];
    expect(resumed).toMatchObject({ briefSnapshot: { description: 'Something else' } });
  });

  it('[A968] Trust decay toward baseline fires on inactive agents: above 50 loses 1 point per trustDecayTicks inactive ticks; below 50 gains 1', async () => {
    const stage = await fleetStage();
    await stage.until(() => isOver(stage));
    const scores = () =>
      Object.fromEntries(Object.values(stage.state().trust).map(({ agentId, score }) => [agentId, score]));
    const before = scores();
    await stage.happen({ kind: 'ticks_advanced', by: 100 });
    const after = scores();
    const moves = Object.entries(before).map(([id, score]) => [Math.sign(50 - score), (after[id] ?? 0) - score]);
    expect(moves.map(([towards, moved]) => moved === towards)).toEqual(moves.map(() => true));
    expect(moves.some(([towards]) => towards === 1) && moves.some(([towards]) => towards === -1)).toBe(true);
  });
});
