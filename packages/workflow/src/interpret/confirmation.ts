import type { JsonObject } from '@signalbox/model';
import type { Autonomy, CompiledStep, CompiledWorkflowSnapshotV1 } from '../compile/compiled-workflow.ts';
import { derivePendingStep, type EngineState } from '../session/execution-snapshot.ts';
import { type ContextLayers, conditionValue } from './condition-value.ts';
import { type Effort, PATTERN_MAX_STEPS } from './pattern-match.ts';
import { blocks, type Gap, gapsOf } from './reason.ts';
import { stepContext } from './step-context.ts';
import { approvalQuestion } from './user-dependency.ts';
import { indexWorkflow, type WorkflowIndex } from './workflow-index.ts';

export type NextIntent = 'perform_pending_then_continue' | 'await_user_confirmation' | 'rehydrate_only' | 'complete';

/** Who must confirm a step before it passes. */
export type ApprovalNeed = 'none' | 'user' | 'coordinator_eval' | 'human_approval';

/** The agent's next action at a place. Confirmations apply in guided mode; a person's approval in every mode that can stop. */
export function nextIntentOf(
  compiled: CompiledWorkflowSnapshotV1,
  state: EngineState,
  context: JsonObject,
  autonomy: Autonomy,
): NextIntent {
  if (state.kind === 'complete') return 'complete';
  const pending = derivePendingStep(state);
  const index = indexWorkflow(compiled);
  const step = pending && index.steps.get(pending.stepId);
  if (pending === undefined || step === undefined) return 'rehydrate_only';
  const seen = stepContext(index, context, pending.loopPath);
  const need = approvalNeed(index, step, seen, { steps: PATTERN_MAX_STEPS });
  return isAsked(need, autonomy) ? 'await_user_confirmation' : 'perform_pending_then_continue';
}

/** The question to the person that a place opens by itself; a mode that never stops opens none. */
export function questionOnArrival(
  compiled: CompiledWorkflowSnapshotV1,
  state: EngineState,
  context: JsonObject,
  autonomy: Autonomy,
): readonly Gap[] {
  const pending = derivePendingStep(state);
  const index = indexWorkflow(compiled);
  const step = pending && index.steps.get(pending.stepId);
  if (pending === undefined || step === undefined || !blocks(autonomy)) return [];
  const seen = stepContext(index, context, pending.loopPath);
  const need = personsNeed(approvalNeed(index, step, seen, { steps: PATTERN_MAX_STEPS }), autonomy);
  return need === 'human_approval' ? gapsOf([approvalQuestion(step.stepId)]) : [];
}

function isAsked(need: ApprovalNeed, autonomy: Autonomy): boolean {
  if (need === 'none') return false;
  return need === 'human_approval' ? autonomy !== 'full_auto_never_stop' : autonomy === 'guided';
}

/** Confirmations that only a person can give: in guided mode every user confirmation is an approval. */
export function personsNeed(need: ApprovalNeed, autonomy: Autonomy): ApprovalNeed {
  return need === 'user' && isAsked(need, autonomy) ? 'human_approval' : need;
}

/** If the condition cannot be evaluated, the question is asked. */
export function approvalNeed(
  index: WorkflowIndex,
  { confirmation }: CompiledStep,
  context: ContextLayers,
  effort: Effort,
): ApprovalNeed {
  if (confirmation.kind === 'none') return 'none';
  const { conditionId, approval } = confirmation;
  const expression = conditionId === undefined ? undefined : index.expressions.get(conditionId);
  if (expression === undefined) return approval;
  const holds = conditionValue(expression, context, { missing: 'is_null', effort });
  return holds.ok && !holds.value ? 'none' : approval;
}
