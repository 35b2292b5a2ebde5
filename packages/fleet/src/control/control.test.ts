import type { BrakeAction, ControlMode } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import {
  agentNamed,
  allCapabilities,
  approve,
  artifact,
  artifactNamed,
  brakeNamed,
  choose,
  decisionNamed,
  only,
  optionDecision,
  type Scene,
  scene,
  starts,
  timeAt,
  toolApproval,
} from '../../test/scene.ts';
import { judge } from './judge.ts';
import { modeProtocols } from './mode-protocols.ts';
import { predicateHolds } from './predicate.ts';
import { toolKindOf, toolWords } from './tool-words.ts';

const maya = agentNamed('maya');
const item = (current: Scene, name: string) => current.state.decisions.items[decisionNamed(name)];
const none = { alwaysEscalate: [], escalateWhen: [], neverEscalate: [] };
const sure = {
  confidence: 0.95,
  blastRadius: 'trivial',
  affectsMultipleWorkstreams: false,
  trust: { score: 80, margin: 0 },
} as const;
const asks = (mode: ControlMode, toolName: string, more: object = {}, facts: object = {}) =>
  judge(mode, {
    call: { toolName, toolArgs: {} },
    facts: { ...sure, ...facts },
    isClassified: true,
    isAllowed: false,
    own: none,
    ...more,
  }).asks;

describe('judging', () => {
  it('[F80] follows the rules of the three modes', () => {
    const row = (toolName: string, facts = {}) =>
      (['orchestrator', 'adaptive', 'ecosystem'] as const).map(mode => asks(mode, toolName, {}, facts));
    expect(row('read')).toEqual([false, false, false]);
    expect(row('write')).toEqual([true, false, false]);
    expect(row('bash')).toEqual([true, false, false]);
    expect(row('delete_file')).toEqual([true, true, true]);
    expect(row('deploy')).toEqual([true, true, true]);
    expect(row('write', { trust: { score: 69, margin: 0 } })).toEqual([true, true, false]);
    expect(row('write', { confidence: 0.7, blastRadius: 'unknown' })).toEqual([true, true, false]);
    expect(row('write', { confidence: 0.7, blastRadius: 'small' })).toEqual([true, false, false]);
    expect(row('write', { confidence: 0.4 })).toEqual([true, false, true]);
    expect(row('write', { affectsMultipleWorkstreams: true })).toEqual([true, true, false]);
  });

  it('[F80] uses the mode of the project, whatever the brief says', () => {
    const current = scene([], { mode: 'orchestrator' });
    starts(current, 'maya', { controlMode: 'ecosystem', escalationProtocol: modeProtocols.ecosystem });
    current.emits('maya', toolApproval('one'));
    expect(item(current, 'one')?.status).toBe('open');
  });

  it('[F81] knows tools by what they do', () => {
    const kinds = [
      'write',
      'Write',
      'apply_patch',
      'str_replace',
      'run_shell_command',
      'Bash',
      'execute',
      'rm',
      'rename_file',
      'WebFetch',
      'grep',
      'Read',
      'frobnicate',
    ];
    expect(kinds.map(toolName => toolKindOf({ toolName }))).toEqual([
      'edit',
      'edit',
      'edit',
      'edit',
      'execute',
      'execute',
      'execute',
      'delete',
      'move',
      'fetch',
      'search',
      'read',
      undefined,
    ]);
    for (const name of ['write', 'Write', 'apply_patch', 'run_shell_command'])
      expect(asks('orchestrator', name)).toBe(true);
    const words = (command: string) => [...toolWords({ toolName: 'bash', toolArgs: { command } })];
    expect(words('ls')).toEqual(['execute']);
    expect(words('cd x && rm -rf y')).toEqual(['execute', 'delete']);
    expect(words('git push origin main')).toEqual(['execute', 'deploy']);
    expect(words('echo alarm')).toEqual(['execute']);
    expect([...toolWords({ toolName: 'x', toolArgs: {}, kind: 'delete' })]).toContain('delete');
  });

  it('[F82] lets the strictest rule win', () => {
    expect(asks('ecosystem', 'write', { own: { ...none, alwaysEscalate: ['modify production'] } })).toBe(true);
    expect(asks('ecosystem', 'write', { own: { ...none, alwaysEscalate: ['wri*'] } })).toBe(true);
    expect(asks('ecosystem', 'write', { own: { ...none, alwaysEscalate: ['read'] } })).toBe(false);
    expect(asks('orchestrator', 'write', { own: { ...none, neverEscalate: ['write'] } })).toBe(true);
    const rule = { predicate: { field: 'blastRadius', op: 'gte', value: 'trivial' }, description: 'all' } as const;
    expect(asks('ecosystem', 'read', { own: { ...none, escalateWhen: [rule] } })).toBe(true);
  });

  it('[F83] asks about everything else in orchestrator mode, and about unknown tools always', () => {
    expect([asks('orchestrator', 'search'), asks('orchestrator', 'fetch')]).toEqual([false, true]);
    expect([asks('ecosystem', 'frobnicate'), asks('ecosystem', 'write', { isClassified: false })]).toEqual([
      true,
      true,
    ]);
    const current = scene(['maya'], { mode: 'ecosystem' });
    current.emits('maya', toolApproval('odd', 'edit_odd'));
    expect(item(current, 'odd')).toMatchObject({ status: 'open', severity: 'high', blastRadius: 'unknown' });
  });

  it('[F80] evaluates every form of a predicate', () => {
    const is = (predicate: Parameters<typeof predicateHolds>[0]) => predicateHolds(predicate, sure);
    expect(is({ field: 'confidence', op: 'gte', value: 0.95 })).toBe(true);
    expect(is({ field: 'confidence', op: 'gt', value: 0.95 })).toBe(false);
    expect(is({ field: 'confidence', op: 'lte', value: 0.95 })).toBe(true);
    expect(is({ field: 'blastRadius', op: 'eq', value: 'trivial' })).toBe(true);
    expect(
      is({
        type: 'or',
        rules: [
          { field: 'trustScore', op: 'lt', value: 10 },
          { field: 'affectsMultipleWorkstreams', op: 'eq', value: false },
        ],
      }),
    ).toBe(true);
    expect(
      is({
        type: 'and',
        rules: [
          { field: 'trustScore', op: 'lt', value: 10 },
          { field: 'affectsMultipleWorkstreams', op: 'eq', value: false },
        ],
      }),
    ).toBe(false);
  });

  it('[F84] allows what a person always approves, until the session or the mode ends', () => {
    const current = scene(['maya'], { mode: 'orchestrator' });
    current.emits('maya', toolApproval('one'));
    current.happens('decision_answered', {
      decisionId: decisionNamed('one'),
      resolution: { ...approve, alwaysApprove: true },
      by: 'ada',
    });
    current.emits('maya', toolApproval('two'));
    expect(item(current, 'two')).toMatchObject({ status: 'answered', closedBy: 'system' });
    current.happens('mode_changed', { mode: 'adaptive', by: 'ada' });
    current.happens('mode_changed', { mode: 'orchestrator', by: 'ada' });
    current.emits('maya', toolApproval('three'));
    expect(item(current, 'three')?.status).toBe('open');
  });

  it('[F85] lets an option decision wait for a person', () => {
    const current = scene(['maya'], { mode: 'ecosystem' });
    current.emits('maya', optionDecision('one', { confidence: 1, blastRadius: 'trivial' }));
    expect(item(current, 'one')?.status).toBe('open');
  });

  it('[F80] asks about a call that touches artifacts of two workstreams', () => {
    const current = scene(['maya', 'david/frontend'], { config: {} });
    current.emits('david', artifact('page', { workstream: 'frontend' }, 'david'));
    for (let n = 0; n < 30; n++) {
      current.emits('maya', toolApproval(`t${n}`));
      current.happens('decision_answered', { decisionId: decisionNamed(`t${n}`), resolution: approve, by: 'ada' });
    }
    current.emits('maya', toolApproval('own'));
    current.emits('maya', toolApproval('cross', 'write', { affectedArtifactIds: [artifactNamed('page')] }));
    expect([item(current, 'own')?.closedBy, item(current, 'cross')?.status]).toEqual(['system', 'open']);
  });
});

describe('modes', () => {
  it('[F86] applies at once, and waits in the brief where the plugin cannot tell its agent', () => {
    const current = scene(['maya'], {
      mode: 'ecosystem',
      capabilities: { ...allCapabilities, supportsHotBriefUpdate: false },
    });
    current.emits('maya', toolApproval('before', 'write', { confidence: 0.1 }));
    const pending = item(current, 'before');
    const effects = current.happens('mode_changed', { mode: 'orchestrator', by: 'ada' });
    expect(only(effects, 'update_brief')).toEqual([]);
    expect(only(effects, 'sync_state')).toHaveLength(1);
    expect(item(current, 'before')).toEqual(pending);
    expect(current.state.agents.agents[maya]?.pendingBriefChanges).toEqual({
      controlMode: 'orchestrator',
      escalationProtocol: modeProtocols.orchestrator,
    });
    current.emits('maya', toolApproval('after'));
    expect(item(current, 'after')?.status).toBe('open');
  });

  it('[F86, F120] tells agents whose plugin can, without trust', () => {
    const current = scene(['maya'], { mode: 'ecosystem' });
    const [told] = only(current.happens('mode_changed', { mode: 'adaptive', by: 'ada' }), 'update_brief');
    expect(told?.changes.controlMode).toBe('adaptive');
    expect(JSON.stringify(told)).not.toMatch(/trust/i);
  });
});

const pull = (current: Scene, name: string, more: Partial<BrakeAction> = {}) =>
  current.happens('brake_pulled', {
    brakeId: brakeNamed(name),
    action: {
      scope: { type: 'all' },
      reason: 'wrong',
      behavior: 'pause',
      initiatedBy: 'ada',
      timestamp: timeAt(current.now),
      ...more,
    },
  });
const silence = (current: Scene, name: string, how: 'paused' | 'killed' = 'paused') =>
  current.happens('agent_stopped', { agentId: agentNamed(name), how, silentAt: timeAt(current.now) });

describe('the brake', () => {
  it('[F87] stops its scope, as the plugin can', () => {
    const stops = (more: Partial<BrakeAction>, supportsPause = true) => {
      const current = scene(['maya', 'david/frontend'], { capabilities: { ...allCapabilities, supportsPause } });
      return only(pull(current, 'one', more), 'stop_agent').map(({ agentId, how }) => [agentId, how]);
    };
    const david = agentNamed('david');
    expect(stops({})).toEqual([
      [maya, 'pause'],
      [david, 'pause'],
    ]);
    expect(stops({ scope: { type: 'agent', agentId: david }, behavior: 'kill' })).toEqual([[david, 'kill']]);
    expect(stops({ scope: { type: 'workstream', workstream: 'backend' } }, false)).toEqual([[maya, 'abort']]);
  });

  it('[F88] suspends decisions, freezes their deadlines and costs trust', () => {
    const current = scene();
    current.emits('maya', optionDecision('one'));
    current.ticks(10);
    pull(current, 'one');
    expect(item(current, 'one')).toMatchObject({ status: 'suspended', badges: ['agent_braked'], dueByTick: 50 });
    expect(current.state.trust[maya]?.score).toBe(47);
    current.emits('maya', optionDecision('two'));
    expect(item(current, 'two')?.status).toBe('suspended');
    silence(current, 'maya');
    current.ticks(100);
    current.happens('brake_released', { brakeId: brakeNamed('one'), by: 'ada' });
    expect(item(current, 'one')).toMatchObject({ status: 'open', badges: [], dueByTick: 150 });
    expect(item(current, 'two')).toMatchObject({ status: 'open', dueByTick: 160 });
  });

  it('[F89] is released by a person, by a timer or by a decision', () => {
    const by = (more: Partial<BrakeAction>, act: (current: Scene) => unknown) => {
      const current = scene();
      current.emits('maya', optionDecision('one'));
      pull(current, 'one', more);
      silence(current, 'maya');
      act(current);
      return [
        current.state.control.brakes[brakeNamed('one')]?.released?.cause,
        only(current.effects, 'spawn_agent').length,
      ];
    };
    const decisionId = decisionNamed('one');
    expect(by({}, current => current.happens('brake_released', { brakeId: brakeNamed('one'), by: 'ada' }))).toEqual([
      'manual',
      2,
    ]);
    const timer = { releaseCondition: { type: 'timer', releaseAfterMs: 600 } } as const;
    expect(by(timer, current => current.passes(599))).toEqual([undefined, 1]);
    expect(by(timer, current => current.passes(600))).toEqual(['timer', 2]);
    const decision = { releaseCondition: { type: 'decision', decisionId } } as const;
    expect(
      by(decision, current => current.happens('decision_answered', { decisionId, resolution: choose('a'), by: 'ada' })),
    ).toEqual(['decision', 2]);
    expect(
      by({ behavior: 'kill' }, current => current.happens('brake_released', { brakeId: brakeNamed('one'), by: 'ada' })),
    ).toEqual(['manual', 1]);
  });

  it('[F88, F89] keeps decisions of a killed agent suspended until it is started', () => {
    const current = scene();
    current.emits('maya', optionDecision('one'));
    pull(current, 'one', { behavior: 'kill' });
    silence(current, 'maya', 'killed');
    current.happens('brake_released', { brakeId: brakeNamed('one'), by: 'ada' });
    current.passes(60_000);
    expect(item(current, 'one')).toMatchObject({ status: 'suspended', orphanUntil: null });
    starts(current, 'maya', {}, 2);
    expect(item(current, 'one')?.status).toBe('open');
  });

  it('[F90] records the time to silence, and refuses later events', () => {
    const current = scene();
    pull(current, 'one');
    current.now = 340;
    silence(current, 'maya');
    const of = () => current.state.control.brakes[brakeNamed('one')]?.agents;
    expect(of()).toEqual([{ agentId: maya, silentAfterMs: 340, outcome: 'paused', refusedEvents: 0 }]);
    const first = current.emits('maya', { type: 'status', message: 'still here' });
    expect(only(first, 'commit_event')[0]?.envelope.event).toMatchObject({
      type: 'error',
      errorCode: 'event_after_brake',
    });
    current.emits('maya', { type: 'status', message: 'still here' });
    expect([of()?.[0]?.refusedEvents, current.state.pipeline.agents[maya]?.counts.refused]).toEqual([2, 2]);
  });

  it('[F91] holds what starts, and an agent that two brakes hold', () => {
    const current = scene();
    pull(current, 'one');
    silence(current, 'maya');
    pull(current, 'two', { scope: { type: 'agent', agentId: maya } });
    expect(current.state.trust[maya]?.score).toBe(47);
    const refused = current.happens('resume_requested', { agentId: maya, by: 'ada' });
    expect(refused).toMatchObject([{ kind: 'request_refused', code: 'braked' }]);
    starts(current, 'david');
    expect(current.state.agents.agents[agentNamed('david')]).toBeUndefined();
    current.happens('brake_released', { brakeId: brakeNamed('one'), by: 'ada' });
    expect(current.state.agents.agents[maya]?.status).toBe('paused');
    current.happens('brake_released', { brakeId: brakeNamed('two'), by: 'ada' });
    expect(current.state.agents.agents[maya]?.status).toBe('starting');
  });
});
