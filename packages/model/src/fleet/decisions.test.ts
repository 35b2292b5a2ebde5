import {
  brakeAction,
  brakeRecord,
  DEFAULT_MAX_EXTENSIONS,
  DEFAULT_ORPHAN_GRACE_MS,
  decisionAction,
  decisionBadge,
  decisionItem,
  decisionLogEntry,
  decisionStatus,
  decisionTimeoutPolicy,
  defaultTickConfig,
  orphanedDecisionAction,
  orphanedDecisionPolicy,
  resolution,
  tickConfig,
} from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import {
  brakeActionSample,
  brakeRecordSample,
  decisionItemSample,
  decisionLogSample,
  orphanPolicySample,
  resolutionSample,
  tickConfigSample,
  timeoutPolicySample,
} from '../../test/fleet-samples.ts';
import { refusal, requiredFields } from '../../test/refusal.ts';

describe('a resolution', () => {
  it('[M210] requires its type, its reason and what kind of action it is about', () => {
    expect(requiredFields(resolution, resolutionSample)).toEqual(['resolutionType', 'rationale', 'actionKind']);
  });

  it.each([
    ['another type', { resolutionType: 'approved' }, 'resolutionType: invalid_value'],
    ['an action that is none of ours', { actionKind: 'read' }, 'actionKind: invalid_value'],
    ['arguments that are text', { modifiedArgs: '{}' }, 'modifiedArgs: custom'],
  ])('[M210] refuses %s', (_, change, problem) => {
    expect(refusal(resolution, { ...resolutionSample, ...change })).toEqual([problem]);
  });
});

describe('a decision in the queue', () => {
  it('[M211] has a status and badges of closed sets', () => {
    expect([decisionStatus.options, decisionBadge.options]).toEqual([
      ['open', 'suspended', 'answered', 'expired', 'cancelled', 'withdrawn'],
      ['timed_out', 'agent_braked', 'agent_killed', 'reassigned'],
    ]);
  });

  it('[M211] has its risk, its agent and its due tick, which is null if it waits for ever', () => {
    expect(
      Object.keys(decisionItemSample).filter(
        field => !requiredFields(decisionItem, decisionItemSample).includes(field),
      ),
    ).toEqual(['reassignedTo', 'resolution', 'closedBy', 'closedAtTick']);
    expect(refusal(decisionItem, { ...decisionItemSample, dueByTick: null })).toEqual([]);
  });

  it('[M211] leaves an entry of the audit for every step of its life', () => {
    const entries = decisionAction.options.map(action => ({ ...decisionLogSample, action }));
    expect(entries.flatMap(entry => refusal(decisionLogEntry, entry))).toEqual([]);
    expect(refusal(decisionLogEntry, { ...decisionLogSample, action: 'forgotten' })).toEqual(['action: invalid_value']);
  });

  it('[M212] times out by one of four policies, or never', () => {
    expect(decisionTimeoutPolicy.shape.onTimeout.options).toEqual(['auto_recommend', 'escalate', 'cancel', 'extend']);
    expect([
      refusal(decisionTimeoutPolicy, { ...timeoutPolicySample, timeoutTicks: null }),
      refusal(decisionTimeoutPolicy, { ...timeoutPolicySample, timeoutTicks: 0 }),
      DEFAULT_MAX_EXTENSIONS,
    ]).toEqual([[], ['timeoutTicks: too_small'], 2]);
  });

  it('[M212] that is orphaned is triaged, cancelled or reassigned after a while', () => {
    expect(orphanedDecisionAction.options).toEqual(['triage', 'cancel', 'reassign']);
    expect([
      refusal(orphanedDecisionPolicy, { default: 'triage', gracePeriodMs: DEFAULT_ORPHAN_GRACE_MS }),
      refusal(orphanedDecisionPolicy, { ...orphanPolicySample, perSubtype: { review: 'cancel' } }),
    ]).toEqual([[], ['perSubtype: unrecognized_keys']]);
  });
});

describe('a brake', () => {
  it('[M213] has a scope, a reason, what it does, and who ordered it', () => {
    expect(requiredFields(brakeAction, brakeActionSample)).toEqual([
      'scope',
      'reason',
      'behavior',
      'initiatedBy',
      'timestamp',
    ]);
  });

  it.each([
    ['a scope without its agent', { scope: { type: 'agent' } }, 'scope.agentId: invalid_type'],
    ['no reason', { reason: '' }, 'reason: too_small'],
    [
      'a timer of no time',
      { releaseCondition: { type: 'timer', releaseAfterMs: 0 } },
      'releaseCondition.releaseAfterMs: too_small',
    ],
    ['another release', { releaseCondition: { type: 'never' } }, 'releaseCondition.type: invalid_union'],
  ])('[M213] refuses %s', (_, change, problem) => {
    expect(refusal(brakeAction, { ...brakeActionSample, ...change })).toEqual([problem]);
  });

  it('[M213] records for every agent what was done, when it was silent and what arrived after that', () => {
    expect(requiredFields(brakeRecord.shape.agents.unwrap().element, brakeRecordSample.agents[0] ?? {})).toEqual([
      'agentId',
      'silentAfterMs',
      'outcome',
      'refusedEvents',
    ]);
    expect(refusal(brakeRecord, { ...brakeRecordSample, released: undefined })).toEqual([]);
  });
});

describe('ticks', () => {
  it('[M214] follow the wall clock, one a second, unless told otherwise', () => {
    expect(tickConfig.parse(defaultTickConfig)).toEqual({ intervalMs: 1000, mode: 'wall_clock' });
    expect(refusal(tickConfig, { ...tickConfigSample, intervalMs: 0 })).toEqual(['intervalMs: too_small']);
  });
});
