import type { Json, JsonObject } from '@signalbox/model';
import type { CompiledContract, CompiledLoop, CompiledStep } from '../compile/compiled-workflow.ts';
import { shapeFaults } from '../compile/shape-check.ts';
import { loopName } from '../compile/workflow-id.ts';
import type { LoopTurn } from '../session/step-instance-key.ts';
import { isObject } from './condition-value.ts';
import { contractTemplate } from './output-template.ts';
import type { Reason } from './reason.ts';
import type { WorkflowIndex } from './workflow-index.ts';

/** What a step's artifacts lack of its output contract. */
export function judgeContract(
  index: WorkflowIndex,
  step: CompiledStep,
  loopPath: readonly LoopTurn[],
  artifacts: readonly Json[],
): readonly Reason[] {
  if (step.output === undefined) return [];
  const { contractRef, required } = step.output;
  const contract = index.contracts.get(contractRef);
  if (contract === undefined) return [unknownContract(step.stepId, contractRef)];
  const given = artifactsOf(contract, artifacts);
  if (given.length === 0) return required ? [missing(step.stepId, contract)] : [];
  return given
    .flatMap(artifact => artifactFaults(index, contract, loopPath, artifact))
    .map(fault => invalid(step.stepId, contract, fault));
}

/** The artifacts covered by a contract. */
export function artifactsOf(contract: CompiledContract, artifacts: readonly Json[]): readonly JsonObject[] {
  return artifacts.filter(isObject).filter(artifact => artifact.kind === contract.artifactKind);
}

/** How an artifact breaks its contract; a loop that it names must be the innermost active one. */
export function artifactFaults(
  index: WorkflowIndex,
  contract: CompiledContract,
  loopPath: readonly LoopTurn[],
  artifact: JsonObject,
): readonly string[] {
  const { kind: _, ...rest } = artifact;
  const faults = shapeFaults(contract.shape, rest).map(({ path, reason }) => `${path === '' ? 'it' : path} ${reason}`);
  if (faults.length > 0 || contract.artifactKind !== LOOP_CONTROL_KIND || rest.loopId === undefined) return faults;
  const innermost = loopPath.at(-1)?.loopId;
  const loop = innermost === undefined ? undefined : index.loops.get(innermost);
  // Outside loops there is nothing to confuse.
  if (loop === undefined || typeof rest.loopId !== 'string' || namesOf(index, loop).has(loopName(rest.loopId)))
    return [];
  return [`/loopId must name the innermost active loop, ${loop.loopId}`];
}

/** Names that an agent may use for a loop: its id, and the name in its condition. */
function namesOf(index: WorkflowIndex, loop: CompiledLoop): ReadonlySet<string> {
  const condition = loop.control.kind === 'condition_ref' ? index.conditions.get(loop.control.conditionId) : undefined;
  return new Set([loopName(loop.loopId), ...(condition?.kind === 'loop_control' ? [condition.loopId] : [])]);
}

const LOOP_CONTROL_KIND = 'wr.loop_control';

/** `template` is what the step wants, with placeholders; defaults to the contract's. */
export function missing(stepId: string, contract: CompiledContract, template = contractTemplate(contract)): Reason {
  return {
    reason: { category: 'contract_violation', detail: 'missing_required_output' },
    pointer: { kind: 'output_contract', contractRef: contract.contractRef },
    message: `Step ${stepId} needs an artifact of kind ${contract.artifactKind}, and none was given.`,
    suggestedFix: `Add it to output.artifacts: ${JSON.stringify(template)}`,
  };
}

export function invalid(
  stepId: string,
  contract: CompiledContract,
  fault: string,
  template = contractTemplate(contract),
): Reason {
  return {
    reason: { category: 'contract_violation', detail: 'invalid_required_output' },
    pointer: { kind: 'output_contract', contractRef: contract.contractRef },
    message: `The artifact ${contract.artifactKind} of step ${stepId} does not fit: ${fault}.`,
    suggestedFix: `Fix it and send all artifacts again: ${JSON.stringify(template)}`,
  };
}

export function unknownContract(stepId: string, contractRef: string): Reason {
  return {
    reason: { category: 'unexpected', detail: 'invariant_violation' },
    pointer: { kind: 'workflow_step', stepId },
    message: `Step ${stepId} asks for the contract ${contractRef}, which its compiled workflow does not hold.`,
    suggestedFix: 'Start a new run from the workflow source, which is compiled again.',
  };
}
