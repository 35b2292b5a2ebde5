import { describe, expect, it } from 'vitest';
import { interpret } from '../../src/interpret/interpreter.ts';
import { judgeOutput } from '../../src/interpret/output-judgement.ts';
import { renderPrompt } from '../../src/prompts/prompt.ts';
import type { EngineState } from '../../src/session/execution-snapshot.ts';
import { modePresets } from '../../src/session/preferences.ts';
import { nonAssumableChoiceKind } from '../../src/session/reasons.ts';
import { compile, snapshotOf, stepOf, workflowOf } from '../compile/sources.ts';

const source = workflowOf([
  stepOf('a', { nonAssumableChoices: ['irreversible_action', 'scope_boundary'] }),
  stepOf('b', { notesOptional: true }),
]);
const compiled = snapshotOf(source);

function stateAt(stepId: string): Extract<EngineState, { kind: 'running' }> {
  const first = interpret(
    { ...compiled, program: [{ kind: 'step', stepId }] },
    { kind: 'init' },
    { kind: 'started' },
    { context: {}, outputs: [], autonomy: 'guided' },
  );
  if (!first.ok || first.value.kind !== 'advanced' || first.value.state.kind !== 'running') throw new Error(stepId);
  return first.value.state;
}

const need = (choice: string | undefined) =>
  ({ reason: 'needs_user_choice', summary: 'Drop the old table?', choice }) as never;

const judged = (stepId: string, choice: string | undefined, mode: keyof typeof modePresets, answered = false) => {
  const judgement = judgeOutput(compiled, stateAt(stepId), {
    output: { notes: 'Looked at it.', artifacts: [], needs: [need(choice)] },
    context: {},
    preferences: modePresets[mode],
    answers: answered
      ? [
          {
            reason: 'needs_user_choice',
            asked: `Step ${stepId} waits for the person: Drop the old table?`,
            answer: 'answered',
          },
        ]
      : [],
  });
  if (!judgement.ok) throw new Error(judgement.error.reason);
  return judgement.value;
};

describe('[W38] choices that are the person’s', () => {
  it('are marked by step, workflow, routine and call, each kind once and sorted; another kind is a problem', () => {
    const routine = workflowOf([stepOf('x', { nonAssumableChoices: ['scope_boundary'] })], { id: 'wr.routine-r' });
    const call = { id: 'c', title: 'c', templateCall: { templateId: 'wr.templates.routine.r' } };
    const marked = snapshotOf(
      workflowOf(
        [
          { ...call, nonAssumableChoices: ['policy_or_compliance'] },
          stepOf('own', { nonAssumableChoices: ['scope_boundary'], verification: {} }),
        ],
        { nonAssumableChoices: ['scope_boundary', 'external_side_effect'] },
      ),
      { routines: [routine] },
    );
    expect(marked.steps.map(({ stepId, nonAssumableChoices }) => [stepId, nonAssumableChoices])).toEqual([
      ['c_x', ['external_side_effect', 'policy_or_compliance', 'scope_boundary']],
      ['own', ['external_side_effect', 'scope_boundary']],
      ['own__verification', ['external_side_effect', 'scope_boundary']],
    ]);
    const wrong = compile(workflowOf([stepOf('a', { nonAssumableChoices: ['taste'] })]));
    expect(wrong.ok ? [] : wrong.error.problems.map(({ code, path }) => [code, path])).toEqual([
      ['invalid_value', '/steps/0/nonAssumableChoices/0'],
    ]);
  });

  it('leave the snapshot of a workflow that marks none as it always was', () => {
    expect(snapshotOf(workflowOf([stepOf('a')])).steps[0]).not.toHaveProperty('nonAssumableChoices');
    expect(snapshotOf(workflowOf([stepOf('a', { nonAssumableChoices: [] })]))).toEqual(
      snapshotOf(workflowOf([stepOf('a')])),
    );
  });

  it('are told in the prompt of the step, before the work, and in no other', () => {
    const shown = (stepId: string) => {
      const prompt = renderPrompt(compiled, stateAt(stepId), {});
      return prompt.ok ? prompt.value.prompt : '';
    };
    expect(shown('a')).toContain("THE PERSON'S CHOICES");
    expect(shown('a').match(/^- (irreversible_action|scope_boundary): /gm)).toHaveLength(2);
    expect(shown('b')).not.toContain("THE PERSON'S CHOICES");
  });

  it('wait for the person where the mode may stop, are a gap where it never does, and are done when answered', () => {
    for (const mode of ['guided', 'full_auto_stop_on_user_deps'] as const) {
      expect(judged('a', 'irreversible_action', mode)).toMatchObject({
        kind: 'blocked',
        report: { blockers: [{ code: 'USER_ONLY_DEPENDENCY', pointer: { kind: 'workflow_step', stepId: 'a' } }] },
        gaps: [{ severity: 'critical', reason: { category: 'user_only_dependency', detail: 'needs_user_choice' } }],
      });
      expect(judged('a', 'irreversible_action', mode, true)).toMatchObject({ kind: 'accepted', gaps: [] });
    }
    expect(judged('a', 'irreversible_action', 'full_auto_never_stop')).toMatchObject({
      kind: 'accepted',
      gaps: [{ severity: 'critical', reason: { category: 'user_only_dependency', detail: 'needs_user_choice' } }],
    });
  });

  it('are the only ones: every other choice, and one without a kind, is given back to the agent', () => {
    const others = [...nonAssumableChoiceKind.options.filter(kind => !/^(irr|sco)/.test(kind)), undefined];
    for (const [stepId, choice] of [...others.map(kind => ['a', kind] as const), ['b', 'scope_boundary'] as const]) {
      expect(judged(stepId, choice, 'guided')).toMatchObject({
        kind: 'accepted',
        gaps: [],
        warnings: [{ code: 'choice_is_assumable' }],
      });
    }
  });
});
