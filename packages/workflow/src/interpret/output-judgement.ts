import { type Json, type JsonObject, ok, type Result } from '@signalbox/model';
import type { CompiledStep, CompiledWorkflowSnapshotV1 } from '../compile/compiled-workflow.ts';
import type { BlockerReport } from '../session/blockers.ts';
import type { EngineState } from '../session/execution-snapshot.ts';
import { exceedsRecommendation, type Preferences } from '../session/preferences.ts';
import type { StepInstance } from '../session/step-instance-key.ts';
import { judgeAssessments } from './assessment-judgement.ts';
import {
  judgeCapabilities,
  type KnownCapabilities,
  type ObservedCapability,
  observedCapability,
} from './capability-judgement.ts';
import { type ContextLayers, isObject } from './condition-value.ts';
import { approvalNeed, personsNeed } from './confirmation.ts';
import { judgeContract } from './contract-judgement.ts';
import type { InterpreterFault } from './interpreter-fault.ts';
import { validateNotes } from './notes-validation.ts';
import { type Effort, PATTERN_MAX_STEPS } from './pattern-match.ts';
import { locatePending } from './position.ts';
import { blockerReportOf, blocks, type Gap, gapsOf, type Reason } from './reason.ts';
import { stepContext } from './step-context.ts';
import { judgeUserDependencies, type OpenQuestion, type ReportedNeed, type UserAnswer } from './user-dependency.ts';
import { indexWorkflow, type WorkflowIndex } from './workflow-index.ts';

/**
 * Judges whether an agent's output for the pending step is sufficient.
 *
 * J1  A contract replaces the validation of the notes.
 * J2  All problems are reported together, in a fixed order.
 * J3  The mode decides only whether a reason blocks or is a gap; the reason is the same.
 * J4  The same arguments give the same judgement, in bounded time.
 */
export function judgeOutput(
  compiled: CompiledWorkflowSnapshotV1,
  state: Extract<EngineState, { kind: 'running' }>,
  given: Given,
): Result<Judgement, InterpreterFault> {
  const index = indexWorkflow(compiled);
  const located = locatePending(index, state);
  if (!located.ok) return located;
  const { pending, step } = located.value;
  const effort = { steps: PATTERN_MAX_STEPS };
  const context = stepContext(index, given.context, pending.loopPath);
  const { artifacts } = given.output;

  const need = personsNeed(approvalNeed(index, step, context, effort), given.preferences.autonomy);
  const { output, answers = [], open = [] } = given;
  const user = judgeUserDependencies(step, need, { needs: output.needs ?? [], answers, open });
  const contract = judgeContract(index, step, pending.loopPath, artifacts);
  const observed = observedCapability(index, step, artifacts);
  const known = { ...given.capabilities, ...(observed && { [observed.capability]: observed.status }) };
  const capabilities = judgeCapabilities(index, step, known);
  const reasons = [
    ...user.reasons,
    ...contract,
    ...judgeNotes(index, step, given.output.notes ?? '', context, effort),
    ...judgeAssessments(index, step, artifacts),
    // For a probe without a report, only the missing report is listed, not its consequences.
    ...(step.probe !== undefined && contract.length > 0 ? [] : capabilities.reasons),
  ];
  const warnings = [
    ...recommendationWarnings(compiled, given.preferences),
    ...capabilities.preferredMissing.map(capability => ({
      code: 'preferred_capability_missing' as const,
      message: `${capability} would help here and is not available; go on without it and say so in your notes.`,
    })),
    ...ignoredDecision(index, pending, artifacts),
    ...user.assumable.map(({ summary }) => ({
      code: 'choice_is_assumable' as const,
      message: `This choice is yours: assume what fits best and say so in your notes (${summary}).`,
    })),
  ];
  const [first, ...rest] = [...reasons, ...user.stillOpen];
  const common = { warnings, gaps: gapsOf(reasons), ...(observed && { observed }) };
  if (first === undefined || !blocks(given.preferences.autonomy)) return ok({ kind: 'accepted', ...common });
  return ok({ kind: 'blocked', report: blockerReportOf([first, ...rest]), ...common });
}

export interface Given {
  readonly output: {
    readonly notes?: string | undefined;
    readonly artifacts: readonly Json[];
    readonly needs?: readonly ReportedNeed[] | undefined;
  };
  /** The durable context, with the attempt's additions. */
  readonly context: JsonObject;
  readonly preferences: Preferences;
  readonly capabilities?: KnownCapabilities | undefined;
  readonly answers?: readonly UserAnswer[] | undefined;
  /** Earlier questions about this step without an answer. */
  readonly open?: readonly OpenQuestion[] | undefined;
}

/**
 * `gaps` are disclosures: for an accepted output, what was missing; for a blocked one, the same as its blockers, except
 * questions recorded earlier.
 */
export type Judgement = {
  readonly warnings: readonly Warning[];
  readonly gaps: readonly Gap[];
  readonly observed?: ObservedCapability;
} & ({ readonly kind: 'accepted' } | { readonly kind: 'blocked'; readonly report: BlockerReport });

/** Reported, never enforced. */
export interface Warning {
  readonly code:
    | 'recommendation_exceeded'
    | 'preferred_capability_missing'
    | 'choice_is_assumable'
    | 'loop_decision_ignored';
  readonly message: string;
}

/** Preferences that exceed the workflow's recommendation. */
export function recommendationWarnings(
  { recommendations, workflowId }: CompiledWorkflowSnapshotV1,
  preferences: Preferences,
): readonly Warning[] {
  return exceedsRecommendation(preferences, recommendations).map(key => ({
    code: 'recommendation_exceeded',
    message: `${workflowId} recommends ${key} ${recommendations[key]}, and it is ${preferences[key]}. It goes on as you chose.`,
  }));
}

/** A decision about a loop that no loop reads, because none is active or the active one is controlled otherwise. */
function ignoredDecision(
  index: WorkflowIndex,
  { stepId, loopPath }: StepInstance,
  artifacts: readonly Json[],
): readonly Warning[] {
  const isGiven = artifacts.some(artifact => isObject(artifact) && artifact.kind === 'wr.loop_control');
  const control = index.loops.get(loopPath.at(-1)?.loopId ?? '')?.control;
  const condition = control?.kind === 'condition_ref' ? index.conditions.get(control.conditionId) : undefined;
  if (!isGiven || condition?.kind === 'loop_control') return [];
  const why = control === undefined ? 'no loop is active here' : 'no artifact ends the loop around it';
  const message = `The wr.loop_control artifact of step ${stepId} decided nothing: ${why}. A loop begins whatever was said before it; say "stop" in its body.`;
  return [{ code: 'loop_decision_ignored', message }];
}

function judgeNotes(
  index: WorkflowIndex,
  step: CompiledStep,
  notes: string,
  context: ContextLayers,
  effort: Effort,
): readonly Reason[] {
  const pointer = { kind: 'workflow_step', stepId: step.stepId } as const;
  if (step.notesRequired && notes.trim() === '') {
    return [
      {
        reason: { category: 'contract_violation', detail: 'missing_required_output' },
        pointer,
        message: `Step ${step.stepId} needs notes, and none were given.`,
        suggestedFix: 'Send output.notesMarkdown: what you did in this step, what you decided and what came of it.',
      },
    ];
  }
  if (step.output !== undefined || step.validation === undefined) return [];
  const { failures, faults } = validateNotes(step.validation, notes, { index, context, effort });
  return [
    ...failures.map(
      (failure): Reason => ({
        reason: { category: 'contract_violation', detail: 'invalid_required_output' },
        pointer,
        message: `The notes of step ${step.stepId} do not show what is asked: ${failure}`,
        suggestedFix: 'Do what is missing, then send all notes of this step again.',
      }),
    ),
    ...faults.map(
      (fault): Reason => ({
        reason: { category: 'unexpected', detail: 'invariant_violation' },
        pointer,
        message: `The validation of step ${step.stepId} cannot be asked: ${fault}.`,
        suggestedFix: 'Shorten the notes if they are long; else the workflow itself has to be mended by its author.',
      }),
    ),
  ];
}
