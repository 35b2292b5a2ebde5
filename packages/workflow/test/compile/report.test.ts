import { describe, expect, it } from 'vitest';
import { limits } from '../../src/compile/limits.ts';
import { namedFix, problemCodes } from '../../src/index.ts';
import { compile, problemsOf, snapshotOf, stepOf, workflowOf } from './sources.ts';

describe('[W5] the report', () => {
  it('has every problem of a file, of every kind, in one go', () => {
    const source = {
      id: 'Bad Id',
      name: 3,
      description: 'd',
      version: '1',
      features: ['wr.features.none'],
      steps: [
        stepOf('a', { runCondition: {}, modelTier: 'huge' }),
        7,
        {
          id: 'B!',
          title: 'b',
          promptBlocks: { goal: [{ kind: 'ref', refId: 'wr.refs.none' }], constraints: [1, 'ok', [{ kind: 'text' }]] },
        },
        { title: 'no id', prompt: 'p', functionReferences: ['f()'] },
        { type: 'lopp', id: 'l', title: 'l' },
        stepOf('a'),
        { id: 'empty', title: 'nothing' },
        stepOf('both', { promptBlocks: {} }),
      ],
    };
    expect(problemsOf(source)).toEqual([
      ['feature_unknown', '/features/0'],
      ['invalid_id', '/id'],
      ['invalid_value', '/name'],
      ['invalid_value', '/steps/0/modelTier'],
      ['condition_invalid', '/steps/0/runCondition'],
      ['invalid_value', '/steps/1'],
      ['invalid_id', '/steps/2/id'],
      ['invalid_value', '/steps/2/promptBlocks/constraints/0'],
      ['missing_field', '/steps/2/promptBlocks/constraints/2/0'],
      ['ref_unknown', '/steps/2/promptBlocks/goal/0/refId'],
      ['missing_field', '/steps/3'],
      ['function_unknown', '/steps/3/functionReferences/0'],
      ['invalid_value', '/steps/4/type'],
      ['duplicate_id', '/steps/5/id'],
      ['prompt_source', '/steps/6'],
      ['prompt_source', '/steps/7'],
      ['invalid_value', '/version'],
    ]);
  });

  it('says for each what is wrong and how to mend it', () => {
    const compiled = compile(workflowOf([stepOf('My Step', { runConditoin: { var: 'a' } })]));
    expect(compiled.ok ? [] : compiled.error.problems).toEqual([
      {
        code: 'invalid_id',
        severity: 'error',
        path: '/steps/0/id',
        message: 'The step id "My Step" is not of a-z, 0-9, - and _ (100 at most).',
        suggestion: 'Call it "my-step".',
      },
      {
        code: 'unknown_field',
        severity: 'warning',
        path: '/steps/0/runConditoin',
        message: 'There is no field "runConditoin" here; it is ignored.',
        suggestion: 'Remove it, or write "runCondition" if that is meant.',
      },
    ]);
  });

  it('ends after a number of problems, and says so', () => {
    const steps = Array.from({ length: 300 }, (_, n) => stepOf(`s${n}`, { x: 1 }));
    const compiled = compile(workflowOf(steps));
    const warnings = compiled.ok ? compiled.value.warnings : [];
    expect(warnings.length).toBe(limits.problems + 1);
    expect(warnings.at(-1)?.code).toBe('too_many_problems');
    expect(problemCodes.too_many_problems).toBe('warning');
    expect(compile(workflowOf(steps), { mode: 'strict' }).ok).toBe(false);
  });
});

describe('[W6] an unknown field', () => {
  const source = workflowOf([stepOf('a', { colour: 'red' })], { $schema: 'x', owner: 'me' });

  it('is named and left out when loading, and an error in strict mode', () => {
    const compiled = compile(source);
    expect(compiled.ok && compiled.value.warnings.map(each => [each.code, each.severity, each.path])).toEqual([
      ['unknown_field', 'warning', '/owner'],
      ['unknown_field', 'warning', '/steps/0/colour'],
    ]);
    const strict = compile(source, { mode: 'strict' });
    expect(strict.ok ? [] : strict.error.problems.map(each => each.severity)).toEqual(['error', 'error']);
  });

  it('named __proto__ changes nothing', () => {
    const hostile: unknown = JSON.parse(
      JSON.stringify(
        workflowOf([
          stepOf('a', { functionCalls: [{ name: 'f', args: { PROTO: { polluted: 1 } } }], PROTO: { prompt: 'x' } }),
        ]),
      ).replaceAll('PROTO', '__proto__'),
    );
    expect(problemsOf(hostile).filter(([code]) => code === 'unknown_field')).toEqual([
      ['unknown_field', '/steps/0/__proto__'],
      ['unknown_field', '/steps/0/functionCalls/0/args/__proto__'],
    ]);
    expect(snapshotOf(hostile).steps[0]?.functionCalls).toEqual([{ name: 'f', args: {} }]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('named like a member of every object is a field like any other', () => {
    const source = workflowOf([stepOf('constructor', { toString: 1, runCondition: { var: 'constructor' } })]);
    expect(problemsOf(source)).toEqual([['unknown_field', '/steps/0/toString']]);
  });
});

describe('[W7] what is too much', () => {
  const nested = (depth: number) => {
    let value: unknown = 1;
    for (let n = 0; n < depth; n++) value = [value];
    return value;
  };

  it.each<[string, unknown, string]>([
    ['not JSON', { id: 1n }, 'not_json'],
    [
      'a cycle',
      (() => {
        const a: Record<string, unknown> = {};
        a.a = a;
        return a;
      })(),
      'not_json',
    ],
    ['too large', workflowOf([stepOf('a', { prompt: 'x'.repeat(limits.fileBytes) })]), 'too_large'],
    ['too deep', workflowOf([stepOf('a')], { examples: [nested(limits.depth)] }), 'too_deep'],
    [
      'too many values',
      workflowOf([stepOf('a')], { examples: Array.from({ length: limits.values }, () => 0) }),
      'too_many_values',
    ],
    [
      'too many steps',
      workflowOf(Array.from({ length: limits.steps + 1 }, (_, n) => stepOf(`s${n}`))),
      'too_many_steps',
    ],
    ['a list', [], 'invalid_value'],
    ['nothing', null, 'invalid_value'],
    ['no steps', workflowOf([]), 'invalid_value'],
  ])('%s is a problem', (_, source, code) => {
    expect(problemsOf(source).map(([found]) => found)).toEqual([code]);
  });

  it('is known in bounded time: fifty thousand unknown fields, nine hundred steps that call what is not there', () => {
    const fields = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`field${n}`, n]));
    expect(problemsOf({ ...workflowOf([stepOf('a')]), ...fields }).length).toBe(limits.problems + 1);
    const calls = Array.from({ length: 900 }, (_, n) => ({
      id: `c${n}`,
      title: 'c',
      templateCall: { templateId: `wr.templates.routine.${'x'.repeat(90)}${n}` },
    }));
    expect(problemsOf(workflowOf(calls)).length).toBe(limits.problems + 1);
  });

  it('is known although it is written once and shared by many steps', () => {
    const steps = Array.from({ length: 900 }, (_, n) => stepOf(`s${n}`));
    const loop = { id: 'l', type: 'loop', title: 'L', loop: { type: 'for', count: 1, maxIterations: 1 }, body: steps };
    const guidance = Array.from({ length: 80_000 }, () => '');
    expect(problemsOf(workflowOf([{ ...loop, guidance }])).map(([code]) => code)).toEqual(['too_large']);
    const and = Array.from({ length: 30_000 }, () => ({ var: 'x' }));
    const routine = workflowOf(steps, { id: 'wr.routine-many' });
    const call = {
      id: 'c',
      title: 'C',
      templateCall: { templateId: 'wr.templates.routine.many' },
      runCondition: { and },
    };
    expect(problemsOf(workflowOf([call]), { routines: [routine] }).map(([code]) => code)).toEqual(['too_large']);
  });

  it('is known although every name is a slip of another', () => {
    const functionDefinitions = Array.from({ length: 20_000 }, (_, n) => ({
      name: `function_with_a_name_${n}`,
      definition: '',
    }));
    const functionReferences = Array.from({ length: 20_000 }, (_, n) => `function_with_a_nmae_${n}()`);
    expect(problemsOf(workflowOf([stepOf('a', { functionReferences })], { functionDefinitions })).length).toBe(
      limits.problems + 1,
    );
  });
});

it('[W208] only a suggestion that names one value is a fix', () => {
  const source = {
    ...workflowOf([
      stepOf('A B', { promt: 'p', outputContract: { contractRef: 'wr.contracts.review_verdic' } }),
      stepOf('c', { nothingLikeIt: 1, outputContract: { contractRef: 'team.contracts.mine' } }),
    ]),
    id: 'wr.mine',
  };
  const compiled = compile(source);
  if (compiled.ok) throw new Error('it compiles');
  const fixes = compiled.error.problems.map(problem => [problem.path, namedFix(problem)]);
  expect(fixes).toEqual(
    [
      ['/id', { kind: 'replace_value', to: 'project.mine' }],
      ['/steps/0/id', { kind: 'replace_value', to: 'a-b' }],
      ['/steps/0/outputContract/contractRef', { kind: 'replace_value', to: 'wr.contracts.review_verdict' }],
      ['/steps/0/promt', { kind: 'rename_field', to: 'prompt' }],
      ['/steps/1/nothingLikeIt', undefined],
      ['/steps/1/outputContract/contractRef', undefined],
    ].sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
  );
});
