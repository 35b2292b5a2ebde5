import { describe, expect, it } from 'vitest';
import { contractPacks, shapeFaults } from '../../src/index.ts';
import { byArtifact, decides, loopOf, problemsOf, snapshotOf, stepOf, workflowOf } from './sources.ts';

describe('[W15] a function', () => {
  it('is the one of the nearest scope, and those of a step come nearest first', () => {
    const fn = (name: string, definition: string) => ({ name, definition });
    const source = workflowOf(
      [
        loopOf(
          'l',
          byArtifact,
          [
            stepOf('s', {
              ...decides,
              functionDefinitions: [fn('c', 'of the step')],
              functionReferences: ['a()', 'b()', 'c()', 'd()'],
              functionCalls: [{ name: 'b', args: { x: 1 } }],
            }),
          ],
          { functionDefinitions: [fn('b', 'of the loop'), fn('c', 'of the loop')] },
        ),
      ],
      { functionDefinitions: [fn('b', 'of all'), fn('a', 'of all')] },
    );
    const { steps, functions } = snapshotOf(source);
    expect(steps[0]?.functions).toEqual([
      { scope: 'step', owner: 's', name: 'c' },
      { scope: 'loop', owner: 'l', name: 'b' },
      { scope: 'workflow', name: 'a' },
    ]);
    expect(functions.map(({ scope, name }) => `${scope} ${name}`)).toEqual([
      'workflow a',
      'workflow b',
      'loop b',
      'loop c',
      'step c',
    ]);
    expect(problemsOf(source)).toEqual([['function_unknown', '/steps/0/body/0/functionReferences/3']]);
  });
});

describe('[W18] a condition', () => {
  it('becomes a typed expression; several operators on one key must all hold', () => {
    const runCondition = {
      or: [
        { var: 'a' },
        { not: { var: 'b', matches: '^x+$' } },
        {
          and: [
            { var: 'c', gte: 1, lt: 5 },
            { var: 'd', in: [1, null] },
          ],
        },
      ],
    };
    expect(snapshotOf(workflowOf([stepOf('s', { runCondition })])).conditions).toEqual([
      {
        conditionId: 'run_s',
        kind: 'expression',
        expression: {
          kind: 'or',
          of: [
            { kind: 'compare', key: 'a', operator: 'truthy' },
            { kind: 'not', of: { kind: 'compare', key: 'b', operator: 'matches', value: '^x+$' } },
            {
              kind: 'and',
              of: [
                {
                  kind: 'and',
                  of: [
                    { kind: 'compare', key: 'c', operator: 'gte', value: 1 },
                    { kind: 'compare', key: 'c', operator: 'lt', value: 5 },
                  ],
                },
                { kind: 'compare', key: 'd', operator: 'in', value: [1, null] },
              ],
            },
          ],
        },
      },
    ]);
  });

  it('that says nothing, or two things, is a problem', () => {
    const bad = [{}, { var: 'a', not: { var: 'b' } }, { and: [] }, { equals: 1 }, { var: 'a', gt: 'x' }];
    expect(problemsOf(workflowOf(bad.map((runCondition, n) => stepOf(`s${n}`, { runCondition }))))).toEqual([
      ['condition_invalid', '/steps/0/runCondition'],
      ['condition_invalid', '/steps/1/runCondition'],
      ['condition_invalid', '/steps/2/runCondition/and'],
      ['condition_invalid', '/steps/3/runCondition'],
      ['condition_invalid', '/steps/3/runCondition/equals'],
      ['invalid_value', '/steps/4/runCondition/gt'],
    ]);
  });
});

describe('[W19] validation criteria', () => {
  it('become one expression of rules', () => {
    const validationCriteria = [
      { type: 'contains', value: 'Finding' },
      {
        or: [{ type: 'regex', pattern: 'a.c', flags: 'i', message: 'm' }, { not: { type: 'length', min: 2, max: 4 } }],
      },
      { type: 'length', min: 10, condition: { var: 'deep' }, message: 'more' },
    ];
    const { steps, conditions } = snapshotOf(workflowOf([stepOf('s', { validationCriteria })]));
    expect(steps[0]?.validation).toEqual({
      kind: 'all',
      of: [
        { kind: 'rule', test: 'contains', value: 'Finding', message: 'Must contain "Finding"' },
        {
          kind: 'any',
          of: [
            { kind: 'rule', test: 'regex', pattern: 'a.c', flags: 'i', message: 'm' },
            {
              kind: 'not',
              of: {
                kind: 'rule',
                test: 'length',
                min: 2,
                max: 4,
                message: 'Must have at least 2 and at most 4 characters',
              },
            },
          ],
        },
        { kind: 'rule', test: 'length', min: 10, message: 'more', conditionId: 'rule_0_s' },
      ],
    });
    expect(conditions.map(each => each.conditionId)).toEqual(['rule_0_s']);
  });

  it('with patterns that cannot be matched in bounded time, or incomplete rules, are problems', () => {
    const rules = [
      { type: 'regex', pattern: '(' },
      { type: 'regex', pattern: '(a)\\1' },
      { type: 'regex' },
      { type: 'length' },
      { type: 'contains' },
      { type: 'length', min: 5, max: 2 },
      {},
      { type: 'regex', pattern: '(a+)+$' },
    ];
    expect(problemsOf(workflowOf([stepOf('s', { validationCriteria: rules })]))).toEqual([
      ['pattern_invalid', '/steps/0/validationCriteria/0/pattern'],
      ['pattern_unsupported', '/steps/0/validationCriteria/1/pattern'],
      ['validation_invalid', '/steps/0/validationCriteria/2'],
      ['validation_invalid', '/steps/0/validationCriteria/3'],
      ['validation_invalid', '/steps/0/validationCriteria/4'],
      ['validation_invalid', '/steps/0/validationCriteria/5/min'],
      ['validation_invalid', '/steps/0/validationCriteria/6'],
    ]);
  });

  it('that only look for a flag are warned of', () => {
    const flag = (value: string) => workflowOf([stepOf('s', { validationCriteria: { type: 'contains', value } })]);
    expect(problemsOf(flag('analysisComplete = true'))).toEqual([
      ['flag_only_validation', '/steps/0/validationCriteria'],
    ]);
    expect(problemsOf(flag('done'))).toEqual([['flag_only_validation', '/steps/0/validationCriteria']]);
    expect(problemsOf(flag('Finding 1: '))).toEqual([]);
  });

  it('[W207] that are all flags are warned of, however they are written', () => {
    const codes = (...rules: readonly object[]) =>
      problemsOf(workflowOf([stepOf('s', { validationCriteria: rules })])).map(([code]) => code);
    const contains = (value: string) => ({ type: 'contains', value });
    const regex = (pattern: string) => ({ type: 'regex', pattern });
    for (const rules of [
      [contains('done'), contains('reviewed: true')],
      [regex('^\\s*analysisComplete\\s*=\\s*true\\s*$')],
      [{ or: [contains('done'), regex('\\bfinished\\b')] }],
      [{ not: contains('pending') }],
    ]) {
      expect([rules, codes(...rules)]).toEqual([rules, ['flag_only_validation']]);
    }
    for (const rules of [
      [contains('done'), { type: 'length', min: 80 }],
      [regex('Finding \\d+:')],
      [contains('done'), regex('src/\\S+:\\d+')],
    ]) {
      expect([rules, codes(...rules)]).toEqual([rules, []]);
    }
  });

  it('with a schema of their own become a shape, with a warning', () => {
    const schema = {
      type: 'object',
      required: ['a'],
      additionalProperties: false,
      properties: {
        a: { type: ['string', 'null'] },
        b: { type: 'array', items: { enum: [1, 2] }, minItems: 1, uniqueItems: true },
      },
    };
    const source = workflowOf([stepOf('s', { validationCriteria: [{ type: 'schema', schema, message: 'm' }] })]);
    expect(problemsOf(source)).toEqual([['inline_schema', '/steps/0/validationCriteria/0/schema']]);
    const validation = snapshotOf(source).steps[0]?.validation;
    const rule = validation?.kind === 'all' ? validation.of[0] : undefined;
    const shape = rule?.kind === 'rule' && rule.test === 'schema' ? rule.shape : undefined;
    expect(shape && [{ a: null, b: [1] }, { b: [] }, { a: 'x', c: 1 }].map(value => shapeFaults(shape, value))).toEqual(
      [
        [],
        [
          { path: '/a', reason: 'is missing' },
          { path: '/b', reason: 'must have at least 1 items' },
        ],
        [{ path: '/c', reason: 'is not a field' }],
      ],
    );
  });
});

describe('[W21] a contract', () => {
  it.each(contractPacks.map(pack => [pack.contractRef, pack] as const))(
    '%s has an example that keeps it',
    (_, pack) => {
      const { kind, ...artifact } = pack.example as Record<string, unknown>;
      expect(kind).toBe(pack.artifactKind);
      expect(shapeFaults(pack.shape, artifact)).toEqual([]);
      expect(shapeFaults(pack.shape, {}).length).toBeGreaterThan(0);
      expect(pack.guidance.length).toBeGreaterThan(1);
    },
  );

  it('is pinned where it is used, once, sorted; notes are then not wanted', () => {
    const out = (contractRef: string, required?: boolean) => ({ outputContract: { contractRef, required } });
    const { contracts, steps } = snapshotOf(
      workflowOf(
        [
          stepOf('a', out('wr.contracts.review_verdict')),
          stepOf('b', out('wr.contracts.gate_verdict', false)),
          stepOf('c', out('wr.contracts.review_verdict')),
          stepOf('d', { assessmentRefs: ['x'] }),
          stepOf('e', { notesOptional: true }),
        ],
        { assessments: [{ id: 'x', purpose: 'p', dimensions: [{ id: 'd', purpose: 'p', levels: ['low'] }] }] },
      ),
    );
    expect(contracts.map(each => each.contractRef)).toEqual([
      'wr.contracts.assessment',
      'wr.contracts.gate_verdict',
      'wr.contracts.review_verdict',
    ]);
    expect(steps.map(step => [step.output?.required, step.notesRequired])).toEqual([
      [true, false],
      [false, false],
      [true, false],
      [undefined, true],
      [undefined, false],
    ]);
  });

  it('that does not exist is a problem', () => {
    expect(
      problemsOf(workflowOf([stepOf('a', { outputContract: { contractRef: 'wr.contracts.review_verdit' } })])),
    ).toEqual([['contract_unknown', '/steps/0/outputContract/contractRef']]);
  });
});

it('[W22] assessments are resolved, and consequences name levels that exist', () => {
  const assessments = [
    { id: 'x', purpose: 'p', dimensions: [{ id: 'd', purpose: 'p', levels: ['Low', 'High'], required: false }] },
    { id: 'x', purpose: 'q', dimensions: [{ id: 'd', purpose: 'p', levels: ['low'] }] },
  ];
  const effect = { kind: 'require_followup', guidance: 'g' };
  const step = stepOf('s', {
    assessmentRefs: ['x', 'y'],
    assessmentConsequences: [
      { when: { anyEqualsLevel: 'low' }, effect },
      { when: { anyEqualsLevel: 'medium', forAssessment: 'x' }, effect },
      { when: { anyEqualsLevel: 'low', forAssessment: 'z' }, effect },
    ],
  });
  expect(problemsOf(workflowOf([step], { assessments }))).toEqual([
    ['duplicate_id', '/assessments/1/id'],
    ['assessment_level', '/steps/0/assessmentConsequences/1/when/anyEqualsLevel'],
    ['assessment_unknown', '/steps/0/assessmentConsequences/2/when/forAssessment'],
    ['assessment_unknown', '/steps/0/assessmentRefs/1'],
  ]);
});

it('[W23] confirmation is never, always, on a condition, or by a kind of approval', () => {
  const forms = [
    undefined,
    false,
    true,
    { var: 'risky' },
    { kind: 'human_approval' },
    { kind: 'coordinator_eval', condition: { var: 'x' } },
  ];
  const { steps } = snapshotOf(
    workflowOf(
      forms.map((requireConfirmation, n) =>
        stepOf(`s${n}`, requireConfirmation === undefined ? {} : { requireConfirmation }),
      ),
    ),
  );
  expect(steps.map(step => step.confirmation)).toEqual([
    { kind: 'none' },
    { kind: 'none' },
    { kind: 'required', approval: 'user' },
    { kind: 'required', approval: 'user', conditionId: 'confirm_s3' },
    { kind: 'required', approval: 'human_approval' },
    { kind: 'required', approval: 'coordinator_eval', conditionId: 'confirm_s5' },
  ]);
});

describe('[W205] a delegated routine', () => {
  const routine = (more: object = {}) => ({
    ...workflowOf([stepOf('look', { prompt: 'Look at {what}.', ...more })]),
    id: 'project.routine-look',
  });
  const textsOf = (args: object, routines: readonly unknown[]) => {
    const delegation = { workflowId: 'project.routine-look', args };
    const step = { id: 'par', type: 'parallel', title: 'Par', parallelDelegations: [delegation, delegation] };
    return (snapshotOf(workflowOf([step]), { routines }).steps[0]?.fragments ?? [])
      .filter(({ fragmentId }) => fragmentId.startsWith('wr-routine'))
      .map(({ text }) => text);
  };

  it('is in the step once, with the arguments of its call', () => {
    const [text, ...more] = textsOf({ what: 'the log' }, [routine()]);
    expect([text, more]).toEqual([expect.stringContaining('Look at the log.'), []]);
  });

  it('is only named if it is not known or lacks an argument, and ends if it delegates itself', () => {
    expect(textsOf({}, [routine()])).toEqual([]);
    expect(textsOf({ what: 'x' }, [])).toEqual([]);
    const again = { type: 'parallel', parallelDelegations: [{ workflowId: 'project.routine-look' }] };
    expect(textsOf({ what: 'x' }, [routine(again)])).toHaveLength(1);
  });
});

describe('[W20] a loop', () => {
  it('has its control, its variables, and its body in order', () => {
    const source = workflowOf([
      loopOf('outer', byArtifact, [
        stepOf('a'),
        loopOf('inner', { type: 'forEach', items: 'files', itemVar: 'file', maxIterations: 9 }, [stepOf('b')]),
        stepOf('c', decides),
      ]),
      loopOf('count', { type: 'for', count: 3, maxIterations: 3, iterationVar: 'n' }, [stepOf('d')]),
      loopOf('key', { type: 'for', count: 'rounds', maxIterations: 3 }, 'e', { runCondition: { var: 'x' } }),
      stepOf('e'),
    ]);
    const { loops, program, steps, conditions } = snapshotOf(source);
    expect(program).toEqual(['outer', 'count', 'key'].map(loopId => ({ kind: 'loop', loopId })));
    expect(loops.map(({ loopId, control, body, loops: outer }) => [loopId, control, body.length, outer])).toEqual([
      ['count', { kind: 'count', count: 3 }, 1, []],
      ['inner', { kind: 'items_key', key: 'files' }, 1, ['outer']],
      ['key', { kind: 'count_key', key: 'rounds' }, 1, []],
      ['outer', { kind: 'condition_ref', conditionId: 'loop_outer' }, 3, []],
    ]);
    expect(loops.map(each => [each.iterationVar, each.itemVar, each.indexVar])).toEqual([
      ['n', 'currentItem', 'currentIndex'],
      ['currentIteration', 'file', 'currentIndex'],
      ['currentIteration', 'currentItem', 'currentIndex'],
      ['currentIteration', 'currentItem', 'currentIndex'],
    ]);
    expect(steps.map(step => [step.stepId, step.loops])).toEqual([
      ['a', ['outer']],
      ['b', ['outer', 'inner']],
      ['c', ['outer']],
      ['d', ['count']],
      ['e', ['key']],
    ]);
    expect(conditions).toEqual([
      { conditionId: 'loop_outer', kind: 'loop_control', contractRef: 'wr.contracts.loop_control', loopId: 'outer' },
      { conditionId: 'run_key', kind: 'expression', expression: { kind: 'compare', key: 'x', operator: 'truthy' } },
    ]);
  });

  it('that is controlled by the context compiles with a warning, and so does one that nobody decides', () => {
    const condition = { var: 'more' };
    const source = workflowOf([
      loopOf('a', { type: 'while', maxIterations: 2, condition }, [stepOf('s')]),
      loopOf('b', { type: 'until', maxIterations: 2, conditionSource: { kind: 'context_variable', condition } }, [
        stepOf('t'),
      ]),
      loopOf('c', byArtifact, [stepOf('u')]),
    ]);
    expect(problemsOf(source)).toEqual([
      ['context_loop_source', '/steps/0/loop/condition'],
      ['context_loop_source', '/steps/1/loop/conditionSource'],
      ['loop_without_decision', '/steps/2/body'],
    ]);
    expect(snapshotOf(source).compiledWarnings.map(each => each.code)).toEqual([
      'context_loop_source',
      'context_loop_source',
      'loop_without_decision',
    ]);
  });

  it('without control, body or a limit is a problem', () => {
    const source = workflowOf([
      loopOf('a', { type: 'while', maxIterations: 1 }, [stepOf('s')]),
      loopOf('b', { type: 'for', maxIterations: 1 }, []),
      loopOf('c', { type: 'forEach' }, 'nowhere'),
      loopOf('d', { ...byArtifact, conditionSource: { ...byArtifact.conditionSource, loopId: 'other' } }, 'shared'),
      loopOf(
        'e',
        { ...byArtifact, conditionSource: { ...byArtifact.conditionSource, contractRef: 'wr.contracts.gate_verdict' } },
        'shared',
      ),
      stepOf('shared', decides),
      loopOf('f', { type: 'for', count: 1, maxIterations: 1 }, 'f'),
    ]);
    expect(problemsOf(source)).toEqual([
      ['loop_control', '/steps/0/loop'],
      ['loop_body', '/steps/1/body'],
      ['loop_control', '/steps/1/loop'],
      ['loop_body', '/steps/2/body'],
      ['loop_control', '/steps/2/loop'],
      ['missing_field', '/steps/2/loop'],
      ['loop_body', '/steps/4/body'],
      ['loop_without_decision', '/steps/4/body'],
      ['contract_kind', '/steps/4/loop/conditionSource/contractRef'],
      ['loop_body', '/steps/6'],
    ]);
  });

  it('[W200] may be named by its condition; the name that artifacts use is compiled, and one of a loop around it is a warning', () => {
    const named = (loopId: string) => ({ ...byArtifact, conditionSource: { ...byArtifact.conditionSource, loopId } });
    const source = workflowOf([
      loopOf('phase-2-loop', named('Plan.Refinement'), [
        loopOf('inner', named('plan_refinement'), [stepOf('a', decides)]),
        stepOf('b', decides),
      ]),
    ]);
    const names = snapshotOf(source).conditions.map(each => (each.kind === 'loop_control' ? each.loopId : each.kind));
    expect(names).toEqual(['plan_refinement', 'plan_refinement']);
    expect(problemsOf(source)).toEqual([['loop_id', '/steps/0/body/0/loop/conditionSource/loopId']]);
  });

  it('[W201] is not decided from outside: a step that is asked to is a warning', () => {
    const source = workflowOf([
      stepOf('early', decides),
      loopOf('l', byArtifact, [stepOf('a', decides)]),
      loopOf('n', { type: 'for', count: 2, maxIterations: 2 }, [stepOf('b', decides)]),
    ]);
    expect(problemsOf(source)).toEqual([
      ['loop_decision_outside', '/steps/0/outputContract'],
      ['loop_decision_outside', '/steps/2/body/0/outputContract'],
    ]);
  });

  it('nests only so deep', () => {
    let body: unknown = [stepOf('s')];
    for (let n = 0; n < 10; n++) body = [loopOf(`l${n}`, { type: 'for', count: 1, maxIterations: 1 }, body)];
    expect(problemsOf(workflowOf(body as unknown[]))).toEqual([
      ['loop_depth', '/steps/0/body/0/body/0/body/0/body/0/body/0/body/0/body/0/body/0'],
    ]);
  });
});
