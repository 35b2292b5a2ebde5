import type { Json, JsonObject } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { contractPacks } from '../../src/compile/builtins/contract-packs.ts';
import type { CompiledStep, CompiledWorkflowSnapshotV1 } from '../../src/compile/compiled-workflow.ts';
import type { ValidationExpression } from '../../src/compile/validation.ts';
import { nextIntentOf } from '../../src/interpret/confirmation.ts';
import { interpret } from '../../src/interpret/interpreter.ts';
import { faultReason } from '../../src/interpret/interpreter-fault.ts';
import {
  type Given,
  type Judgement,
  judgeOutput,
  recommendationWarnings,
} from '../../src/interpret/output-judgement.ts';
import { blockerReportOf, gapsOf, type Reason } from '../../src/interpret/reason.ts';
import { blockerReport } from '../../src/session/blockers.ts';
import type { EngineState } from '../../src/session/execution-snapshot.ts';
import { modePresets } from '../../src/session/preferences.ts';
import {
  blockerCode,
  type ReasonCode,
  reasonCodeOf,
  reasonCodes,
  userOnlyDependencyReason,
} from '../../src/session/reasons.ts';
import { decision, LOOP_CONTROL, loop, type Part, situation, step, truthy, workflow } from './workflow-builder.ts';

const withPacks = (parts: readonly Part[], more: Partial<CompiledWorkflowSnapshotV1> = {}) =>
  workflow(parts, { contracts: contractPacks, ...more });

/** The state in which the first wanted step of a workflow is pending. */
function pendingState(compiled: CompiledWorkflowSnapshotV1, context: JsonObject = {}) {
  const started = interpret(compiled, { kind: 'init' }, { kind: 'started' }, situation({ context }));
  if (!started.ok || started.value.kind !== 'advanced' || started.value.state.kind !== 'running')
    throw new Error('no step');
  return started.value.state;
}

type Trying = Omit<Partial<Given>, 'output'> & { readonly notes?: string; readonly artifacts?: readonly Json[] } & Pick<
    Given['output'],
    'needs'
  >;

function judge(compiled: CompiledWorkflowSnapshotV1, trying: Trying = {}, state?: EngineState): Judgement {
  const { notes, artifacts = [], needs, ...more } = trying;
  const given = { output: { notes, artifacts, needs }, context: {}, preferences: modePresets.guided, ...more };
  const from = state ?? pendingState(compiled, given.context);
  if (from.kind !== 'running') throw new Error('nothing is pending');
  const judged = judgeOutput(compiled, from, given);
  if (!judged.ok) throw new Error(judged.error.reason);
  return judged.value;
}

const ofStep = (more: Partial<CompiledStep>, workflowMore: Partial<CompiledWorkflowSnapshotV1> = {}) =>
  withPacks([step('a', more)], workflowMore);

function told(judgement: Judgement): readonly string[] {
  return judgement.kind === 'blocked'
    ? judgement.report.blockers.map(({ code, message }) => `${code}: ${message}`)
    : [];
}

const never = { preferences: modePresets.full_auto_never_stop };

describe('a contract', () => {
  const contracted = ofStep({ output: { contractRef: 'wr.contracts.gate_verdict', required: true } });
  const verdict = {
    kind: 'wr.gate_verdict',
    version: 1,
    verdict: 'approved',
    confidence: 'high',
    rationale: 'All three checks ran.',
  };

  it('[W133] accepts an artifact that fits', () => {
    expect(judge(contracted, { artifacts: [verdict] })).toEqual({ kind: 'accepted', warnings: [], gaps: [] });
  });

  it('[W133] says what is missing or does not fit, and how to mend it', () => {
    const missing = judge(contracted);
    expect(missing).toMatchObject({
      kind: 'blocked',
      report: {
        blockers: [
          {
            code: 'MISSING_REQUIRED_OUTPUT',
            pointer: { kind: 'output_contract', contractRef: 'wr.contracts.gate_verdict' },
            suggestedFix: expect.stringContaining('"kind":"wr.gate_verdict"'),
          },
        ],
      },
      gaps: [{ severity: 'critical', reason: { category: 'contract_violation', detail: 'missing_required_output' } }],
    });
    expect(told(judge(contracted, { artifacts: [{ ...verdict, verdict: 'fine', rationale: 'short' }] }))).toEqual([
      'INVALID_REQUIRED_OUTPUT: The artifact wr.gate_verdict of step a does not fit: /verdict must be "approved" or "rejected" or "uncertain".',
      'INVALID_REQUIRED_OUTPUT: The artifact wr.gate_verdict of step a does not fit: /rationale must have at least 20 characters.',
    ]);
  });

  it('[W133] that is not required may be left out, but not be broken', () => {
    const optional = ofStep({ output: { contractRef: 'wr.contracts.gate_verdict', required: false } });
    expect(judge(optional).kind).toBe('accepted');
    expect(judge(optional, { artifacts: [{ kind: 'wr.gate_verdict' }] }).kind).toBe('blocked');
  });

  it('[W134] is asked instead of the validation of notes', () => {
    const validation: ValidationExpression = { kind: 'rule', test: 'contains', value: 'never said', message: '' };
    const both = ofStep({ validation, output: { contractRef: 'wr.contracts.gate_verdict', required: true } });
    expect(judge(both, { artifacts: [verdict] }).kind).toBe('accepted');
  });

  it('[W135] of loop control names the innermost active loop, or none', () => {
    const deciding = step('b', { output: { contractRef: LOOP_CONTROL, required: true } });
    const compiled = withPacks([
      loop('out', 'for', 2, { by: 'count', count: 1 }, [loop('in', 'while', 2, { by: 'agent' }, [deciding])]),
    ]);
    expect(judge(compiled, { artifacts: [decision('stop')] }).kind).toBe('accepted');
    expect(judge(compiled, { artifacts: [decision('stop', 'in')] }).kind).toBe('accepted');
    const before = withPacks([step('init', { output: { contractRef: LOOP_CONTROL, required: true } })]);
    expect(judge(before, { artifacts: [decision('continue', 'in')] }).kind).toBe('accepted');
    expect(told(judge(compiled, { artifacts: [decision('stop', 'out')] }))).toEqual([
      'INVALID_REQUIRED_OUTPUT: The artifact wr.loop_control of step b does not fit: /loopId must name the innermost active loop, in.',
    ]);
  });

  it('[W202] of loop control that no loop reads is reported, in every place where none does', () => {
    const deciding = step('b', { output: { contractRef: LOOP_CONTROL, required: true } });
    const warned = (compiled: ReturnType<typeof withPacks>) =>
      judge(compiled, { artifacts: [decision('stop')] }).warnings.map(({ code }) => code);
    expect(warned(withPacks([deciding]))).toEqual(['loop_decision_ignored']);
    expect(warned(withPacks([loop('n', 'for', 2, { by: 'count', count: 1 }, [deciding])]))).toEqual([
      'loop_decision_ignored',
    ]);
    expect(warned(withPacks([loop('l', 'while', 2, { by: 'agent' }, [deciding])]))).toEqual([]);
  });

  it('[W206] of a differentiation takes its claim as an object and as a sentence', () => {
    const contractRef = 'wr.contracts.differentiation_handoff';
    const pack = contractPacks.find(each => each.contractRef === contractRef)?.example as JsonObject;
    const compiled = ofStep({ output: { contractRef, required: true } });
    const given = (defensibilityClaim: Json) => ({
      artifacts: [{ ...pack, shapingHandoff: { ...(pack.shapingHandoff as JsonObject), defensibilityClaim } }],
    });
    expect(judge(compiled, given({ power: 'Branding', cannibalization: 'None.' })).kind).toBe('accepted');
    expect(judge(compiled, given('The log stays with the document.')).kind).toBe('accepted');
    expect(judge(compiled, given({ power: 'Branding' })).kind).toBe('blocked');
  });

  it('accepts the example of every pack', () => {
    for (const { contractRef, example } of contractPacks) {
      const judged = judge(ofStep({ output: { contractRef, required: true } }), { artifacts: [example] });
      expect([contractRef, judged.kind]).toEqual([contractRef, 'accepted']);
    }
  });
});

describe('notes', () => {
  const rule = (more: object): ValidationExpression => ({ kind: 'rule', message: '', ...more }) as ValidationExpression;
  const contains = (value: string) => rule({ test: 'contains', value });
  const judged = (validation: ValidationExpression, notes: string, context: JsonObject = {}) => {
    const conditions = [{ conditionId: 'big', kind: 'expression', expression: truthy('big') }] as const;
    return told(judge(ofStep({ validation }, { conditions }), { notes, context })).map(text =>
      text.replace(/^.*asked: /, ''),
    );
  };

  it('[W136] are wanted where the step says so', () => {
    const compiled = ofStep({ notesRequired: true });
    expect(judge(compiled, { notes: 'Done.' }).kind).toBe('accepted');
    for (const notes of [undefined, '', ' \n']) {
      expect(told(judge(compiled, notes === undefined ? {} : { notes }))).toEqual([
        'MISSING_REQUIRED_OUTPUT: Step a needs notes, and none were given.',
      ]);
    }
  });

  it.each<readonly [string, ValidationExpression, pass: string, fail: string, said: string]>([
    ['contains', contains('Finding'), 'Finding 1', 'finding 1', "Must contain 'Finding'"],
    [
      'regex',
      rule({ test: 'regex', pattern: '^Finding \\d+:', flags: 'm' }),
      'x\nFinding 7: y',
      'Finding:',
      'Must match pattern: ^Finding \\d+: (flags m)',
    ],
    ['length', rule({ test: 'length', min: 2, max: 3 }), '😀😀😀', 'x', 'Length: ≥2 chars, ≤3 chars (they have 1)'],
    [
      'schema',
      rule({
        test: 'schema',
        shape: { type: 'object', open: true, fields: [{ name: 'a', required: true, shape: { type: 'number' } }] },
      }),
      '```json\n{"a":1}\n```',
      '{"a":"x"}',
      'Notes must be JSON of the declared schema (/a must be a number)',
    ],
    [
      'a message of its own',
      rule({ test: 'contains', value: 'x', message: 'Name the file' }),
      'x',
      '',
      'Name the file',
    ],
    [
      'any',
      { kind: 'any', of: [contains('x'), contains('y')] },
      'y',
      'z',
      "One of these must hold: Must contain 'x'; Must contain 'y'",
    ],
    ['not', { kind: 'not', of: contains('TODO') }, 'done', 'TODO', "Must not hold: Must contain 'TODO'"],
    ['a condition', rule({ test: 'contains', value: 'x', conditionId: 'big' }), 'x', '', "Must contain 'x'"],
  ])('[W137] are asked by %s', (_, validation, pass, fail, said) => {
    expect(judged(validation, pass, { big: true })).toEqual([]);
    expect(judged(validation, fail, { big: true })).toEqual([said]);
  });

  it('[W137] are not asked by a rule whose condition does not hold; of a list, all failures are told', () => {
    expect(judged(rule({ test: 'contains', value: 'x', conditionId: 'big' }), '')).toEqual([]);
    expect(judged({ kind: 'all', of: [contains('a'), contains('b'), contains('c')] }, 'b')).toEqual([
      "Must contain 'a'",
      "Must contain 'c'",
    ]);
  });

  it('[W137] that a rule cannot be asked of are told so, and not passed', () => {
    const broken = rule({ test: 'regex', pattern: '(a)\\1', flags: '' });
    const compiled = ofStep({ validation: broken });
    expect(told(judge(compiled, { notes: 'aa' }))).toEqual([
      'INVARIANT_VIOLATION: The validation of step a cannot be asked: the pattern (a)\\1 cannot be asked: references back to a group are not supported.',
    ]);
    expect(judge(ofStep({ validation: { kind: 'not', of: broken } }), { notes: 'aa' }).kind).toBe('blocked');
    expect(judge(ofStep({ validation: { kind: 'any', of: [broken, contains('a')] } }), { notes: 'aa' }).kind).toBe(
      'accepted',
    );
  });

  it('[W150] are matched by a hostile pattern in bounded time, as is a context of 300 kB', () => {
    const hostile = rule({ test: 'regex', pattern: '^(\\w+\\s?)*$', flags: '' });
    expect(judged(hostile, `${'a'.repeat(200_000)}!`)).toHaveLength(1);
    const compiled = withPacks([
      step('a'),
      loop('l', 'for', 10_000, { by: 'count', count: 10_000 }, [
        step('b', {}, { kind: 'compare', key: 'text', operator: 'matches', value: '(x+x+)+y' }),
      ]),
    ]);
    const now = situation({ context: { text: 'x'.repeat(300_000) } });
    const next = interpret(compiled, { kind: 'init' }, { kind: 'started' }, now);
    expect(next).toMatchObject({ ok: true, value: { kind: 'advanced' } });
    if (!next.ok || next.value.kind !== 'advanced') return;
    const done = { kind: 'step_completed', key: 'a' as never, artifacts: [] } as const;
    expect(interpret(compiled, next.value.state, done, now)).toMatchObject({ ok: true, value: { kind: 'blocked' } });
    const on = interpret(compiled, next.value.state, done, { ...now, autonomy: 'full_auto_never_stop' });
    expect(on).toMatchObject({ ok: true, value: { kind: 'advanced' } });
  });
});

describe('assessments', () => {
  const levels = (dimensions: Json, assessmentId?: string) => ({
    kind: 'wr.assessment',
    dimensions,
    ...(assessmentId !== undefined && { assessmentId }),
  });
  const assessment = (assessmentId: string) => ({
    assessmentId,
    purpose: 'How sure',
    dimensions: [
      { dimensionId: 'evidence', purpose: '', levels: ['Low', 'High'], required: true },
      { dimensionId: 'scope', purpose: '', levels: ['Small', 'Large'], required: false },
    ],
  });
  const assessments = [assessment('design'), assessment('risk')];
  const one = ofStep({ assessmentRefs: ['design'] }, { assessments });
  const two = ofStep({ assessmentRefs: ['design', 'risk'] }, { assessments });

  it('[W138] are accepted whatever the case of their levels, short or with a rationale', () => {
    expect(judge(one, { artifacts: [levels({ evidence: 'HIGH' })] }).kind).toBe('accepted');
    expect(
      judge(one, { artifacts: [levels({ evidence: { level: 'low', rationale: 'x' }, scope: 'large' }, 'design')] })
        .kind,
    ).toBe('accepted');
    expect(
      judge(two, { artifacts: [levels({ evidence: 'low' }, 'risk'), levels({ evidence: 'low' }, 'design')] }).kind,
    ).toBe('accepted');
  });

  it('[W138] are told what they lack', () => {
    const lacks = (compiled: CompiledWorkflowSnapshotV1, ...artifacts: Json[]) =>
      told(judge(compiled, { artifacts })).map(text => text.replace(/^.*does not fit: /, ''));
    expect(lacks(one)).toEqual(['MISSING_REQUIRED_OUTPUT: Step a needs the assessment design, and none was given.']);
    expect(lacks(one, levels({ scope: 'huge', x: 'y' }))).toEqual([
      'dimension evidence of design is missing.',
      'dimension scope of design must be Small or Large.',
      'design has no dimension x.',
    ]);
    expect(lacks(one, levels({ evidence: 'low' }, 'risk'))).toEqual([
      '/assessmentId must be one of design.',
      'MISSING_REQUIRED_OUTPUT: Step a needs the assessment design, and none was given.',
    ]);
    expect(lacks(two, levels({ evidence: 'low' }))).toHaveLength(3);
    expect(lacks(one, levels(3))).toEqual(['/dimensions must be an object.']);
  });

  it('[W204] are told their own dimensions and levels, whatever is wrong', () => {
    const fixes = (...artifacts: Json[]) => {
      const judged = judge(one, { artifacts });
      return judged.kind === 'blocked' ? judged.report.blockers.map(({ suggestedFix }) => suggestedFix) : [];
    };
    const own = '"dimensions":{"evidence":"<Low | High>","scope":"<Small | Large>"}';
    for (const artifacts of [[], [levels(3)], [levels({ scope: 'huge' })], [levels({ evidence: 'low' }, 'risk')]]) {
      expect(fixes(...artifacts).length).toBeGreaterThan(0);
      for (const fix of fixes(...artifacts)) expect(fix).toContain(own);
    }
  });

  it('[W139] whose level asks for more work block with the guidance until a later attempt clears it', () => {
    const effect = { kind: 'require_followup', guidance: 'Reproduce it twice.' } as const;
    const compiled = ofStep(
      {
        assessmentRefs: ['design', 'risk'],
        assessmentConsequences: [{ anyEqualsLevel: 'low', forAssessment: 'risk', effect }],
      },
      { assessments },
    );
    const attempt = (design: string, risk: string) =>
      judge(compiled, { artifacts: [levels({ evidence: design }, 'design'), levels({ evidence: risk }, 'risk')] });
    expect(attempt('low', 'Low')).toMatchObject({
      kind: 'blocked',
      report: {
        blockers: [
          {
            code: 'INVALID_REQUIRED_OUTPUT',
            pointer: { kind: 'workflow_step', stepId: 'a' },
            suggestedFix: 'Reproduce it twice.',
          },
        ],
      },
    });
    expect(attempt('low', 'high').kind).toBe('accepted');
  });
});

describe('capabilities', () => {
  const capabilities = { required: ['web_browsing'], preferred: ['delegation'], disabled: [] } as const;
  const probe = step('probe', {
    kind: 'capability_probe',
    probe: { capability: 'web_browsing', templateId: 'wr.templates.capability_probe' },
    output: { contractRef: 'wr.contracts.capability_observation', required: true },
  });
  const observation = (result: string) => ({
    kind: 'wr.capability_observation',
    capability: 'web_browsing',
    result,
    evidence: 'Fetched the index page.',
  });

  it('[W140] that are required are known by a probe; its result is strong', () => {
    const compiled = withPacks([probe, step('b')], { capabilities });
    expect(judge(compiled, { artifacts: [observation('success')] })).toMatchObject({
      kind: 'accepted',
      observed: {
        capability: 'web_browsing',
        status: 'available',
        provenance: {
          kind: 'probe_step',
          enforcementGrade: 'strong',
          detail: { probeStepId: 'probe', result: 'success' },
        },
      },
    });
    expect(told(judge(compiled))).toEqual([expect.stringContaining('MISSING_REQUIRED_OUTPUT')]);
    expect(told(judge(compiled, { artifacts: [observation('failure')] }))).toEqual([
      'REQUIRED_CAPABILITY_UNAVAILABLE: Step probe needs web_browsing, and using it failed.',
    ]);
  });

  it('[W140] that are required block where nothing shows them, but not before their probe', () => {
    const compiled = withPacks([step('b')], { capabilities });
    expect(told(judge(compiled))).toEqual([
      'REQUIRED_CAPABILITY_UNKNOWN: Step b needs web_browsing, and nothing has shown that it is there.',
    ]);
    expect(judge(compiled, { capabilities: { web_browsing: 'available' } }).kind).toBe('accepted');
    expect(judge(withPacks([step('early'), probe], { capabilities })).kind).toBe('accepted');
  });

  it('[W140] that are preferred are only warned of', () => {
    const compiled = withPacks([step('b')], { capabilities: { ...capabilities, required: [] } });
    expect(judge(compiled, { capabilities: { delegation: 'unavailable' } })).toMatchObject({
      kind: 'accepted',
      warnings: [{ code: 'preferred_capability_missing' }],
    });
  });
});

const APPROVAL = 'Step a needs the approval of a person before it can be passed.';

describe('what only the person can give', () => {
  it('[W141] waits for the person, each reason by its name, until it is answered', () => {
    for (const reason of userOnlyDependencyReason.options) {
      const need = { reason, summary: 'the key of the store', choice: 'scope_boundary' } as const;
      const asked = { needs: [need] } as const;
      const marked = ofStep({ nonAssumableChoices: ['scope_boundary'] });
      expect(judge(marked, asked)).toMatchObject({
        kind: 'blocked',
        report: { blockers: [{ code: 'USER_ONLY_DEPENDENCY' }] },
        gaps: [{ reason: { category: 'user_only_dependency', detail: reason } }],
      });
      const { gaps } = judge(marked, asked) as { readonly gaps: readonly { readonly summary: string }[] };
      const answers = [{ reason, asked: gaps[0]?.summary ?? '', answer: 'answered' }] as const;
      expect(judge(marked, { ...asked, answers }).kind).toBe('accepted');
      const other = { needs: [{ ...need, summary: 'the key of the other store' }] } as const;
      expect(judge(marked, { ...other, answers }).kind).toBe('blocked');
    }
  });

  it('[W141] is no choice that the workflow does not mark: the agent makes it and says so', () => {
    const needs = [{ reason: 'needs_user_choice', summary: 'tabs or spaces', choice: 'preference_tradeoff' }] as const;
    expect(judge(ofStep({ nonAssumableChoices: ['irreversible_action'] }), { needs })).toMatchObject({
      kind: 'accepted',
      warnings: [{ code: 'choice_is_assumable', message: expect.stringContaining('tabs or spaces') }],
    });
  });

  it('[W142] is the approval of a step that asks for it: before it, no attempt passes', () => {
    const compiled = ofStep({ confirmation: { kind: 'required', approval: 'human_approval' } });
    const state = pendingState(compiled);
    expect(nextIntentOf(compiled, state, {}, 'guided')).toBe('await_user_confirmation');
    expect(nextIntentOf(compiled, state, {}, 'full_auto_stop_on_user_deps')).toBe('await_user_confirmation');
    expect(nextIntentOf(compiled, state, {}, 'full_auto_never_stop')).toBe('perform_pending_then_continue');
    expect(told(judge(compiled))).toEqual([
      'USER_ONLY_DEPENDENCY: Step a needs the approval of a person before it can be passed.',
    ]);
    const answered = (answer: 'approved' | 'denied') =>
      judge(compiled, { answers: [{ reason: 'needs_user_approval', asked: APPROVAL, answer }] });
    expect(answered('approved').kind).toBe('accepted');
    expect(told(answered('denied'))).toEqual(['USER_ONLY_DEPENDENCY: The person did not approve step a.']);
    const asked = 'Step a waits for the person: May I rename a file?';
    const another = judge(compiled, { answers: [{ reason: 'needs_user_approval', asked, answer: 'approved' }] });
    expect(told(another)).toEqual([`USER_ONLY_DEPENDENCY: ${APPROVAL}`]);
  });

  it('[W142] is a confirmation in guided mode, when its condition holds or cannot be told', () => {
    const conditions = [
      {
        conditionId: 'big',
        kind: 'expression',
        expression: { kind: 'compare', key: 'size', operator: 'gt', value: 3 },
      },
    ] as const;
    const compiled = ofStep(
      { confirmation: { kind: 'required', approval: 'user', conditionId: 'big' } },
      { conditions },
    );
    const state = pendingState(compiled);
    expect(nextIntentOf(compiled, state, { size: 4 }, 'guided')).toBe('await_user_confirmation');
    expect(nextIntentOf(compiled, state, {}, 'guided')).toBe('await_user_confirmation');
    expect(nextIntentOf(compiled, state, { size: 1 }, 'guided')).toBe('perform_pending_then_continue');
    expect(nextIntentOf(compiled, state, { size: 4 }, 'full_auto_stop_on_user_deps')).toBe(
      'perform_pending_then_continue',
    );
    expect(nextIntentOf(compiled, { kind: 'complete' }, {}, 'guided')).toBe('complete');
    expect(nextIntentOf(compiled, { kind: 'init' }, {}, 'guided')).toBe('rehydrate_only');
    expect(told(judge(compiled, { context: { size: 4 } }))).toEqual([`USER_ONLY_DEPENDENCY: ${APPROVAL}`]);
    const approved = [{ reason: 'needs_user_approval', asked: APPROVAL, answer: 'approved' }] as const;
    expect(judge(compiled, { context: { size: 4 }, answers: approved }).kind).toBe('accepted');
    expect(judge(compiled, { context: { size: 1 } }).kind).toBe('accepted');
    const auto = { autonomy: 'full_auto_stop_on_user_deps', riskPolicy: 'balanced' } as const;
    expect(judge(compiled, { context: { size: 4 }, preferences: auto }).kind).toBe('accepted');
    expect(judge(compiled, { context: { size: 4 }, ...never }).kind).toBe('accepted');
  });

  it('[W176] stays a question until the person answers, though a later attempt does not ask it', () => {
    for (const reason of userOnlyDependencyReason.options) {
      const asked = 'Step a waits for the person: May I?';
      const open = [{ reason, asked }];
      expect(told(judge(ofStep({}), { open }))).toEqual([`USER_ONLY_DEPENDENCY: ${asked}`]);
      expect(judge(ofStep({}), { open })).toMatchObject({ gaps: [] });
      expect(judge(ofStep({}), { open, answers: [{ reason, asked, answer: 'answered' }] }).kind).toBe('accepted');
      expect(judge(ofStep({}), { open, ...never })).toMatchObject({ kind: 'accepted', gaps: [] });
    }
  });
});

describe('the one model of reasons', () => {
  const faulty = faultReason({ code: 'wrong_place', id: 'l@0::b', reason: 'b is not where the snapshot has it' });
  const judgements = (more: Trying): readonly Judgement[] => {
    const capabilities = { required: ['delegation', 'web_browsing'], preferred: [], disabled: [] } as const;
    const broken: ValidationExpression = { kind: 'rule', test: 'regex', pattern: '(', flags: '', message: '' };
    return [
      ...userOnlyDependencyReason.options.map(reason =>
        judge(ofStep({ nonAssumableChoices: ['scope_boundary'] }), {
          needs: [{ reason, summary: 'x', choice: 'scope_boundary' }],
          ...more,
        }),
      ),
      judge(ofStep({ notesRequired: true }), more),
      judge(ofStep({ validation: { kind: 'rule', test: 'contains', value: 'x', message: '' } }), more),
      judge(ofStep({}, { capabilities }), { capabilities: { delegation: 'unavailable' }, ...more }),
      judge(ofStep({ validation: broken }), more),
    ];
  };

  it('[W143] makes every blocker code in modes that stop, and of the same reasons every gap in the one that does not', () => {
    const blocked = judgements({});
    const codes = blocked.flatMap(judged =>
      judged.kind === 'blocked' ? judged.report.blockers.map(({ code }) => code) : [],
    );
    const corrupt = blockerReportOf([faulty]).blockers.map(({ code }) => code);
    expect(new Set([...codes, ...corrupt])).toEqual(new Set(blockerCode.options));
    const accepted = judgements(never);
    expect(accepted.map(({ kind }) => kind)).toEqual(accepted.map(() => 'accepted'));
    const gaps = accepted.flatMap(judged => judged.gaps);
    expect(gaps).toEqual(blocked.flatMap(judged => judged.gaps));
    const found = new Set<ReasonCode>([...gaps, ...gapsOf([faulty])].map(({ reason }) => reasonCodeOf(reason)));
    expect(found).toEqual(new Set(reasonCodes));
  });

  it('[W144] gives at most ten blockers, in order, within their budgets, and counts the rest', () => {
    const reason = (stepId: string): Reason => ({
      reason: { category: 'contract_violation', detail: 'invalid_required_output' },
      pointer: { kind: 'workflow_step', stepId },
      message: '😀'.repeat(400),
      suggestedFix: 'é'.repeat(2000),
    });
    const many = Array.from({ length: 14 }, (_, at) => reason(`s${String(at).padStart(2, '0')}`)).reverse();
    const report = blockerReportOf([faulty, ...many]);
    expect(blockerReport.parse(report)).toEqual(report);
    expect(report.blockers.map(({ pointer }) => pointer.kind === 'workflow_step' && pointer.stepId)).toEqual(
      Array.from({ length: 10 }, (_, at) => `s0${at}`),
    );
    expect(report.blockers.at(-1)?.message).toMatch(/^\[and 5 more\]/);
    expect(report.blockers[0]?.message).toMatch(/\[TRUNCATED\]$/);
    expect(report).toEqual(blockerReportOf([many.at(-1) ?? faulty, ...many.slice(0, -1).reverse(), faulty]));
  });

  it('[W145] warns when preferences go further than recommended, and blocks nothing', () => {
    const compiled = ofStep({}, { recommendations: { autonomy: 'guided', riskPolicy: 'balanced' } });
    expect(
      judge(compiled, { preferences: { autonomy: 'full_auto_stop_on_user_deps', riskPolicy: 'aggressive' } }),
    ).toMatchObject({
      kind: 'accepted',
      warnings: [{ code: 'recommendation_exceeded' }, { code: 'recommendation_exceeded' }],
    });
    expect(recommendationWarnings(compiled, modePresets.guided)).toEqual([]);
  });
});
