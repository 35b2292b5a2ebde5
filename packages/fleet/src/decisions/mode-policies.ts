import {
  type ControlMode,
  DEFAULT_ORPHAN_GRACE_MS,
  type DecisionTimeoutPolicy,
  type OrphanedDecisionPolicy,
} from '@signalbox/model';

/** What happens to a decision that nobody answers, by control mode. In orchestrator mode a person must answer. */
export const modeTimeouts: { readonly [Mode in ControlMode]: DecisionTimeoutPolicy } = {
  orchestrator: { timeoutTicks: null, onTimeout: 'escalate' },
  adaptive: { timeoutTicks: 50, onTimeout: 'escalate' },
  ecosystem: { timeoutTicks: 20, onTimeout: 'auto_recommend' },
};

/** What happens to the decisions of a killed agent, by control mode, where the project does not say. */
export const recommendedOrphanPolicies: { readonly [Mode in ControlMode]: OrphanedDecisionPolicy } = {
  orchestrator: { default: 'triage', gracePeriodMs: DEFAULT_ORPHAN_GRACE_MS },
  adaptive: { default: 'triage', gracePeriodMs: DEFAULT_ORPHAN_GRACE_MS, perSubtype: { tool_approval: 'cancel' } },
  ecosystem: { default: 'cancel', gracePeriodMs: DEFAULT_ORPHAN_GRACE_MS, perSubtype: { option: 'triage' } },
};
