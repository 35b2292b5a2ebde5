import { describe, expect, it } from 'vitest';
import { limits } from '../../src/compile/limits.ts';
import { shapeFaults } from '../../src/compile/shape-check.ts';
import { atPointer } from '../../src/compile/source-copy.ts';
import type { ValidationExpression } from '../../src/compile/validation.ts';
import { validateNotes } from '../../src/interpret/notes-validation.ts';
import { judgeOutput } from '../../src/interpret/output-judgement.ts';
import { PATTERN_MAX_STEPS, testPattern } from '../../src/interpret/pattern-match.ts';
import { indexWorkflow } from '../../src/interpret/workflow-index.ts';
import { renderPrompt } from '../../src/prompts/prompt.ts';
import { modePresets } from '../../src/session/preferences.ts';
import { compile, type Setting, snapshotOf, stepOf, workflowOf } from '../compile/sources.ts';

/** The result of compiling a source: the codes of its problems, each once. */
function codesOf(source: unknown, setting: Setting = {}): readonly string[] {
  const compiled = compile(source, setting);
  const problems = compiled.ok ? compiled.value.warnings : compiled.error.problems;
  for (const { path, suggestion } of problems) {
    expect(suggestion).not.toBe('');
    expect(atPointer(source, path).found).toBe(true);
  }
  return [...new Set(problems.map(({ code }) => code))].sort();
}

const many = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));
const called = (id: string, more = {}) => ({
  id,
  title: id,
  templateCall: { templateId: 'wr.templates.routine.r', ...more },
});
const routineOf = (steps: readonly unknown[], more = {}) => workflowOf(steps, { id: 'wr.routine-r', ...more });
const assessmentOf = (id: string, levels: readonly string[]) => ({
  id,
  purpose: 'p',
  dimensions: [{ id: 'd', purpose: 'p', levels }],
});
const consequence = { when: { anyEqualsLevel: 'none' }, effect: { kind: 'require_followup', guidance: 'g' } };
const withBlocks = (promptBlocks: unknown) => ({ id: 'a', title: 'a', promptBlocks });

/** Each of these took time in proportion to the product of two of its parts, or takes it in a naive compiler. */
const files: readonly (readonly [string, unknown, readonly string[], Setting?])[] = [
  [
    'thousands of consequences of an assessment with tens of thousands of levels',
    workflowOf([stepOf('a', { assessmentRefs: ['a'], assessmentConsequences: many(6_000, () => consequence) })], {
      assessments: [
        assessmentOf(
          'a',
          many(50_000, n => `l${n}`),
        ),
      ],
    }),
    ['assessment_level', 'too_many_problems'],
  ],
  [
    'thousands of consequences of thousands of assessments',
    workflowOf(
      [
        stepOf('a', {
          assessmentRefs: many(3_000, n => `a${n}`),
          assessmentConsequences: many(6_000, () => consequence),
        }),
      ],
      { assessments: many(3_000, n => assessmentOf(`a${n}`, ['some'])) },
    ),
    ['assessment_level', 'too_many_problems'],
  ],
  [
    'hundreds of calls of a routine with tens of thousands of values',
    workflowOf(many(450, n => called(`c${n}`))),
    ['function_unknown', 'too_large'],
    { routines: [routineOf([stepOf('x', { functionCalls: [{ name: 'f', args: { all: many(90_000, () => 1) } }] })])] },
  ],
  [
    'hundreds of steps in a template with tens of thousands of functions',
    workflowOf([called('c')]),
    [],
    {
      routines: [
        routineOf(
          many(900, n => stepOf(`x${n}`)),
          { functionDefinitions: many(25_000, n => ({ name: `f${n}`, definition: '' })) },
        ),
      ],
    },
  ],
  ['tens of thousands of wrong texts', workflowOf([withBlocks({ constraints: many(60_000, () => 1) })]), wrong()],
  [
    'tens of thousands of wrong steps in bodies of loops',
    workflowOf(
      many(300, n => ({
        id: `l${n}`,
        type: 'loop',
        title: 'L',
        loop: { type: 'for', count: 1, maxIterations: 1 },
        body: many(100, () => ({ id: 5, title: 6 })),
      })),
    ),
    wrong(),
  ],
  [
    'tens of thousands of slips of a ref',
    workflowOf([withBlocks({ goal: many(25_000, () => ({ kind: 'ref', refId: 'wr.refs.evidence_frist' })) })]),
    ['ref_unknown', 'too_many_problems'],
  ],
  [
    'tens of thousands of slips of a feature',
    workflowOf([stepOf('a')], { features: many(50_000, n => `wr.features.subagent_guidence${n % 9}`) }),
    ['feature_unknown', 'too_many_problems'],
  ],
  [
    'a condition as deep as it goes, in every step',
    workflowOf(many(500, n => stepOf(`s${n}`, { runCondition: nested(30), requireConfirmation: nested(30) }))),
    [],
  ],
];

function wrong(): readonly string[] {
  return ['invalid_value', 'too_many_problems'];
}

function nested(depth: number): unknown {
  return depth === 0 ? { var: 'x' } : { not: nested(depth - 1) };
}

describe('[W36] a hostile file is refused or compiled in bounded time', () => {
  for (const [name, source, codes, setting] of files) {
    it(name, () => expect(codesOf(source, setting)).toEqual(codes));
  }

  it('nested without end', () => {
    const source: unknown = JSON.parse(`{"id":"a.b","steps":${'['.repeat(200_000)}${']'.repeat(200_000)}}`);
    const compiled = compile(source);
    expect(compiled.ok ? [] : compiled.error.problems.map(each => [each.code, each.path])).toEqual([['not_json', '']]);
  });

  it('whose templates lead back to themselves, directly, in a ring, or through a loop', () => {
    const call = (name: string) => ({
      id: 'on',
      title: 'on',
      templateCall: { templateId: `wr.templates.routine.${name}` },
    });
    const named = (name: string, steps: readonly unknown[]) => workflowOf(steps, { id: `wr.routine-${name}` });
    const loop = { type: 'for', count: 1, maxIterations: 1 };
    const routines = [
      named('self', [call('self')]),
      named('a', [call('b')]),
      named('b', [call('c')]),
      named('c', [call('a')]),
      named('turning', [{ id: 'l', type: 'loop', title: 'l', loop, body: [call('turning')] }]),
    ];
    for (const name of ['self', 'a', 'turning']) {
      const compiled = compile(workflowOf([call(name)]), { routines });
      const problems = compiled.ok ? [] : compiled.error.problems;
      expect(problems.filter(({ code }) => code === 'template_cycle')).toMatchObject([
        {
          path: '/steps/0/templateCall',
          message: expect.stringContaining(`wr.templates.routine.${name} → `),
          suggestion: 'Take one of these calls out.',
        },
      ]);
    }
  });

  it('with __proto__ at every place that takes an object', () => {
    const objects = ['assessments/0', 'extensionPoints/0', 'references/0', 'recommendedPreferences', 'steps/0/audit'];
    const members = ['steps/0', 'steps/0/runCondition', 'steps/0/promptBlocks', 'steps/0/promptBlocks/outputRequired'];
    for (const pointer of [...objects, ...members]) {
      const source: unknown = JSON.parse(
        JSON.stringify(
          workflowOf([{ ...withBlocks({ outputRequired: {} }), audit: {}, runCondition: { var: 'x' } }], {
            assessments: [assessmentOf('a', ['x'])],
            extensionPoints: [{ slotId: 's' }],
            references: [{ id: 'r', source: 's' }],
            recommendedPreferences: {},
          }),
        ),
      );
      const target = atPointer(source, `/${pointer}`).value as object;
      Object.defineProperty(target, '__proto__', { value: { polluted: 1 }, enumerable: true });
      const compiled = compile(source);
      expect(compiled.ok && compiled.value.warnings.map(each => [each.code, each.path])).toEqual([
        ['unknown_field', `/${pointer}/__proto__`],
      ]);
      expect(JSON.stringify(compiled.ok && compiled.value.snapshot)).not.toContain('polluted');
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('whose wrong values are more than are looked at says so, and compiles nothing', () => {
    const compiled = compile(workflowOf(many(limits.wrongValues + 1, () => 7)));
    expect(compiled.ok ? [] : compiled.error.problems.length).toBe(limits.problems + 1);
    const fewer = compile(workflowOf([...many(limits.problems - 1, () => 7), stepOf('a', { runCondition: {} })]));
    expect(fewer.ok ? [] : fewer.error.problems.at(-1)?.code).toBe('invalid_value');
    expect(fewer.ok ? [] : fewer.error.problems.map(({ code }) => code)).toContain('condition_invalid');
  });
});

describe('[W150] a pattern that backtracks for ever elsewhere', () => {
  const backtracking: readonly (readonly [string, string, string])[] = [
    ['(a+)+$', `${'a'.repeat(50_000)}b`, 'false'],
    ['(x+x+)+y', 'x'.repeat(50_000), 'false'],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(50_000), 'false'],
    ['(?:(?:a?){30}){30}a{30}', 'a'.repeat(2_000), 'true'],
    ['(?:(?!a{4000})){4000}b', 'zzb', 'too_costly'],
    ['(?:(?!(?:(?!a{300})){300}b)){300}c', 'zzc', 'true'],
    ['(?:(?!(?:(?!a{2000})){2000}b)){2000}c', 'zzc', 'too_costly'],
  ];

  it.each(backtracking)('%s ends, with an answer or a name for why not', (source, text, expected) => {
    const matched = testPattern({ source }, text);
    expect(String(matched.ok ? matched.value : matched.error.code)).toBe(expected);
  });

  it('costs what is left of the effort, also to read', () => {
    const effort = { steps: 50_000 };
    const asked = many(200, () => testPattern({ source: 'a'.repeat(500) }, 'b', effort));
    expect(asked.at(0)?.ok).toBe(true);
    expect(asked.at(-1)).toMatchObject({ error: { code: 'too_costly' } });
  });
});

const pendingA = {
  kind: 'running',
  completed: { kind: 'set', values: [] },
  loopStack: [],
  pending: { kind: 'some', step: { stepId: 'a', loopPath: [] } },
} as const;

const consequenceOf = (anyEqualsLevel: string) => ({ ...consequence, when: { anyEqualsLevel } });

describe('[W36] hostile notes and contexts', () => {
  it('that nest without end are told so by the rule that reads them, and nothing throws', () => {
    const schema = { type: 'one_of', values: [1] } as const;
    const deep: unknown = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    expect(shapeFaults(schema, deep)).toEqual([{ path: '', reason: 'must be 1' }]);
  });

  it('are read by so many rules, and no more', () => {
    const notes = `[${'1,'.repeat(40_000)}1]`;
    const rules: readonly (readonly [ValidationExpression, number, boolean])[] = [
      [{ kind: 'rule', test: 'length', min: 1, message: '' }, 50, true],
      [{ kind: 'rule', test: 'length', min: 1, message: '' }, 20_000, false],
      [{ kind: 'rule', test: 'contains', value: '1', message: '' }, 1_000, true],
      [{ kind: 'rule', test: 'schema', shape: { type: 'list', of: { type: 'any' } }, message: '' }, 5, true],
      [{ kind: 'rule', test: 'schema', shape: { type: 'list', of: { type: 'any' } }, message: '' }, 8_000, false],
    ];
    const index = indexWorkflow(snapshotOf(workflowOf([stepOf('a')])));
    for (const [rule, count, holds] of rules) {
      const all = { kind: 'all', of: many(count, () => rule) } as const;
      const asked = { index, context: [{}], effort: { steps: PATTERN_MAX_STEPS } };
      const { failures, faults } = validateNotes(all, notes, asked);
      expect([failures, faults.length > 0, faults[0] ?? 'all rules together take too long']).toEqual([
        [],
        !holds,
        'all rules together take too long',
      ]);
    }
  });

  it('with tens of thousands of dimensions are judged one by one', () => {
    const ids = many(20_000, n => `d${n}`);
    const assessment = {
      id: 'a',
      purpose: 'p',
      dimensions: [{ id: 'd0', purpose: 'p', levels: ['low', 'high'] }],
    };
    const source = workflowOf(
      [stepOf('a', { assessmentRefs: ['a'], assessmentConsequences: many(6_000, () => consequenceOf('high')) })],
      { assessments: [assessment] },
    );
    const given = { kind: 'wr.assessment', dimensions: Object.fromEntries(ids.map(id => [id, 'low'])) };
    const judged = judgeOutput(snapshotOf(source), structuredClone(pendingA) as never, {
      output: { notes: 'Done.', artifacts: [given] },
      context: {},
      preferences: modePresets.guided,
    });
    expect(judged.ok && judged.value.kind).toBe('blocked');
  });

  it('are matched by the conditions of all rules together, when a prompt is shown, and no longer', () => {
    const validationCriteria = many(2_000, n => ({
      type: 'contains',
      value: `x${n}`,
      message: '',
      condition: { var: 'text', matches: `(a|b|ab)*c{${n % 50}}$` },
    }));
    const compiled = compile(workflowOf([stepOf('a', { validationCriteria })]));
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.error));
    const context = { text: 'ab'.repeat(20_000) };
    const shown = renderPrompt(compiled.value.snapshot, structuredClone(pendingA) as never, context);
    expect(shown.ok && shown.value.prompt).toMatch(/\(\d+ more are checked\)/);
  });
});
