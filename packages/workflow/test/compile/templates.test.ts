import { describe, expect, it } from 'vitest';
import { compile, loopOf, problemsOf, snapshotOf, stepOf, workflowOf } from './sources.ts';

const call = (id: string, routine: string, args: Readonly<Record<string, unknown>> = {}, more = {}) => ({
  id,
  title: `Call ${id}`,
  templateCall: { templateId: `wr.templates.routine.${routine}`, args },
  ...more,
});

const routineOf = (name: string, steps: readonly unknown[], more = {}) =>
  workflowOf(steps, { id: `wr.routine-${name}`, ...more });

describe('[W8] a template', () => {
  const routines = [
    routineOf(
      'pair',
      [stepOf('one', { prompt: 'Look at {what}, {{a.b}} and {n}.', functionReferences: ['look()'] }), stepOf('two')],
      {
        metaGuidance: ['Stay on {what}.'],
        functionDefinitions: [{ name: 'look', definition: 'Look closely at {what}.' }],
      },
    ),
    routineOf('nested', [call('inner', 'pair', { what: '{topic}', n: 1 })]),
    routineOf('round', [loopOf('again', { type: 'for', count: 2, maxIterations: 2 }, 'turn'), stepOf('turn')]),
  ];

  it('is expanded in place, in its own order, with dotted ids that are made safe', () => {
    const snapshot = snapshotOf(
      workflowOf([stepOf('before'), call('go', 'pair', { what: 'it', n: 2 }), stepOf('after')]),
      { routines },
    );
    expect(snapshot.program).toEqual(['before', 'go_one', 'go_two', 'after'].map(stepId => ({ kind: 'step', stepId })));
    expect(snapshot.steps.map(({ stepId, sourceId, provenance }) => [stepId, sourceId, provenance])).toEqual([
      ['before', 'before', { source: 'authored' }],
      ['go_one', 'go.one', { source: 'template_injected', originId: 'wr.templates.routine.pair' }],
      ['go_two', 'go.two', { source: 'template_injected', originId: 'wr.templates.routine.pair' }],
      ['after', 'after', { source: 'authored' }],
    ]);
  });

  it('takes its arguments in every text and leaves {{paths}} alone', () => {
    const [one] = snapshotOf(workflowOf([call('go', 'pair', { what: 'it', n: { deep: true } })]), { routines }).steps;
    expect(one?.prompt).toBe('Look at it, {{a.b}} and {"deep":true}.');
  });

  it('gives its guidance to each of its steps, and its functions to those that refer to them', () => {
    const source = workflowOf([call('go', 'pair', { what: 'it', n: 1 }, { guidance: ['Be brief.'] })]);
    const { steps, functions } = snapshotOf(source, { routines });
    expect(steps.map(step => step.guidance)).toEqual([
      ['Be brief.', 'Stay on it.'],
      ['Be brief.', 'Stay on it.'],
    ]);
    expect(functions.map(({ owner, definition }) => [owner, definition])).toEqual([['go_one', 'Look closely at it.']]);
  });

  it('runs when its caller would, and is confirmed at its end', () => {
    const source = workflowOf([
      call('go', 'pair', { what: 'it', n: 1 }, { runCondition: { var: 'deep' }, requireConfirmation: true }),
    ]);
    const { steps, conditions } = snapshotOf(source, { routines });
    expect(steps.map(step => [step.runConditionId, step.confirmation.kind])).toEqual([
      ['run_go_one', 'none'],
      ['run_go_two', 'required'],
    ]);
    expect(conditions.map(each => each.kind === 'expression' && each.expression)).toEqual([
      { kind: 'compare', key: 'deep', operator: 'truthy' },
      { kind: 'compare', key: 'deep', operator: 'truthy' },
    ]);
  });

  it('may call another, and may hold loops', () => {
    const snapshot = snapshotOf(workflowOf([call('go', 'nested', { topic: 'x' }), call('r', 'round')]), { routines });
    expect(snapshot.steps.map(step => step.sourceId)).toEqual(['go.inner.one', 'go.inner.two', 'r.turn']);
    expect(snapshot.loops.map(({ loopId, body }) => [loopId, body])).toEqual([
      ['r_again', [{ kind: 'step', stepId: 'r_turn' }]],
    ]);
    expect(snapshot.steps[0]?.prompt).toBe('Look at x, {{a.b}} and 1.');
  });
});

describe('[W9] templates that do not end', () => {
  it('are problems: circles, depth, and growth', () => {
    const circle = [routineOf('a', [call('b', 'b')]), routineOf('b', [call('a', 'a')])];
    expect(problemsOf(workflowOf([call('go', 'a')]), { routines: circle })).toEqual([
      ['template_cycle', '/steps/0/templateCall'],
    ]);
    const deep = Array.from({ length: 12 }, (_, n) => routineOf(`r${n}`, [call('next', `r${n + 1}`)]));
    expect(problemsOf(workflowOf([call('go', 'r0')]), { routines: deep })).toEqual([
      ['template_cycle', '/steps/0/templateCall'],
    ]);
    const ten = Array.from({ length: 10 }, (_, n) => n);
    const wide = [0, 1, 2, 3, 4, 5].map(n =>
      routineOf(`w${n}`, n === 5 ? ten.map(i => stepOf(`s${i}`)) : ten.map(i => call(`c${i}`, `w${n + 1}`))),
    );
    expect(problemsOf(workflowOf([call('go', 'w0')]), { routines: wide })).toEqual([
      ['too_many_steps', '/steps/0/templateCall'],
    ]);
    const echo = [routineOf('echo', [stepOf('s', { prompt: '{x}'.repeat(10_000) })])];
    expect(problemsOf(workflowOf([call('go', 'echo', { x: 'y'.repeat(100_000) })]), { routines: echo })).toEqual([
      ['too_large', '/steps/0/templateCall'],
    ]);
  });
});

describe('[W10] a call that cannot be made', () => {
  const routines = [routineOf('pair', [stepOf('one', { prompt: '{what}' })]), routineOf('bad', [{ id: 'x' }])];

  it('is a problem at the call, each with what to do', () => {
    const source = workflowOf([
      call('a', 'pear'),
      call('b', 'pair'),
      call('c', 'bad'),
      { id: 'd', title: 'D', templateCall: { templateId: 'other' } },
      call('e', 'pair', { what: 'x' }, { audit: {} }),
    ]);
    const compiled = compile(source, { routines });
    expect(compiled.ok ? [] : compiled.error.problems.map(each => [each.code, each.path, each.suggestion])).toEqual([
      ['template_unknown', '/steps/0/templateCall/templateId', 'Did you mean "wr.templates.routine.pair"?'],
      ['template_argument', '/steps/1/templateCall', 'Add "what" to args.'],
      ['template_invalid', '/steps/2/templateCall/templateId', 'Mend the routine first.'],
      [
        'template_unknown',
        '/steps/3/templateCall/templateId',
        'Use wr.templates.routine.<routine> of a routine that exists.',
      ],
      ['template_call_field', '/steps/4/audit', 'Move it into the routine or a step after it.'],
    ]);
  });
});
