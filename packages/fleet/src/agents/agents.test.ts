import { handleStatusViews, type PluginError, type SerializedAgentState } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import {
  agentNamed,
  allCapabilities,
  approve,
  choose,
  decisionNamed,
  only,
  optionDecision,
  type Scene,
  scene,
  sessionNamed,
  starts,
  template,
  timeAt,
  toolApproval,
} from '../../test/scene.ts';
import { defaultFleetConfig } from '../config.ts';
import { agentStatusTable } from './agent-status.ts';
import { recoveryDecisionId } from './recovery.ts';
import { agentHandle, agentStanding } from './standing.ts';

const maya = agentNamed('maya');
const record = (current: Scene) => current.state.agents.agents[maya];
const requests = (current: Scene, changes: object) =>
  current.happens('agent_requested', { agentId: maya, name: 'maya', pluginName: 'mock', template, changes, by: 'ada' });
const checkpoint = (current: Scene): SerializedAgentState => {
  const brief = record(current)?.brief;
  if (brief === undefined) throw new Error('no brief');
  return {
    agentId: maya,
    pluginName: 'mock',
    sessionId: 'maya-1',
    checkpoint: { sdk: 'mock', scriptPosition: 3 },
    briefSnapshot: brief,
    pendingDecisionIds: [],
    lastSequence: -1,
    serializedAt: timeAt(0),
    serializedBy: 'pause',
    estimatedSizeBytes: 10,
  };
};

describe('briefs', () => {
  it('[F180] merge the template with changes; mode, project and snapshot are the fleet’s', () => {
    const current = scene([], { mode: 'orchestrator' });
    const [spawn] = only(
      requests(current, { role: 'Reviewer', controlMode: 'ecosystem', constraints: ['be kind'] }),
      'spawn_agent',
    );
    expect(spawn?.brief).toMatchObject({
      role: 'Reviewer',
      description: 'Writes code.',
      constraints: ['be kind'],
      controlMode: 'orchestrator',
      projectBrief: defaultFleetConfig.project,
    });
    expect(spawn?.brief.escalationProtocol.alwaysEscalate).toContain('write');
  });

  it('[F180] are refused if they are not valid, or shadow fields', () => {
    const current = scene([]);
    const code = (changes: object) => only(requests(current, changes), 'request_refused').map(refusal => refusal.code);
    expect(code({ role: '' })).toEqual(['brief_invalid']);
    expect(code({ providerConfig: { allowedTools: ['rm'] } })).toEqual(['brief_invalid']);
    expect(code({ providerConfig: { experimental: { allowedTools: ['rm'] } } })).toEqual([]);
    expect(code({})).toEqual(['agent_live']);
  });
});

describe('lives', () => {
  it('[F181] keep name, history and trust', () => {
    const current = scene();
    current.emits('maya', toolApproval('one'));
    current.happens('decision_answered', { decisionId: decisionNamed('one'), resolution: approve, by: 'ada' });
    current.happens('kill_requested', { agentId: maya, by: 'ada', reason: 'done' });
    current.happens('agent_stopped', { agentId: maya, how: 'killed', silentAt: timeAt(0) });
    starts(current, 'maya', {}, 2);
    expect(record(current)).toMatchObject({
      name: 'maya',
      lives: 2,
      status: 'running',
      session: sessionNamed('maya-2'),
      eventsEmitted: 1,
    });
    expect(record(current)?.history.map(({ what }) => what)).toEqual([
      'Requested by ada',
      'Started',
      'Kill requested by ada: done',
      'Killed',
      'Requested by ada',
      'Started again',
    ]);
    expect(current.state.trust[maya]?.score).toBe(51);
  });

  it('[F182] orphans come from an explicit kill only', () => {
    const current = scene();
    current.emits('maya', optionDecision('one'));
    const badges = () => current.state.decisions.items[decisionNamed('one')]?.badges;
    current.happens('pause_requested', { agentId: maya, by: 'ada', reason: '' });
    current.happens('agent_stopped', { agentId: maya, how: 'paused', silentAt: timeAt(0), state: checkpoint(current) });
    expect([record(current)?.status, badges()]).toEqual(['paused', []]);
    expect(only(current.happens('resume_requested', { agentId: maya, by: 'ada' }), 'resume_agent')).toHaveLength(1);
    current.happens('agent_started', { agentId: maya, session: sessionNamed('maya-2'), sessionId: '' });
    current.happens('agent_crashed', { agentId: maya, reason: 'gone' });
    expect([record(current)?.status, badges()]).toEqual(['error', []]);
    current.happens('kill_requested', { agentId: maya, by: 'ada', reason: '' });
    expect([record(current)?.status, badges()]).toEqual(['killed', ['agent_killed']]);
  });

  it('[F182] a plugin that cannot pause aborts, and the lifecycle says so', () => {
    const current = scene(['maya'], { capabilities: { ...allCapabilities, supportsPause: false } });
    expect(
      only(current.happens('pause_requested', { agentId: maya, by: 'ada', reason: '' }), 'stop_agent'),
    ).toMatchObject([{ how: 'abort' }]);
    const effects = current.happens('agent_stopped', {
      agentId: maya,
      how: 'killed',
      silentAt: timeAt(0),
      state: checkpoint(current),
    });
    expect(only(effects, 'commit_event')[0]?.envelope.event).toMatchObject({ type: 'lifecycle', action: 'killed' });
    expect(record(current)?.status).toBe('paused');
  });

  it('[F186] a restart applies pending changes and leaves decisions open', () => {
    const current = scene(['maya'], {
      mode: 'ecosystem',
      capabilities: { ...allCapabilities, supportsHotBriefUpdate: false },
    });
    current.emits('maya', optionDecision('one'));
    current.happens('brief_changed', { agentId: maya, changes: { constraints: ['new'] }, by: 'ada' });
    expect(agentHandle(current.state, maya)?.pendingBriefChanges).toEqual({ constraints: ['new'] });
    current.happens('restart_requested', { agentId: maya, by: 'ada' });
    const [spawn] = only(
      current.happens('agent_stopped', { agentId: maya, how: 'killed', silentAt: timeAt(0) }),
      'spawn_agent',
    );
    expect(spawn?.brief.constraints).toEqual(['new']);
    current.happens('agent_started', { agentId: maya, session: sessionNamed('maya-2'), sessionId: '' });
    expect([record(current)?.pendingBriefChanges, current.state.decisions.items[decisionNamed('one')]?.status]).toEqual(
      [null, 'open'],
    );
  });
});

describe('crashes', () => {
  const recovery = recoveryDecisionId(maya, 1);
  const answer = (current: Scene, option: string) =>
    current.happens('decision_answered', { decisionId: recovery, resolution: choose(option), by: 'ada' });

  it('[F183] three failed health checks are a crash, and a person decides', () => {
    const current = scene();
    for (const isHealthy of [false, false, true, false, false])
      current.happens('health_polled', { agentId: maya, isHealthy });
    expect(record(current)?.status).toBe('running');
    current.happens('health_polled', { agentId: maya, isHealthy: false });
    expect(record(current)?.status).toBe('error');
    const item = current.state.decisions.items[recovery];
    expect(item?.subject.subtype === 'option' ? item.subject.options.map(({ id }) => id) : []).toEqual([
      'restart',
      'abandon',
    ]);
    const effects = answer(current, 'restart');
    expect(only(effects, 'spawn_agent')).toHaveLength(1);
    expect([only(effects, 'deliver_resolution'), only(effects, 'save_trust')]).toEqual([[], []]);
  });

  it('[F183] each crash is a question of its own, also in one life', () => {
    const current = scene();
    current.happens('agent_crashed', { agentId: maya, reason: 'gone' });
    answer(current, 'restart');
    const effects = current.happens('agent_crashed', { agentId: maya, reason: 'before it began' });
    expect(only(effects, 'deliver_resolution')).toEqual([]);
    expect(current.state.decisions.items[recoveryDecisionId(maya, 2)]?.status).toBe('open');
  });

  it('[F183] resumes from the last of three checkpoints, or is abandoned', () => {
    const current = scene();
    for (const scriptPosition of [1, 2, 3, 4]) {
      current.happens('checkpoint_stored', {
        agentId: maya,
        state: { ...checkpoint(current), checkpoint: { sdk: 'mock', scriptPosition } },
      });
    }
    expect(record(current)?.checkpoints).toHaveLength(3);
    current.happens('agent_crashed', { agentId: maya, reason: 'gone' });
    expect(only(answer(current, 'resume'), 'resume_agent')[0]?.state.checkpoint).toEqual({
      sdk: 'mock',
      scriptPosition: 4,
    });
    const left = scene();
    left.emits('maya', optionDecision('one'));
    left.happens('agent_crashed', { agentId: maya, reason: 'gone' });
    answer(left, 'abandon');
    expect(left.state.decisions.items[decisionNamed('one')]?.badges).toEqual(['agent_killed']);
  });

  it('[F183] restarts by itself if policy and trust allow, three times at most', () => {
    const policy = {
      autoRestart: true,
      autoRestartConditions: { minTrustScore: 50, maxConsecutiveCrashes: 2, cooldownMs: 100 },
      preferResumeOverRestart: true,
    };
    const current = scene(['maya'], { config: { crashRecovery: policy } });
    current.happens('agent_crashed', { agentId: maya, reason: 'gone' });
    expect(only(current.passes(99), 'spawn_agent')).toEqual([]);
    expect(only(current.passes(1), 'spawn_agent')).toHaveLength(1);
    current.happens('agent_started', { agentId: maya, session: sessionNamed('maya-2'), sessionId: '' });
    current.happens('agent_crashed', { agentId: maya, reason: 'again' });
    expect(only(current.passes(1_000), 'spawn_agent')).toEqual([]);
    expect(current.state.decisions.items[recoveryDecisionId(maya, 2)]?.status).toBe('open');
    const fresh = scene(['maya'], { config: { crashRecovery: { ...policy, preferResumeOverRestart: false } } });
    fresh.happens('checkpoint_stored', { agentId: maya, state: checkpoint(fresh) });
    fresh.happens('agent_crashed', { agentId: maya, reason: 'gone' });
    expect(only(fresh.passes(100), 'spawn_agent')).toHaveLength(1);
    const low = scene(['maya'], {
      config: {
        crashRecovery: { ...policy, autoRestartConditions: { ...policy.autoRestartConditions, minTrustScore: 51 } },
      },
    });
    low.happens('agent_crashed', { agentId: maya, reason: 'gone' });
    expect(low.state.decisions.items[recovery]?.status).toBe('open');
  });
});

it('[F184] acts on each plugin error, at most three times', () => {
  const after = (error: PluginError, attempt = 1) => {
    const current = scene();
    const effects = current.happens('plugin_failed', { agentId: maya, call: 'spawn', attempt, error });
    const acts = effects
      .map(({ kind }) => kind)
      .filter(kind => ['retry_call', 'compact_conversation', 'stop_agent', 'audit'].includes(kind));
    return [...acts, record(current)?.status];
  };
  const unavailable = { code: 'provider_unavailable', message: 'x', retryable: true } as const;
  expect(after(unavailable)).toEqual(['retry_call', 'running']);
  expect(after(unavailable, 3)).toEqual(['error']);
  expect(after({ ...unavailable, retryable: false })).toEqual(['error']);
  expect(after({ code: 'invalid_state', message: 'x' })).toEqual(['stop_agent', 'running']);
  expect(after({ code: 'decision_not_found', decisionId: decisionNamed('x') })).toEqual(['audit', 'running']);
  expect(after({ code: 'rate_limited', retryAfterMs: 5 })).toEqual(['retry_call', 'running']);
  expect(after({ code: 'context_overflow', currentTokens: 9, maxTokens: 5 })).toEqual([
    'compact_conversation',
    'retry_call',
    'running',
  ]);
  expect(after({ code: 'context_overflow', currentTokens: 9, maxTokens: 5 }, 2)).toEqual(['error']);
  expect(after({ code: 'capability_unsupported', capability: 'supportsPause' })).toEqual(['audit', 'running']);
});

it('[F185] every status has its handle, node and standing', () => {
  for (const { handle, node } of [
    agentStatusTable.running,
    agentStatusTable.waiting_on_human,
    agentStatusTable.paused,
    agentStatusTable.completed,
    agentStatusTable.error,
  ]) {
    expect(handleStatusViews[handle].node).toBe(node);
  }
  expect(Object.values(agentStatusTable).map(({ standing }) => standing)).toEqual([
    'working',
    'working',
    'waiting_for_you',
    'blocked',
    'done',
    'failed',
    'dead',
  ]);
  const current = scene();
  current.emits('maya', optionDecision('one'));
  expect(agentStanding(current.state, maya)).toEqual({
    handle: 'waiting_on_human',
    node: 'blocked',
    standing: 'waiting_for_you',
    pendingDecisions: 1,
  });
  expect(agentStanding(current.state, agentNamed('nobody')).standing).toBe('dead');
});
