import type { TrustCalibrationConfig } from '@signalbox/model';

/**
 * How far a score may be from what the agent deserves: all of `widenBy` for an agent without an outcome, nothing for one with enough of
 * them. Comparisons that decide whether a person is asked use the side of this margin on which one is.
 */
export function trustMargin(samples: number, { fewSamples }: TrustCalibrationConfig): number {
  if (fewSamples === null || samples >= fewSamples.below) return 0;
  return Math.ceil((fewSamples.widenBy * (fewSamples.below - samples)) / fewSamples.below);
}
