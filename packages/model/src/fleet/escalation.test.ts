import {
  contextInjectionPolicy,
  defaultInjectionPolicies,
  escalationPredicate,
  kindWords,
  PREDICATE_MAX_DEPTH,
  type ToolKind,
  toolKind,
  toolRiskClassification,
  UNCLASSIFIED_TOOL,
  withoutTrustRules,
} from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { classificationSample, injectionPolicySample, protocolSample } from '../../test/fleet-plugin-samples.ts';
import { refusal } from '../../test/refusal.ts';

const low = { field: 'confidence', op: 'lt', value: 0.5 } as const;
const untrusted = { field: 'trustScore', op: 'lt', value: 70 } as const;

function nested(levels: number): unknown {
  let predicate: unknown = low;
  for (let level = 0; level < levels; level++) predicate = { type: 'and', rules: [predicate] };
  return predicate;
}

describe('an escalation rule', () => {
  it('[M219] compares one of four fields, or joins rules to a bounded depth', () => {
    expect(refusal(escalationPredicate, nested(PREDICATE_MAX_DEPTH))).toEqual([]);
    expect(refusal(escalationPredicate, nested(PREDICATE_MAX_DEPTH + 1))).toEqual([': custom']);
    expect(refusal(escalationPredicate, nested(200_000))).toEqual([': custom']);
  });

  it.each([
    ['a field that does not exist', { field: 'mood', op: 'eq', value: 1 }],
    ['a comparison that its field does not have', { field: 'blastRadius', op: 'lt', value: 'small' }],
    ['a value of another field', { field: 'confidence', op: 'lt', value: 'small' }],
    ['no rules', { type: 'and', rules: [] }],
    ['a negation', { type: 'not', rules: [low] }],
  ])('[M219] refuses %s', (_, predicate) => {
    expect(refusal(escalationPredicate, predicate)).not.toEqual([]);
  });

  it('[M220] on trust is taken out of what an agent gets, wherever trust is in it, with its words', () => {
    const onTrust = [
      untrusted,
      { type: 'and', rules: [low, untrusted] },
      { type: 'or', rules: [{ type: 'and', rules: [untrusted] }, low] },
    ] as const;
    const rules = onTrust.map(predicate => ({ predicate, description: 'An agent with little trust' }));
    const seen = withoutTrustRules({ ...protocolSample, escalateWhen: [...rules, ...protocolSample.escalateWhen] });
    expect(seen).toEqual(protocolSample);
    expect(JSON.stringify(seen)).not.toMatch(/trust/i);
  });
});

describe('the risk of a tool', () => {
  it('[M221] that nobody classified is for a person', () => {
    const { defaultSeverity, defaultBlastRadius } = toolRiskClassification.parse(UNCLASSIFIED_TOOL);
    expect([defaultSeverity, defaultBlastRadius]).toEqual(['high', 'unknown']);
    expect(refusal(toolRiskClassification, { ...classificationSample, toolPattern: '' })).toEqual([
      'toolPattern: too_small',
    ]);
  });

  it('[M221] is named by the words of its kind, whatever its vendor calls it', () => {
    const kinds: readonly ToolKind[] = ['read', 'edit', 'delete', 'move', 'search', 'execute', 'fetch'];
    expect(toolKind.options).toEqual(kinds);
    expect(kindWords).toEqual({
      read: ['read'],
      search: ['search', 'read'],
      fetch: ['fetch'],
      edit: ['edit', 'write'],
      move: ['move', 'edit', 'write'],
      delete: ['delete', 'write'],
      execute: ['execute'],
    });
  });
});

describe('news for agents', () => {
  it('[M222] arrive as the specification has it for each control mode', () => {
    const rows = Object.entries(defaultInjectionPolicies).map(([mode, policy]) => {
      const { periodicIntervalTicks, reactiveEvents, stalenessThreshold, ...limits } =
        contextInjectionPolicy.parse(policy);
      return [
        mode,
        periodicIntervalTicks,
        reactiveEvents.map(({ on }) => on),
        stalenessThreshold,
        Object.values(limits),
      ];
    });
    expect(rows).toEqual([
      ['orchestrator', 10, ['artifact_approved', 'decision_resolved', 'coherence_issue'], 5, [12, 5]],
      ['adaptive', 20, ['artifact_approved', 'decision_resolved'], 10, [12, 5]],
      ['ecosystem', 50, ['coherence_issue'], 20, [12, 5]],
    ]);
  });

  it.each([
    ['a period of no ticks', { periodicIntervalTicks: 0 }, 'periodicIntervalTicks: too_small'],
    ['another trigger', { reactiveEvents: [{ on: 'full_moon' }] }, 'reactiveEvents.0.on: invalid_union'],
    [
      'completions of all workstreams',
      { reactiveEvents: [{ on: 'agent_completed', workstreams: 'all' }] },
      'reactiveEvents.0.workstreams: invalid_value',
    ],
  ])('[M222] are not triggered by %s', (_, change, problem) => {
    expect(refusal(contextInjectionPolicy, { ...injectionPolicySample, ...change })).toEqual([problem]);
  });
});
