import type { Json } from '@signalbox/model';
import type { Capability, CompiledStep } from '../compile/compiled-workflow.ts';
import type { CapabilityProvenance, CapabilityStatus } from '../session/capability.ts';
import { artifactFaults, artifactsOf } from './contract-judgement.ts';
import type { Reason } from './reason.ts';
import type { WorkflowIndex } from './workflow-index.ts';

/** Capabilities known with strong provenance; missing ones are unknown. */
export type KnownCapabilities = Readonly<Partial<Record<Capability, CapabilityStatus>>>;

export interface ObservedCapability {
  readonly capability: Capability;
  readonly status: CapabilityStatus;
  readonly provenance: CapabilityProvenance;
}

/** The result of a probe step: the newest valid observation of its capability. */
export function observedCapability(
  index: WorkflowIndex,
  step: CompiledStep,
  artifacts: readonly Json[],
): ObservedCapability | undefined {
  const { probe } = step;
  const contract = index.contracts.get(OBSERVATION_CONTRACT);
  if (probe === undefined || contract === undefined) return undefined;
  const observation = artifactsOf(contract, artifacts).findLast(
    artifact => artifact.capability === probe.capability && artifactFaults(index, contract, [], artifact).length === 0,
  );
  if (observation === undefined) return undefined;
  const result = observation.result === 'success' ? 'success' : 'failure';
  return {
    capability: probe.capability,
    status: result === 'success' ? 'available' : 'unavailable',
    provenance: {
      kind: 'probe_step',
      enforcementGrade: 'strong',
      detail: { probeTemplateId: probe.templateId, probeStepId: step.stepId, result },
    },
  };
}

const OBSERVATION_CONTRACT = 'wr.contracts.capability_observation';

/** Missing required capabilities at a step. One whose probe is still ahead is not required yet. */
export function judgeCapabilities(
  index: WorkflowIndex,
  step: CompiledStep,
  known: KnownCapabilities,
): { readonly reasons: readonly Reason[]; readonly preferredMissing: readonly Capability[] } {
  const { capabilities, steps } = index.compiled;
  const here = steps.indexOf(step);
  const reasons = capabilities.required.flatMap(capability => {
    const probe = steps.findIndex(candidate => candidate.probe?.capability === capability);
    const status = known[capability] ?? 'unknown';
    return probe > here || status === 'available' ? [] : [lacking(step.stepId, capability, status)];
  });
  return {
    reasons,
    preferredMissing: capabilities.preferred.filter(capability => known[capability] === 'unavailable'),
  };
}

function lacking(stepId: string, capability: Capability, status: Exclude<CapabilityStatus, 'available'>): Reason {
  const unknown = status === 'unknown';
  return {
    reason: {
      category: 'capability_missing',
      detail: unknown ? 'required_capability_unknown' : 'required_capability_unavailable',
    },
    pointer: { kind: 'capability', capability },
    message: unknown
      ? `Step ${stepId} needs ${capability}, and nothing has shown that it is there.`
      : `Step ${stepId} needs ${capability}, and using it failed.`,
    suggestedFix: unknown
      ? `Use ${capability} once as the probe step asks and report the result; saying that it is there is not enough.`
      : `Ask the person to make ${capability} available, then probe it again.`,
  };
}
