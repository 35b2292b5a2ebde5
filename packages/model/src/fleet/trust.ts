import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { agentId, approvalId, artifactId } from '../ids.ts';
import { text } from '../json.ts';
import { blastRadius, count, tick } from './scales.ts';

/** Everything that changes an agent's trust, except time. */
export const trustOutcome = z.enum([
  'human_approves_recommended_option',
  'human_approves_tool_call',
  'human_approves_always',
  'human_picks_non_recommended',
  'human_modifies_tool_args',
  'human_rejects_tool_call',
  'human_overrides_via_brake',
  'artifact_approved',
  'artifact_rejected',
  'coherence_issue_confirmed',
  'coherence_issue_missed',
  'decision_auto_resolved',
  'task_completed_success',
  'task_completed_partial',
  'task_abandoned_or_max_turns',
]);
export type TrustOutcome = z.infer<typeof trustOutcome>;

/** The change of each outcome, before risk, profile and diminishing returns are applied. */
export const trustBaseDeltas: Readonly<Record<TrustOutcome, number>> = {
  human_approves_recommended_option: 2,
  human_approves_tool_call: 1,
  human_approves_always: 3,
  human_picks_non_recommended: -1,
  human_modifies_tool_args: -1,
  human_rejects_tool_call: -2,
  human_overrides_via_brake: -3,
  artifact_approved: 1,
  artifact_rejected: -2,
  coherence_issue_confirmed: 1,
  coherence_issue_missed: -2,
  decision_auto_resolved: 0,
  task_completed_success: 1,
  task_completed_partial: 0,
  task_abandoned_or_max_turns: -1,
};

const score = z.number().min(0).max(100);
const weight = z.number().nonnegative();

/** The parameters of trust, per project. */
export const trustCalibrationConfig = z.strictObject({
  initialScore: score,
  floorScore: score,
  ceilingScore: score,
  decayTargetScore: score,
  /** Points per tick without activity. */
  decayRatePerTick: z.number().nonnegative(),
  /** The highest score that inactivity alone can lead to. */
  decayCeiling: score,
  diminishingReturnThresholdHigh: score,
  diminishingReturnThresholdLow: score,
  /** Replaces base deltas; what is here is not multiplied by a profile. */
  deltaTable: z.partialRecord(trustOutcome, z.number()),
  /** Multiplies a delta by the blast radius of what was decided (R34); null: all deltas count alike. */
  riskWeights: z.record(blastRadius, weight).nullable(),
  /** Raises the threshold for agents with few outcomes, by up to `widenBy` points for an agent with none. */
  fewSamples: z.strictObject({ below: z.int().positive(), widenBy: score }).nullable(),
  /** Records what deltas would be, and changes no score. */
  calibrationMode: z.boolean(),
});
export type TrustCalibrationConfig = Readonly<z.infer<typeof trustCalibrationConfig>>;

export const defaultTrustCalibration: TrustCalibrationConfig = {
  initialScore: 50,
  floorScore: 10,
  ceilingScore: 100,
  decayTargetScore: 50,
  decayRatePerTick: 0.01,
  decayCeiling: 50,
  diminishingReturnThresholdHigh: 90,
  diminishingReturnThresholdLow: 20,
  deltaTable: {},
  riskWeights: null,
  fewSamples: null,
  calibrationMode: false,
};

/** Weights for projects that turn risk on: approving something harmless earns half, `unknown` counts most. */
export const defaultRiskWeights = {
  trivial: 0.5,
  small: 0.75,
  medium: 1,
  large: 1.5,
  unknown: 2,
} as const satisfies Record<z.infer<typeof blastRadius>, number>;

export const trustProfileName = z.enum(['conservative', 'balanced', 'permissive']);
export type TrustProfileName = z.infer<typeof trustProfileName>;

/** A preset of the parameters. It configures the engine; a `TrustProfile` is what the engine knows of one agent. */
export const trustCalibrationProfile = z.strictObject({
  name: trustProfileName,
  config: trustCalibrationConfig,
  negativeDeltaMultiplier: weight,
  positiveDeltaMultiplier: weight,
});
export type TrustCalibrationProfile = Readonly<z.infer<typeof trustCalibrationProfile>>;

export const trustCalibrationProfiles: Readonly<Record<TrustProfileName, TrustCalibrationProfile>> = {
  conservative: {
    name: 'conservative',
    config: { ...defaultTrustCalibration, initialScore: 30, decayRatePerTick: 0.02 },
    negativeDeltaMultiplier: 1.5,
    positiveDeltaMultiplier: 0.75,
  },
  balanced: {
    name: 'balanced',
    config: defaultTrustCalibration,
    negativeDeltaMultiplier: 1,
    positiveDeltaMultiplier: 1,
  },
  permissive: {
    name: 'permissive',
    config: { ...defaultTrustCalibration, initialScore: 70, decayRatePerTick: 0.005 },
    negativeDeltaMultiplier: 0.5,
    positiveDeltaMultiplier: 1.25,
  },
};

/** One change of an agent's trust, with everything needed to compute it again. */
export const trustChange = z.strictObject({
  agentId,
  /** `decay`: time passed without activity. */
  cause: z.union([trustOutcome, z.literal('decay')]),
  baseDelta: z.number(),
  /** After risk, profile and diminishing returns, before the score is kept in its range. */
  effectiveDelta: z.number(),
  previousScore: score,
  /** The same as before in calibration mode. */
  newScore: score,
  /** The score as it would be without calibration mode. */
  hypotheticalScore: score,
  tick,
  at: timestamp,
  reason: text,
  decisionId: approvalId.optional(),
  artifactId: artifactId.optional(),
  blastRadius: blastRadius.optional(),
});
export type TrustChange = Readonly<z.infer<typeof trustChange>>;

/** What is known of one agent's trust. It never reaches an agent, in any form (R14). */
export const trustProfile = z.strictObject({
  agentId,
  score,
  hypotheticalScore: score,
  /** Outcomes so far, without decay. */
  samples: count,
  lastActiveTick: tick,
  history: z.array(trustChange).readonly(),
});
export type TrustProfile = Readonly<z.infer<typeof trustProfile>>;
