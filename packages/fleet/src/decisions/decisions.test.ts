import type { DecisionTimeoutPolicy, OrphanedDecisionPolicy } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import {
  agentNamed,
  approve,
  artifactNamed,
  audited,
  choose,
  classifications,
  decisionNamed,
  only,
  optionDecision,
  reject,
  type Scene,
  scene,
  starts,
  timeAt,
  toolApproval,
} from '../../test/scene.ts';
import { defaultFleetConfig } from '../config.ts';
import { fleetState } from '../fleet-state.ts';
import { decisionQueue } from './decision-score.ts';
import { matchesGlob, riskOf } from './tool-risk.ts';

const maya = agentNamed('maya');
const item = (current: Scene, name: string) => current.state.decisions.items[decisionNamed(name)];
const answers = (current: Scene, name: string, resolution = approve, more: object = {}) =>
  current.happens('decision_answered', { decisionId: decisionNamed(name), resolution, by: 'ada', ...more });
const kills = (current: Scene, name: string) => {
  current.happens('kill_requested', { agentId: agentNamed(name), by: 'ada', reason: 'wrong' });
  return current.happens('agent_stopped', { agentId: agentNamed(name), how: 'killed', silentAt: timeAt(current.now) });
};
const scores = (current: Scene) => Object.values(current.state.trust).map(({ score }) => score);
const withTimeout = (policy: DecisionTimeoutPolicy) => ({
  config: {
    decisions: {
      ...defaultFleetConfig.decisions,
      timeouts: { orchestrator: policy, adaptive: policy, ecosystem: policy },
    },
  },
});
const withOrphans = (policy: OrphanedDecisionPolicy) => ({
  config: {
    decisions: {
      ...defaultFleetConfig.decisions,
      orphans: { orchestrator: policy, adaptive: policy, ecosystem: policy },
    },
  },
});

describe('risk and order', () => {
  it('[F40] fills risk from the most specific classification, or fails safe', () => {
    const rows = [
      ...classifications,
      {
        toolPattern: '*',
        defaultSeverity: 'low',
        defaultBlastRadius: 'trivial',
        defaultConfidence: 1,
        requiresRationale: false,
      },
      {
        toolPattern: 'deploy_prod',
        defaultSeverity: 'high',
        defaultBlastRadius: 'medium',
        defaultConfidence: 0.1,
        requiresRationale: false,
      },
    ] as const;
    const event = (toolName: string, more: object = {}) => ({ ...toolApproval('x', toolName, more), agentId: maya });
    expect(riskOf(event('deploy_prod'), rows)).toMatchObject({ pattern: 'deploy_prod', severity: 'high' });
    expect(riskOf(event('deploy_test'), rows)).toMatchObject({ pattern: 'deploy*', severity: 'critical' });
    expect(riskOf(event('anything'), rows).pattern).toBe('*');
    expect(riskOf(event('deploy_x', { severity: 'low' }), rows)).toMatchObject({
      severity: 'low',
      blastRadius: 'large',
    });
    expect(riskOf(event('anything'), classifications)).toEqual({
      severity: 'high',
      blastRadius: 'unknown',
      confidence: 0,
      requiresRationale: false,
      pattern: null,
    });
    expect([
      matchesGlob('a*c?', 'abbcd'),
      matchesGlob('a*c?', 'abbc'),
      matchesGlob('**', ''),
      matchesGlob('A', 'a'),
    ]).toEqual([true, false, true, true]);
  });

  it('[F41] orders the queue', () => {
    const current = scene(['maya', 'david']);
    current.emits('maya', optionDecision('low', { severity: 'low' }));
    current.emits('maya', optionDecision('unknown', { blastRadius: 'unknown' }));
    current.emits('maya', optionDecision('large', { blastRadius: 'large' }));
    current.emits('maya', optionDecision('later', { severity: 'critical', dueByTick: 90 }));
    current.emits('maya', optionDecision('sooner', { severity: 'critical', dueByTick: 80 }));
    current.emits('maya', optionDecision('timed', { severity: 'warning', dueByTick: 1 }));
    current.emits('david', optionDecision('orphan', { severity: 'low' }));
    kills(current, 'david');
    current.ticks(1);
    const names = ['low', 'unknown', 'large', 'later', 'sooner', 'timed', 'orphan'];
    expect(
      decisionQueue(current.state.decisions).map(({ id }) => names.find(name => decisionNamed(name) === id)),
    ).toEqual(['timed', 'orphan', 'sooner', 'later', 'unknown', 'large', 'low']);
  });
});

describe('answers', () => {
  it('[F42, F55] answers once, and tells the second the first outcome', () => {
    const current = scene();
    current.emits('maya', optionDecision('one'));
    const first = answers(current, 'one', choose('b'));
    expect(only(first, 'answer_settled')).toMatchObject([{ outcome: 'accepted' }]);
    expect(audited(first)).toEqual(['answered by ada']);
    const second = answers(current, 'one', choose('a'));
    expect(second).toEqual([
      {
        kind: 'answer_settled',
        decisionId: decisionNamed('one'),
        outcome: 'closed',
        status: 'answered',
        resolution: choose('b'),
      },
    ]);
    expect(only(answers(current, 'none'), 'answer_settled')).toMatchObject([{ outcome: 'unknown' }]);
  });

  it('[F43] voids an answer to a proposal that changed', () => {
    const current = scene();
    current.emits('maya', optionDecision('one'));
    const before = item(current, 'one');
    current.emits('maya', optionDecision('one'));
    expect(item(current, 'one')).toEqual(before);
    current.emits('maya', optionDecision('one', { title: 'Something else' }));
    const old = answers(current, 'one', choose('a'), { proposalHash: before?.proposalHash });
    expect(only(old, 'answer_settled')).toMatchObject([{ outcome: 'void' }]);
    expect(only(answers(current, 'one', choose('a')), 'answer_settled')).toMatchObject([{ outcome: 'accepted' }]);
  });

  it('[F44] refuses answers that do not fit', () => {
    const current = scene();
    current.emits('maya', optionDecision('choice', { requiresRationale: true }));
    current.emits('maya', toolApproval('call'));
    const outcome = (name: string, resolution = approve, more = {}) =>
      only(answers(current, name, resolution, more), 'answer_settled')[0]?.outcome;
    expect(outcome('choice', choose('a'))).toBe('unfit');
    expect(outcome('choice', { ...choose('z'), rationale: 'because' })).toBe('unfit');
    expect(outcome('choice', { ...approve, rationale: 'because' })).toBe('unfit');
    expect(outcome('call', choose('a'))).toBe('unfit');
    expect(outcome('call', { ...approve, resolutionType: 'modify' })).toBe('unfit');
    expect(outcome('call', approve, { by: maya })).toBe('forbidden');
    expect([outcome('choice', { ...choose('a'), rationale: 'because' }), outcome('call')]).toEqual([
      'accepted',
      'accepted',
    ]);
  });

  it('[F45] delivers until the agent acknowledges, also after a restart', () => {
    const current = scene(['maya', 'david']);
    current.emits('maya', toolApproval('one'));
    const [delivery] = only(answers(current, 'one'), 'deliver_resolution');
    expect(delivery).toMatchObject({ agentId: maya, resolution: approve, isReassigned: false });
    current.state = fleetState.parse(JSON.parse(JSON.stringify(current.state)));
    expect(only(current.happens('fleet_restarted', {}), 'deliver_resolution')).toEqual([delivery]);
    current.happens('resolution_delivered', { decisionId: decisionNamed('one'), agentId: agentNamed('david') });
    expect(item(current, 'one')?.delivery).toBe('pending');
    expect(
      audited(current.happens('resolution_delivered', { decisionId: decisionNamed('one'), agentId: maya })),
    ).toEqual([`delivered by ${maya}`]);
    expect(only(current.happens('fleet_restarted', {}), 'deliver_resolution')).toEqual([]);
  });

  it('[F46] refuses an id of another agent', () => {
    const current = scene(['maya', 'david']);
    current.emits('maya', optionDecision('one'));
    const before = item(current, 'one');
    const effects = current.emits('david', optionDecision('one'));
    expect(only(effects, 'deliver_resolution')).toMatchObject([
      { agentId: agentNamed('david'), resolution: { resolutionType: 'reject' } },
    ]);
    expect(item(current, 'one')).toEqual(before);
  });

  it('[F56] forgets old decisions but not their ids', () => {
    const current = scene();
    for (let n = 0; n < 501; n++) {
      current.emits('maya', toolApproval(String(n)));
      answers(current, String(n));
      current.happens('resolution_delivered', { decisionId: decisionNamed(String(n)), agentId: maya });
    }
    current.emits('maya', toolApproval('last'));
    answers(current, 'last');
    expect(Object.keys(current.state.decisions.items)).toHaveLength(501);
    expect(item(current, '0')).toBeUndefined();
    current.emits('maya', toolApproval('0'));
    expect(item(current, '0')).toBeUndefined();
  });
});

describe('timeouts', () => {
  it('[F47] fires none in orchestrator mode', () => {
    const current = scene(['maya'], { mode: 'orchestrator' });
    current.emits('maya', optionDecision('one', { dueByTick: 2 }));
    current.emits('maya', optionDecision('two'));
    current.ticks(1_000);
    expect([item(current, 'one')?.status, item(current, 'two')?.status, item(current, 'two')?.dueByTick]).toEqual([
      'open',
      'open',
      null,
    ]);
  });

  it('[F48] takes the recommendation, or keeps waiting without one', () => {
    const current = scene(['maya'], { mode: 'ecosystem' });
    current.emits('maya', optionDecision('one'));
    current.emits('maya', optionDecision('two', { recommendedOptionId: undefined }));
    current.emits('maya', toolApproval('three', 'write', { confidence: 0.2 }));
    current.ticks(19);
    expect(item(current, 'one')?.status).toBe('open');
    current.ticks(1);
    expect(item(current, 'one')).toMatchObject({
      status: 'answered',
      closedBy: 'timeout',
      resolution: { chosenOptionId: 'a' },
    });
    expect(item(current, 'two')).toMatchObject({ status: 'open', badges: ['timed_out'], dueByTick: null });
    expect(item(current, 'three')).toMatchObject({ status: 'answered', resolution: { resolutionType: 'approve' } });
    expect(scores(current)).toEqual([50]);
  });

  it('[F49] escalates by default in adaptive mode, and cancels at the top', () => {
    const current = scene();
    current.emits('maya', optionDecision('one', { severity: 'high' }));
    current.ticks(50);
    expect(item(current, 'one')).toMatchObject({
      status: 'open',
      severity: 'critical',
      badges: ['timed_out'],
      dueByTick: 100,
    });
    const effects = current.ticks(50);
    expect(item(current, 'one')).toMatchObject({ status: 'cancelled', closedBy: 'timeout' });
    expect(only(effects, 'deliver_resolution')).toMatchObject([{ resolution: { resolutionType: 'reject' } }]);
    expect(scores(current)).toEqual([50]);
  });

  it('[F50] cancels, and extends twice before it escalates', () => {
    const cancels = scene(['maya'], withTimeout({ timeoutTicks: 5, onTimeout: 'cancel' }));
    cancels.emits('maya', toolApproval('one'));
    cancels.ticks(5);
    expect(item(cancels, 'one')).toMatchObject({ status: 'cancelled', resolution: { resolutionType: 'reject' } });
    const extends_ = scene(['maya'], withTimeout({ timeoutTicks: 5, onTimeout: 'extend' }));
    extends_.emits('maya', optionDecision('one'));
    extends_.ticks(5);
    extends_.ticks(5);
    expect(item(extends_, 'one')).toMatchObject({ extensions: 2, severity: 'medium', badges: [] });
    extends_.ticks(5);
    expect(item(extends_, 'one')).toMatchObject({ extensions: 2, severity: 'high', badges: ['timed_out'] });
  });

  it('[F51] never approves what is always escalated, by the mode of now or by the agent', () => {
    const current = scene(['maya'], { mode: 'ecosystem' });
    current.emits('maya', toolApproval('deploy', 'deploy_prod'));
    current.emits('maya', toolApproval('command', 'bash', { toolArgs: { command: 'rm -rf build' } }));
    current.ticks(100);
    expect([item(current, 'deploy')?.status, item(current, 'command')?.status]).toEqual(['open', 'open']);
    const own = scene([], { mode: 'ecosystem' });
    starts(own, 'maya', { escalationProtocol: { alwaysEscalate: ['write'], escalateWhen: [], neverEscalate: [] } });
    own.emits('maya', toolApproval('one'));
    own.ticks(100);
    expect(item(own, 'one')?.status).toBe('open');
  });
});

describe('orphans', () => {
  it('[F52, F53] waits for the grace period, and leaves decisions to a person', () => {
    const current = scene();
    current.emits('maya', optionDecision('one'));
    kills(current, 'maya');
    expect(item(current, 'one')).toMatchObject({
      status: 'open',
      badges: ['agent_killed'],
      orphanUntil: timeAt(30_000),
    });
    current.passes(29_999);
    expect(item(current, 'one')?.orphanUntil).not.toBeNull();
    expect(audited(current.passes(1))).toEqual(['triaged by system']);
    expect(item(current, 'one')).toMatchObject({ status: 'open', badges: ['agent_killed'], orphanUntil: null });
    answers(current, 'one', choose('a'));
    expect(item(current, 'one')).toMatchObject({ status: 'answered', delivery: 'impossible' });
  });

  it('[F53] cancels tool approvals and expires choices', () => {
    const current = scene(['maya'], withOrphans({ default: 'cancel', gracePeriodMs: 0 }));
    current.emits('maya', optionDecision('choice'));
    current.emits('maya', toolApproval('call'));
    kills(current, 'maya');
    expect([item(current, 'choice')?.status, item(current, 'choice')?.resolution]).toEqual(['expired', undefined]);
    expect(item(current, 'call')).toMatchObject({ status: 'cancelled', resolution: { resolutionType: 'reject' } });
    expect(scores(current)).toEqual([50]);
  });

  it('[F54] reassigns to an agent of the same role and workstream', () => {
    const current = scene(['maya', 'other/frontend', 'david'], withOrphans({ default: 'reassign', gracePeriodMs: 10 }));
    const david = agentNamed('david');
    current.emits('maya', optionDecision('one'));
    kills(current, 'maya');
    const effects = current.passes(10);
    expect(item(current, 'one')).toMatchObject({
      agentId: maya,
      reassignedTo: david,
      badges: ['reassigned'],
      status: 'open',
    });
    expect(only(effects, 'inject_decision')).toMatchObject([{ agentId: david }]);
    expect(only(effects, 'commit_event')[0]?.envelope.event).toMatchObject({ type: 'status', agentId: david });
    expect(only(answers(current, 'one', choose('a')), 'deliver_resolution')).toMatchObject([
      { agentId: david, isReassigned: true },
    ]);
    expect([current.state.trust[maya]?.score, current.state.trust[david]?.score]).toEqual([50, 52]);
    current.emits('david', optionDecision('two'));
    kills(current, 'david');
    expect(audited(current.passes(10))).toEqual(['triaged by system']);
  });

  it('[F52] a new life of the agent takes its decisions back', () => {
    const current = scene();
    current.emits('maya', optionDecision('one', { affectedArtifactIds: [artifactNamed('a')] }));
    kills(current, 'maya');
    starts(current, 'maya', {}, 2);
    expect(item(current, 'one')).toMatchObject({ status: 'open', badges: [], orphanUntil: null });
    expect(only(answers(current, 'one', reject), 'deliver_resolution')).toMatchObject([{ agentId: maya }]);
  });
});
