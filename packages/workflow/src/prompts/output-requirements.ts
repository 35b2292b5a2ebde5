import { truncateUtf8 } from '@signalbox/model';
import type { CompiledStep } from '../compile/compiled-workflow.ts';
import type { ValidationExpression } from '../compile/validation.ts';
import { ASSESSMENT_CONTRACT } from '../interpret/assessment-judgement.ts';
import { type ContextLayers, conditionValue } from '../interpret/condition-value.ts';
import { requirementText } from '../interpret/notes-validation.ts';
import type { Effort } from '../interpret/pattern-match.ts';
import type { WorkflowIndex } from '../interpret/workflow-index.ts';
import type { LoopTurn } from '../session/step-instance-key.ts';
import { MAX_REQUIREMENTS, promptBudgets } from './prompt-budgets.ts';

/**
 * The requirements for a step's output, shown before the work begins: the contract, else the rules for notes, then the
 * assessments. At most five lines, then a count of the rest. Undefined if there are none.
 */
export function outputRequirements(
  index: WorkflowIndex,
  step: CompiledStep,
  loopPath: readonly LoopTurn[],
  context: ContextLayers,
  effort: Effort,
): string | undefined {
  const contract = step.output === undefined ? undefined : index.contracts.get(step.output.contractRef);
  const innermost = loopPath.at(-1)?.loopId;
  const main =
    contract === undefined
      ? rulesOf(step.validation, index, context, effort).map(requirementText)
      : [
          `Artifact contract: ${contract.contractRef}${step.output?.required === false ? ' (optional)' : ''}${innermost === undefined ? '' : `, in loop "${innermost}"`}`,
          ...contract.guidance,
        ];
  const lines = [...main, ...assessmentLines(index, step)];
  if (lines.length === 0) return undefined;
  const told = lines
    .slice(0, MAX_REQUIREMENTS)
    .map(line => `- ${truncateUtf8(line.replaceAll('\n', ' '), promptBudgets.requirement)}`);
  const more = lines.length - told.length;
  const header = contract === undefined ? 'OUTPUT REQUIREMENTS:' : '**OUTPUT REQUIREMENTS (System):**';
  return ['---', header, ...told, ...(more > 0 ? [`(${more} more are checked)`] : [])].join('\n');
}

/** The rules one by one, except those whose condition is known to be false. */
function rulesOf(
  expression: ValidationExpression | undefined,
  index: WorkflowIndex,
  context: ContextLayers,
  effort: Effort,
): readonly ValidationExpression[] {
  if (expression === undefined) return [];
  if (expression.kind === 'all') return expression.of.flatMap(part => rulesOf(part, index, context, effort));
  if (expression.kind !== 'rule' || expression.conditionId === undefined) return [expression];
  const condition = index.expressions.get(expression.conditionId);
  const applies = condition && conditionValue(condition, context, { missing: 'is_null', effort });
  return applies?.ok === true && !applies.value ? [] : [expression];
}

function assessmentLines(index: WorkflowIndex, step: CompiledStep): readonly string[] {
  return step.assessmentRefs.flatMap(assessmentId => {
    const assessment = index.compiled.assessments.find(candidate => candidate.assessmentId === assessmentId);
    if (assessment === undefined) return [];
    const dimensions = assessment.dimensions.map(
      ({ dimensionId, levels, required }) => `${dimensionId}${required ? '' : ' (optional)'}: ${levels.join(' | ')}`,
    );
    return [`Assessment "${assessmentId}" as an artifact of ${ASSESSMENT_CONTRACT}: ${dimensions.join('; ')}`];
  });
}
