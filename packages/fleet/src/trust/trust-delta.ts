import { type BlastRadius, type TrustCalibrationProfile, type TrustOutcome, trustBaseDeltas } from '@signalbox/model';

/** How much an outcome changes a score. */
export interface TrustDelta {
  readonly base: number;
  /** After profile, risk and diminishing returns, rounded toward zero at each of the two roundings that the specification names. */
  readonly effective: number;
}

/**
 * The delta of an outcome at a score: `base × multiplier × risk weight`, rounded toward zero, and half of that, rounded toward zero,
 * where the score is beyond a threshold. A delta that the project sets is not multiplied by the profile.
 */
export function trustDelta(
  outcome: TrustOutcome,
  score: number,
  profile: TrustCalibrationProfile,
  blastRadius?: BlastRadius,
): TrustDelta {
  const { config } = profile;
  const own = config.deltaTable[outcome];
  const base = own ?? trustBaseDeltas[outcome];
  const multiplier = base < 0 ? profile.negativeDeltaMultiplier : profile.positiveDeltaMultiplier;
  const risk = blastRadius === undefined || config.riskWeights === null ? 1 : config.riskWeights[blastRadius];
  const weighted = towardZero(base * (own === undefined ? multiplier : 1) * risk);
  const isExtreme = score > config.diminishingReturnThresholdHigh || score < config.diminishingReturnThresholdLow;
  return { base, effective: isExtreme ? towardZero(weighted / 2) : weighted };
}

export function clampScore(score: number, { config }: TrustCalibrationProfile): number {
  return Math.min(config.ceilingScore, Math.max(config.floorScore, score));
}

/** The score after some points of decay: toward the target, and upward no further than the ceiling of decay. */
export function decayedScore(score: number, points: number, { config }: TrustCalibrationProfile): number {
  if (score > config.decayTargetScore) return Math.max(config.decayTargetScore, score - points);
  const highest = Math.min(config.decayTargetScore, config.decayCeiling);
  return score < highest ? Math.min(highest, score + points) : score;
}

/** The points of decay that are due after some ticks without activity. */
export function decayPoints(inactiveTicks: number, { config }: TrustCalibrationProfile): number {
  if (config.decayRatePerTick === 0) return 0;
  return Math.floor(inactiveTicks / Math.round(1 / config.decayRatePerTick));
}

/** Without a negative zero, which no JSON has. */
function towardZero(value: number): number {
  return Math.trunc(value) + 0;
}
