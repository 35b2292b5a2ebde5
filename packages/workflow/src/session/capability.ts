import * as z from 'zod';
import { delimiterSafeId } from '../compile/compiled-workflow.ts';
import { boundedText } from './bounded-text.ts';

export const capabilityStatus = z.enum(['unknown', 'available', 'unavailable']);
export type CapabilityStatus = z.infer<typeof capabilityStatus>;

/** How a capability became known. A mere claim is weak, and unlocks nothing. */
export const capabilityProvenance = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('probe_step'),
    enforcementGrade: z.literal('strong'),
    detail: z.strictObject({
      probeTemplateId: boundedText('identifier'),
      probeStepId: delimiterSafeId,
      result: z.enum(['success', 'failure']),
    }),
  }),
  z.strictObject({
    kind: z.literal('attempted_use'),
    enforcementGrade: z.literal('strong'),
    detail: z.discriminatedUnion('result', [
      z.strictObject({
        attemptContext: z.enum(['workflow_step', 'system_probe']),
        result: z.literal('success'),
      }),
      z.strictObject({
        attemptContext: z.enum(['workflow_step', 'system_probe']),
        result: z.literal('failure'),
        failureCode: z.enum(['tool_missing', 'tool_error', 'policy_blocked', 'unknown']),
      }),
    ]),
  }),
  z.strictObject({
    kind: z.literal('manual_claim'),
    enforcementGrade: z.literal('weak'),
    detail: z.strictObject({
      claimedBy: z.enum(['agent', 'user']),
      claim: z.enum(['available', 'unavailable']),
    }),
  }),
]);
export type CapabilityProvenance = z.infer<typeof capabilityProvenance>;
