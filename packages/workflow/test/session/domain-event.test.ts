import { journalEventFields } from '@signalbox/journal';
import { canonicalJson, TRUNCATION_MARKER, utf8Length } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { sortBlockers } from '../../src/session/blockers.ts';
import { budgets } from '../../src/session/bounded-text.ts';
import { boundTrace } from '../../src/session/decision-trace.ts';
import { type DomainEventKind, dedupeKeyOf, domainEventV1, type EventFacts } from '../../src/session/domain-event.ts';
import type { TraceEntry } from '../../src/session/event-data.ts';
import { draftOf } from '../../src/session/event-draft.ts';
import { guidedId, type TraceId } from '../../src/session/ids.ts';
import { blockerCodeOf, type GapReason, reasonCodes } from '../../src/session/reasons.ts';
import { samples } from './event-samples.ts';
import { SESSION } from './guided-session.ts';

const eventOf = (facts: EventFacts, change: object = {}) => ({
  ...draftOf(facts),
  v: 1,
  eventIndex: 0,
  sessionId: SESSION,
  ...change,
});

const kinds = Object.entries(samples) as [DomainEventKind, readonly [EventFacts, string]][];

function refusal(event: unknown): string {
  const parsed = domainEventV1.safeParse(event);
  if (parsed.success) throw new Error('was expected to be refused');
  return parsed.error.issues.map(issue => `${issue.path.join('.')}: ${issue.message}`).join('; ');
}

/** A sample whose data differs; its key is derived again. */
function changed(kind: DomainEventKind, data: object): unknown {
  const [facts] = samples[kind];
  return eventOf({ ...facts, data: { ...facts.data, ...data } } as EventFacts);
}

describe('events', () => {
  it('[W60] are thirteen kinds', () => {
    expect(kinds.map(([kind]) => kind).sort()).toEqual([
      'advance_recorded',
      'capability_observed',
      'context_set',
      'decision_trace_appended',
      'divergence_recorded',
      'edge_created',
      'gap_recorded',
      'node_created',
      'node_output_appended',
      'observation_recorded',
      'preferences_changed',
      'run_started',
      'session_created',
    ]);
  });

  it.each(kinds)('[W60] %s is read as it was written, and nothing else is read as one', (_kind, [facts]) => {
    const event = eventOf(facts);
    expect(domainEventV1.parse(event)).toEqual(event);
    expect(refusal({ ...event, v: 2 })).toContain('v: ');
    expect(refusal({ ...event, extra: 1 })).toContain('extra');
    expect(refusal({ ...event, data: { ...facts.data, extra: 1 } })).toContain('extra');
    expect(refusal({ ...event, kind: 'something_else' })).toContain('kind');
    expect(refusal({ ...event, scope: { nodeId: event.eventId } })).not.toBe('');
    expect(refusal({ ...event, eventIndex: -1 })).toContain('eventIndex');
  });

  it.each(kinds)('[W61] %s has the key of its recipe and no other', (_kind, [facts, key]) => {
    expect(dedupeKeyOf(facts)).toBe(key);
    expect(key).toMatch(/^[a-z0-9_:>-]{1,256}$/);
    expect(refusal(eventOf(facts, { dedupeKey: `${key}:more` }))).toBe(`dedupeKey: must be ${key}`);
  });

  it('[W60] have the envelope of the journal', () => {
    const [facts] = samples.session_created;
    for (const [field, schema] of Object.entries(journalEventFields)) {
      expect(schema.safeParse((eventOf(facts) as Record<string, unknown>)[field]).success, field).toBe(true);
    }
  });

  it.each<[string, unknown, string]>([
    ['a parent in a run', changed('node_created', { parentNodeId: 'x' }), 'parentNodeId'],
    [
      'a checkpoint edge with the cause of a step',
      changed('edge_created', { edgeKind: 'checkpoint' }),
      'data.cause.kind',
    ],
    [
      'a preference that is changed twice',
      changed('preferences_changed', {
        delta: [
          { key: 'autonomy', value: 'full_auto_never_stop' },
          { key: 'autonomy', value: 'full_auto_never_stop' },
        ],
      }),
      'a key is changed twice',
    ],
    ['no change of preferences', changed('preferences_changed', { delta: [] }), 'data.delta'],
    [
      'an effect that is not the change',
      changed('preferences_changed', {
        effective: { autonomy: 'guided', riskPolicy: 'conservative' },
      }),
      'do not hold the change',
    ],
    [
      'a claim that calls itself strong',
      changed('capability_observed', {
        provenance: {
          kind: 'manual_claim',
          enforcementGrade: 'strong',
          detail: { claimedBy: 'agent', claim: 'available' },
        },
      }),
      'enforcementGrade',
    ],
    [
      'a failed use without its code',
      changed('capability_observed', {
        provenance: {
          kind: 'attempted_use',
          enforcementGrade: 'strong',
          detail: { attemptContext: 'workflow_step', result: 'failure' },
        },
      }),
      'failureCode',
    ],
    [
      'a detail of another category',
      changed('gap_recorded', {
        reason: { category: 'unexpected', detail: 'missing_required_output' },
      }),
      'data.reason.detail',
    ],
    ['an id that delimits', changed('divergence_recorded', { relatedStepId: 'outer@0' }), 'relatedStepId'],
    ['an empty trace', changed('decision_trace_appended', { entries: [] }), 'data.entries'],
    [
      'a reserved key of a context',
      changed('context_set', {
        context: JSON.parse('{"a":{"__proto__":{"admin":true}}}'),
      }),
      'the key __proto__ is reserved',
    ],
  ])('[W60] %s is refused', (_name, event, why) => {
    expect(refusal(event)).toContain(why);
  });
});

describe('budgets', () => {
  const long = (bytes: number) => 'ü'.repeat(bytes / 2);

  it.each<[string, DomainEventKind, (bytes: number) => object, number]>([
    ['summary', 'gap_recorded', bytes => ({ summary: long(bytes) }), budgets.summary],
    ['summary', 'divergence_recorded', bytes => ({ summary: long(bytes) }), budgets.summary],
    [
      'notesMarkdown',
      'node_output_appended',
      bytes => ({ payload: { payloadKind: 'notes', notesMarkdown: long(bytes) } }),
      budgets.notesMarkdown,
    ],
    [
      'traceSummary',
      'decision_trace_appended',
      bytes => ({ entries: [{ kind: 'selected_next_step', summary: long(bytes) }] }),
      budgets.traceSummary,
    ],
    [
      'shortString',
      'observation_recorded',
      bytes => ({ key: 'git_branch', value: { type: 'short_string', value: long(bytes) } }),
      budgets.shortString,
    ],
    [
      'path',
      'observation_recorded',
      bytes => ({ key: 'repo_root', value: { type: 'path', value: long(bytes) } }),
      budgets.path,
    ],
    ['blockerMessage', 'advance_recorded', bytes => blocked({ message: long(bytes) }), budgets.blockerMessage],
    [
      'blockerSuggestedFix',
      'advance_recorded',
      bytes => blocked({ suggestedFix: long(bytes) }),
      budgets.blockerSuggestedFix,
    ],
  ])('[W62] %s of %s is counted in UTF-8 bytes, and too much is refused by name', (budget, kind, data, max) => {
    expect(domainEventV1.safeParse(changed(kind, data(max))).success).toBe(true);
    expect(refusal(changed(kind, data(max + 2)))).toContain(
      `takes ${max + 2} UTF-8 bytes, the budget of ${budget} is ${max}`,
    );
  });

  it('[W62] a context is counted as canonical JSON', () => {
    const context = (bytes: number) => ({ context: { a: 'x'.repeat(bytes - '{"a":""}'.length) } });
    expect(domainEventV1.safeParse(changed('context_set', context(budgets.context))).success).toBe(true);
    expect(refusal(changed('context_set', context(budgets.context + 1)))).toContain(
      `takes ${budgets.context + 1} bytes of canonical JSON, the budget of context is ${budgets.context}`,
    );
  });

  it('[W62] a trace is cut from its end to its budgets, in order, and says so', () => {
    const traceId = guidedId<TraceId>('test', 'trace');
    const entry = (index: number): TraceEntry => ({
      kind: 'evaluated_condition',
      summary: `${index} ${'x'.repeat(600)}`,
      refs: Array.from({ length: 12 }, () => ({ kind: 'condition_id', conditionId: 'c'.repeat(40) })),
    });
    const bounded = boundTrace(
      traceId,
      Array.from({ length: 40 }, (_, index) => entry(index)),
    );
    expect(utf8Length(canonicalJson(bounded))).toBeLessThanOrEqual(budgets.traceTotal);
    expect(bounded.entries.length).toBeGreaterThan(1);
    expect(bounded.entries.every(kept => kept.summary.endsWith(TRUNCATION_MARKER))).toBe(true);
    const event = changed('decision_trace_appended', bounded);
    expect(domainEventV1.safeParse(event).success).toBe(true);
    const short: TraceEntry[] = [{ kind: 'exited_loop', summary: 'done' }];
    expect(boundTrace(traceId, short)).toEqual({ traceId, entries: short });
    const many = boundTrace(
      traceId,
      Array.from({ length: 30 }, (): TraceEntry => ({ kind: 'exited_loop', summary: 'x' })),
    );
    expect([many.entries.length, many.entries.at(-1)?.summary]).toEqual([25, `x${TRUNCATION_MARKER}`]);
  });
});

describe('blockers', () => {
  const one = { code: 'MISSING_REQUIRED_OUTPUT', pointer: { kind: 'context_budget' }, message: 'm' } as const;
  const two = {
    code: 'MISSING_REQUIRED_OUTPUT',
    pointer: { kind: 'workflow_step', stepId: 'a' },
    message: 'm',
  } as const;
  const three = { ...two, pointer: { kind: 'workflow_step', stepId: 'b' } } as const;
  const four = { ...one, code: 'USER_ONLY_DEPENDENCY' } as const;

  it('[W63] are ordered by code and pointer, and another order is refused', () => {
    expect(sortBlockers([four, three, two, one])).toEqual([one, two, three, four]);
    expect(refusal(changed('advance_recorded', report([two, one])))).toContain('blockers are ordered');
  });

  it('[W63] are one to ten', () => {
    expect(refusal(changed('advance_recorded', report([])))).toContain('blockers');
    expect(domainEventV1.safeParse(changed('advance_recorded', report(Array(10).fill(one)))).success).toBe(true);
    expect(refusal(changed('advance_recorded', report(Array(11).fill(one))))).toContain('blockers');
  });

  it('[W64] every reason has one blocker code', () => {
    const codes = reasonCodes.map(code => {
      const [category, detail] = code.split(':');
      return [code, blockerCodeOf({ category, detail } as GapReason)];
    });
    expect(Object.fromEntries(codes)).toEqual({
      'user_only_dependency:needs_user_secret_or_token': 'USER_ONLY_DEPENDENCY',
      'user_only_dependency:needs_user_account_access': 'USER_ONLY_DEPENDENCY',
      'user_only_dependency:needs_user_artifact': 'USER_ONLY_DEPENDENCY',
      'user_only_dependency:needs_user_choice': 'USER_ONLY_DEPENDENCY',
      'user_only_dependency:needs_user_approval': 'USER_ONLY_DEPENDENCY',
      'user_only_dependency:needs_user_environment_action': 'USER_ONLY_DEPENDENCY',
      'contract_violation:missing_required_output': 'MISSING_REQUIRED_OUTPUT',
      'contract_violation:invalid_required_output': 'INVALID_REQUIRED_OUTPUT',
      'capability_missing:required_capability_unknown': 'REQUIRED_CAPABILITY_UNKNOWN',
      'capability_missing:required_capability_unavailable': 'REQUIRED_CAPABILITY_UNAVAILABLE',
      'unexpected:invariant_violation': 'INVARIANT_VIOLATION',
      'unexpected:storage_corruption_detected': 'STORAGE_CORRUPTION_DETECTED',
    });
  });
});

function report(blockers: readonly object[]) {
  return { outcome: { kind: 'blocked', blockers: { blockers } } };
}

function blocked(change: object) {
  return report([
    { code: 'INVARIANT_VIOLATION', pointer: { kind: 'workflow_step', stepId: 'a' }, message: 'm', ...change },
  ]);
}
