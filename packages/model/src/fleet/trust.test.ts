import {
  blastRadius,
  defaultRiskWeights,
  defaultTrustCalibration,
  type TrustOutcome,
  type TrustProfileName,
  trustBaseDeltas,
  trustCalibrationConfig,
  trustCalibrationProfile,
  trustCalibrationProfiles,
  trustChange,
  trustOutcome,
  trustProfileName,
} from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { calibrationSample, trustChangeSample } from '../../test/fleet-samples.ts';
import { refusal } from '../../test/refusal.ts';

describe('trust', () => {
  it('[M208] changes by the amount that the specification gives each outcome', () => {
    const table: readonly (readonly [TrustOutcome, number])[] = [
      ['human_approves_recommended_option', 2],
      ['human_approves_tool_call', 1],
      ['human_approves_always', 3],
      ['human_picks_non_recommended', -1],
      ['human_modifies_tool_args', -1],
      ['human_rejects_tool_call', -2],
      ['human_overrides_via_brake', -3],
      ['artifact_approved', 1],
      ['artifact_rejected', -2],
      ['coherence_issue_confirmed', 1],
      ['coherence_issue_missed', -2],
      ['decision_auto_resolved', 0],
      ['task_completed_success', 1],
      ['task_completed_partial', 0],
      ['task_abandoned_or_max_turns', -1],
    ];
    expect(Object.entries(trustBaseDeltas)).toEqual(table);
    expect(trustOutcome.options).toEqual(table.map(([outcome]) => outcome));
  });

  it('[M209] starts at 50 between 10 and 100, moves back by a point in 100 ticks, and slows over 90 and under 20', () => {
    expect(trustCalibrationConfig.parse(defaultTrustCalibration)).toEqual({
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
    });
  });

  it('[M209] has the three profiles of the specification', () => {
    const names: readonly TrustProfileName[] = trustProfileName.options;
    const rows = names.map(name => {
      const profile = trustCalibrationProfile.parse(trustCalibrationProfiles[name]);
      const { config, negativeDeltaMultiplier, positiveDeltaMultiplier } = profile;
      return [
        profile.name,
        config.initialScore,
        config.decayRatePerTick,
        negativeDeltaMultiplier,
        positiveDeltaMultiplier,
      ];
    });
    expect(rows).toEqual([
      ['conservative', 30, 0.02, 1.5, 0.75],
      ['balanced', 50, 0.01, 1, 1],
      ['permissive', 70, 0.005, 0.5, 1.25],
    ]);
  });

  it('[M209] weighs every blast radius, more for a larger one and most for an unknown one', () => {
    const weights = blastRadius.options.map(radius => defaultRiskWeights[radius]);
    expect(weights).toEqual([...weights].sort((a, b) => a - b));
    expect(refusal(trustCalibrationConfig, { ...calibrationSample, riskWeights: { trivial: 1 } })).toHaveLength(4);
  });

  it.each([
    ['an outcome that does not exist', { deltaTable: { human_smiles: 1 } }, 'deltaTable: unrecognized_keys'],
    ['a score over 100', { ceilingScore: 101 }, 'ceilingScore: too_big'],
    ['a decay that adds', { decayRatePerTick: -1 }, 'decayRatePerTick: too_small'],
    ['no samples as few', { fewSamples: { below: 0, widenBy: 1 } }, 'fewSamples.below: too_small'],
  ])('[M209] refuses %s', (_, change, problem) => {
    expect(refusal(trustCalibrationConfig, { ...calibrationSample, ...change })).toEqual([problem]);
  });

  it('[M208] records a change by an outcome or by decay, and by nothing else', () => {
    expect(refusal(trustChange, { ...trustChangeSample, cause: 'decay' })).toEqual([]);
    expect(refusal(trustChange, { ...trustChangeSample, cause: 'mood' })).not.toEqual([]);
  });
});
