import type { Json } from '@signalbox/model';
import type { CompiledAssessment, CompiledContract, CompiledStep } from '../compile/compiled-workflow.ts';
import { isObject } from './condition-value.ts';
import { artifactFaults, artifactsOf, invalid, missing, unknownContract } from './contract-judgement.ts';
import { assessmentTemplate } from './output-template.ts';
import type { Reason } from './reason.ts';
import type { WorkflowIndex } from './workflow-index.ts';

/**
 * What a step's assessments lack, and the consequences of those given: a level that requires more work blocks the step with
 * its guidance until a later attempt has another level.
 */
export function judgeAssessments(
  index: WorkflowIndex,
  step: CompiledStep,
  artifacts: readonly Json[],
): readonly Reason[] {
  if (step.assessmentRefs.length === 0) return [];
  const contract = index.contracts.get(ASSESSMENT_CONTRACT);
  if (contract === undefined) return [unknownContract(step.stepId, ASSESSMENT_CONTRACT)];
  const given = artifactsOf(contract, artifacts);
  const malformed = given.flatMap(artifact => artifactFaults(index, contract, [], artifact));
  const wanted = templatesOf(index, step);
  if (malformed.length > 0) return malformed.map(fault => invalid(step.stepId, contract, fault, wanted));
  const only = step.assessmentRefs.length === 1 ? step.assessmentRefs[0] : undefined;
  const named = given.map(artifact => ({ artifact, id: artifact.assessmentId ?? only }));
  const reasons = named.flatMap(({ id }) =>
    typeof id === 'string' && step.assessmentRefs.includes(id)
      ? []
      : [invalid(step.stepId, contract, `/assessmentId must be one of ${step.assessmentRefs.join(', ')}`, wanted)],
  );
  for (const assessmentId of step.assessmentRefs) {
    const assessment = index.compiled.assessments.find(candidate => candidate.assessmentId === assessmentId);
    if (assessment === undefined) {
      reasons.push(unknownContract(step.stepId, assessmentId));
      continue;
    }
    // A later artifact corrects an earlier one of the same assessment.
    const artifact = named.findLast(candidate => candidate.id === assessmentId)?.artifact;
    if (artifact === undefined) reasons.push(lacking(step.stepId, contract, assessment));
    else reasons.push(...judgeOne(step, contract, assessment, levelsOf(artifact.dimensions)));
  }
  return reasons;
}

export const ASSESSMENT_CONTRACT = 'wr.contracts.assessment';

function judgeOne(
  step: CompiledStep,
  contract: CompiledContract,
  assessment: CompiledAssessment,
  levels: ReadonlyMap<string, string>,
): readonly Reason[] {
  const { assessmentId, dimensions } = assessment;
  const faults: string[] = [];
  for (const { dimensionId, levels: allowed, required } of dimensions) {
    const level = levels.get(dimensionId);
    if (level === undefined) {
      if (required) faults.push(`dimension ${dimensionId} of ${assessmentId} is missing`);
    } else if (!allowed.some(option => same(option, level))) {
      faults.push(`dimension ${dimensionId} of ${assessmentId} must be ${allowed.join(' or ')}`);
    }
  }
  const known = new Set(dimensions.map(({ dimensionId }) => dimensionId));
  for (const dimensionId of levels.keys()) {
    if (known.has(dimensionId)) continue;
    faults.push(`${assessmentId} has no dimension ${dimensionId}`);
  }
  if (faults.length > 0)
    return faults.map(fault => invalid(step.stepId, contract, fault, assessmentTemplate(assessment)));
  const firstOf = new Map([...levels].toReversed().map(entry => [folded(entry[1]), entry]));
  return step.assessmentConsequences
    .filter(({ forAssessment }) => forAssessment === undefined || forAssessment === assessmentId)
    .flatMap(({ anyEqualsLevel, effect }) => {
      const hit = firstOf.get(folded(anyEqualsLevel));
      return hit === undefined ? [] : [followUp(step.stepId, assessmentId, hit, effect.guidance)];
    });
}

function levelsOf(dimensions: Json | undefined): ReadonlyMap<string, string> {
  const levels = new Map<string, string>();
  if (dimensions === undefined || !isObject(dimensions)) return levels;
  for (const [dimensionId, said] of Object.entries(dimensions)) {
    const level = isObject(said) ? said.level : said;
    if (typeof level === 'string') levels.set(dimensionId, level);
  }
  return levels;
}

const folded = (level: string) => level.trim().toLowerCase();

const same = (left: string, right: string) => folded(left) === folded(right);

/** The assessments that the step wants; only one of them if there is only one. */
function templatesOf(index: WorkflowIndex, { assessmentRefs }: CompiledStep): Json {
  const wanted = index.compiled.assessments.filter(({ assessmentId }) => assessmentRefs.includes(assessmentId));
  const templates = wanted.map(assessmentTemplate);
  return templates.length === 1 ? (templates[0] ?? null) : templates;
}

function lacking(stepId: string, contract: CompiledContract, assessment: CompiledAssessment): Reason {
  return {
    ...missing(stepId, contract, assessmentTemplate(assessment)),
    message: `Step ${stepId} needs the assessment ${assessment.assessmentId}, and none was given.`,
  };
}

function followUp(
  stepId: string,
  assessmentId: string,
  [dimensionId, level]: readonly [string, string],
  guidance: string,
): Reason {
  return {
    reason: { category: 'contract_violation', detail: 'invalid_required_output' },
    pointer: { kind: 'workflow_step', stepId },
    message: `Step ${stepId} cannot be passed: ${dimensionId} of ${assessmentId} is ${level}, which asks for more work.`,
    suggestedFix: guidance,
  };
}
