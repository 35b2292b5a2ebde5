import {
  agentId,
  controlMode,
  crashRecoveryPolicy,
  DEFAULT_SNAPSHOT_TOKENS,
  decisionTimeoutPolicy,
  defaultCrashRecovery,
  defaultTickConfig,
  orphanedDecisionPolicy,
  projectBrief,
  tickConfig,
  trustCalibrationProfile,
  trustCalibrationProfiles,
} from '@signalbox/model';
import * as z from 'zod';
import { coherenceConfig, defaultCoherenceConfig } from './coherence/coherence-config.ts';
import { modeTimeouts, recommendedOrphanPolicies } from './decisions/mode-policies.ts';
import { count } from './fields.ts';
import { defaultPipelineConfig, pipelineConfig } from './pipeline/pipeline-state.ts';

/** Everything that a project sets. A change of it is a fact, so that the log alone says what held when. */
export const fleetConfig = z.strictObject({
  project: projectBrief,
  ticks: tickConfig,
  pipeline: pipelineConfig,
  trust: trustCalibrationProfile,
  decisions: z.strictObject({
    /** By control mode; none in orchestrator mode, whatever is here. */
    timeouts: z.record(controlMode, decisionTimeoutPolicy),
    /** Of single agents, instead of the mode's. */
    agentTimeouts: z.record(agentId, decisionTimeoutPolicy),
    orphans: z.record(controlMode, orphanedDecisionPolicy),
  }),
  /** For every agent that has no policy of its own. */
  crashRecovery: crashRecoveryPolicy,
  agentCrashRecovery: z.record(agentId, crashRecoveryPolicy),
  coherence: coherenceConfig,
  /** What a snapshot for an agent may take. */
  snapshotTokens: count,
});
export type FleetConfig = Readonly<z.infer<typeof fleetConfig>>;

export const defaultFleetConfig: FleetConfig = {
  project: { title: 'Project', description: '', goals: [], checkpoints: [] },
  ticks: defaultTickConfig,
  pipeline: defaultPipelineConfig,
  trust: trustCalibrationProfiles.balanced,
  decisions: { timeouts: modeTimeouts, agentTimeouts: {}, orphans: recommendedOrphanPolicies },
  crashRecovery: defaultCrashRecovery,
  agentCrashRecovery: {},
  coherence: defaultCoherenceConfig,
  snapshotTokens: DEFAULT_SNAPSHOT_TOKENS,
};
