import { canonicalJson, type JsonObject, ok, type Result, truncateUtf8 } from '@signalbox/model';
import type { CompiledStep, CompiledWorkflowSnapshotV1 } from '../compile/compiled-workflow.ts';
import { type ContextLayers, conditionValue } from '../interpret/condition-value.ts';
import type { InterpreterFault } from '../interpret/interpreter-fault.ts';
import { type Effort, PATTERN_MAX_STEPS } from '../interpret/pattern-match.ts';
import { locatePending } from '../interpret/position.ts';
import { stepContext } from '../interpret/step-context.ts';
import { indexWorkflow, type WorkflowIndex } from '../interpret/workflow-index.ts';
import type { EngineState } from '../session/execution-snapshot.ts';
import type { NonAssumableChoiceKind } from '../session/reasons.ts';
import { formatStepInstanceKey, type LoopTurn, type StepInstanceKey } from '../session/step-instance-key.ts';
import { fillTemplate } from './context-template.ts';
import { functionDefinitions } from './function-definitions.ts';
import { outputRequirements } from './output-requirements.ts';
import { promptBudgets } from './prompt-budgets.ts';
import { type Recovery, recoveryText } from './recovery.ts';

/** A step as shown to an agent. */
export interface ShownStep {
  readonly key: StepInstanceKey;
  readonly stepId: string;
  readonly title: string;
  readonly prompt: string;
}

/**
 * The pending step as text: the author's text with context values; the functions it refers to; the requirements for its
 * output; and, for an agent that lost the conversation, what happened before.
 *
 * N1  The same arguments give the same bytes.
 * N2  Every part has a budget; anything cut or omitted is noted, and no character is split.
 */
export function renderPrompt(
  compiled: CompiledWorkflowSnapshotV1,
  state: Extract<EngineState, { kind: 'running' }>,
  context: JsonObject,
  recovery?: Recovery,
): Result<ShownStep, InterpreterFault> {
  const index = indexWorkflow(compiled);
  const located = locatePending(index, state);
  if (!located.ok) return located;
  const { pending, step } = located.value;
  const seen = stepContext(index, context, pending.loopPath);
  const effort = { steps: PATTERN_MAX_STEPS };
  const isFirst = state.completed.values.length === 0 || recovery !== undefined;
  const parts = [
    step.agentRole && `Role: ${fillTemplate(step.agentRole, seen)}`,
    turnText(index, pending.loopPath),
    fillTemplate(step.prompt, seen),
    ...step.fragments.map(fragment => fragmentText(index, fragment, seen, effort)),
    step.askForFiles && 'Ask the person for the files that this step needs, if you do not have them.',
    bullets('Guidance:', step.guidance, seen),
    isFirst && bullets('Throughout this workflow:', compiled.metaGuidance, seen),
    choicesText(step),
    callsText(step),
    functionDefinitions(
      compiled,
      step,
      recovery?.downstream?.map(({ notes }) => notes),
      recovery?.branches?.map(({ notes }) => notes),
    ),
    outputRequirements(index, step, pending.loopPath, seen, effort),
    step.notesRequired && (isFirst ? NOTES : NOTES_AGAIN),
    recovery && recoveryText(recovery),
  ];
  const prompt = parts.filter(part => typeof part === 'string' && part !== '').join('\n\n');
  return ok({
    key: formatStepInstanceKey(pending),
    stepId: step.stepId,
    title: fillTemplate(step.title, seen),
    prompt: truncateUtf8(prompt.toWellFormed(), promptBudgets.prompt),
  });
}

const NOTES = [
  'NOTES: send output.notesMarkdown for this step alone; do not repeat the notes of earlier steps.',
  'In 10 to 30 lines of Markdown: what you did and decided, what you produced (files, paths, numbers), what is notable (risks, open questions, what you left out).',
].join('\n');

/** For an agent that has read the whole at an earlier step. */
const NOTES_AGAIN = 'NOTES: send output.notesMarkdown for this step alone, in 10 to 30 lines.';

function turnText(index: WorkflowIndex, loopPath: readonly LoopTurn[]): string | undefined {
  const turns = loopPath.map(({ loopId, iteration }) => {
    const loop = index.loops.get(loopId);
    return `${loop?.title ?? loopId} (loop "${loopId}"), turn ${iteration + 1} of at most ${loop?.maxIterations ?? iteration + 1}`;
  });
  return turns.length === 0 ? undefined : `In ${turns.join(', in ')}.`;
}

/** A fragment whose condition cannot be evaluated is shown with the reason: nothing is omitted silently. */
function fragmentText(
  index: WorkflowIndex,
  { conditionId, text }: CompiledStep['fragments'][number],
  context: ContextLayers,
  effort: Effort,
): string | undefined {
  const shown = fillTemplate(text, context);
  const expression = conditionId === undefined ? undefined : index.expressions.get(conditionId);
  if (expression === undefined) return shown;
  const holds = conditionValue(expression, context, { missing: 'is_null', effort });
  if (!holds.ok) return `[Whether this applies cannot be told: ${holds.error.reason}]\n${shown}`;
  return holds.value ? shown : undefined;
}

function bullets(header: string, lines: readonly string[], context: ContextLayers): string | undefined {
  if (lines.length === 0) return undefined;
  return [header, ...lines.map(line => `- ${fillTemplate(line, context)}`)].join('\n');
}

const CHOICES: Readonly<Record<NonAssumableChoiceKind, string>> = {
  preference_tradeoff: 'between goods that only the person can weigh',
  scope_boundary: 'of what belongs to the work and what does not',
  irreversible_action: 'to do what cannot be undone',
  external_side_effect: 'to do what others will see or that costs something outside',
  policy_or_compliance: 'that rules, licences or law bear on',
};

function choicesText({ nonAssumableChoices = [] }: CompiledStep): string | undefined {
  if (nonAssumableChoices.length === 0) return undefined;
  return [
    'THE PERSON\'S CHOICES: do not make these yourself. When you come to one, report it in output.needsFromUser with reason "needs_user_choice", its kind as choice, and the options in summary.',
    ...nonAssumableChoices.map(kind => `- ${kind}: a choice ${CHOICES[kind]}`),
  ].join('\n');
}

function callsText({ functionCalls }: CompiledStep): string | undefined {
  if (functionCalls.length === 0) return undefined;
  const calls = functionCalls.map(({ name, args }) => {
    const given = Object.keys(args)
      .sort()
      .map(key => `${key}=${canonicalJson(args[key])}`);
    return `- ${name.replace(/\(\)$/, '')}(${given.join(', ')})`;
  });
  return ['Use these functions:', ...calls].join('\n');
}
