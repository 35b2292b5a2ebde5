import * as z from 'zod';
import { count, name } from '../fields.ts';

const similarity = z.number().min(0).max(1);

const feedbackLoop = z.strictObject({
  enabled: z.boolean(),
  falsePositiveWindowHours: z.number().positive(),
  thresholdAdjustStepUp: similarity,
  thresholdAdjustStepDown: similarity,
  thresholdClampMin: similarity,
  thresholdClampMax: similarity,
  minReviewsForAdjustment: count,
});

export const coherenceConfig = z.strictObject({
  /** Two agents that write the same file within so many ticks are in conflict. */
  fileConflictTicks: count,
  layer1ScanIntervalTicks: z.int().positive(),
  /** Above it, a pair is reviewed. */
  layer1PromotionThreshold: similarity,
  /** Above it, a pair is an advisory issue. */
  layer1AdvisoryThreshold: similarity,
  layer1MaxArtifactsPerScan: z.int().positive(),
  embeddingModel: name,
  layer2MaxReviewsPerHour: count,
  layer2Model: name,
  /** False: pairs above the threshold are issues that nobody confirmed. */
  enableLayer2: z.boolean(),
  feedbackLoop,
});
export type CoherenceConfig = Readonly<z.infer<typeof coherenceConfig>>;

export const defaultCoherenceConfig: CoherenceConfig = {
  fileConflictTicks: 100,
  layer1ScanIntervalTicks: 10,
  layer1PromotionThreshold: 0.85,
  layer1AdvisoryThreshold: 0.7,
  layer1MaxArtifactsPerScan: 500,
  embeddingModel: 'text-embedding-3-small',
  layer2MaxReviewsPerHour: 10,
  layer2Model: 'sonnet',
  enableLayer2: true,
  feedbackLoop: {
    enabled: false,
    falsePositiveWindowHours: 24,
    thresholdAdjustStepUp: 0.02,
    thresholdAdjustStepDown: 0.01,
    thresholdClampMin: 0.75,
    thresholdClampMax: 0.95,
    minReviewsForAdjustment: 20,
  },
};
