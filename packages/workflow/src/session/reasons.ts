import * as z from 'zod';

/** Things that only the person can give. */
export const userOnlyDependencyReason = z.enum([
  'needs_user_secret_or_token',
  'needs_user_account_access',
  'needs_user_artifact',
  'needs_user_choice',
  'needs_user_approval',
  'needs_user_environment_action',
]);
export type UserOnlyDependencyReason = z.infer<typeof userOnlyDependencyReason>;

/** The only choices that an agent may not assume; `needs_user_choice` is for these alone. */
export const nonAssumableChoiceKind = z.enum([
  'preference_tradeoff',
  'scope_boundary',
  'irreversible_action',
  'external_side_effect',
  'policy_or_compliance',
]);
export type NonAssumableChoiceKind = z.infer<typeof nonAssumableChoiceKind>;

const contractViolation = z.enum(['missing_required_output', 'invalid_required_output']);
const capabilityMissing = z.enum(['required_capability_unavailable', 'required_capability_unknown']);
const unexpectedReason = z.enum(['invariant_violation', 'storage_corruption_detected']);

/** Why a step cannot simply continue: the shared meaning of blockers and gaps. */
export const gapReason = z.discriminatedUnion('category', [
  z.strictObject({ category: z.literal('user_only_dependency'), detail: userOnlyDependencyReason }),
  z.strictObject({ category: z.literal('contract_violation'), detail: contractViolation }),
  z.strictObject({ category: z.literal('capability_missing'), detail: capabilityMissing }),
  z.strictObject({ category: z.literal('unexpected'), detail: unexpectedReason }),
]);
export type GapReason = Readonly<z.infer<typeof gapReason>>;
export type GapCategory = GapReason['category'];

/** `contract_violation:missing_required_output` */
export type ReasonCode = { [R in GapReason as R['category']]: `${R['category']}:${R['detail']}` }[GapCategory];

export const blockerCode = z.enum([
  'USER_ONLY_DEPENDENCY',
  'MISSING_REQUIRED_OUTPUT',
  'INVALID_REQUIRED_OUTPUT',
  'REQUIRED_CAPABILITY_UNKNOWN',
  'REQUIRED_CAPABILITY_UNAVAILABLE',
  'INVARIANT_VIOLATION',
  'STORAGE_CORRUPTION_DETECTED',
]);
export type BlockerCode = z.infer<typeof blockerCode>;

const blockerCodes: Readonly<Record<ReasonCode, BlockerCode>> = {
  'user_only_dependency:needs_user_secret_or_token': 'USER_ONLY_DEPENDENCY',
  'user_only_dependency:needs_user_account_access': 'USER_ONLY_DEPENDENCY',
  'user_only_dependency:needs_user_artifact': 'USER_ONLY_DEPENDENCY',
  'user_only_dependency:needs_user_choice': 'USER_ONLY_DEPENDENCY',
  'user_only_dependency:needs_user_approval': 'USER_ONLY_DEPENDENCY',
  'user_only_dependency:needs_user_environment_action': 'USER_ONLY_DEPENDENCY',
  'contract_violation:missing_required_output': 'MISSING_REQUIRED_OUTPUT',
  'contract_violation:invalid_required_output': 'INVALID_REQUIRED_OUTPUT',
  'capability_missing:required_capability_unknown': 'REQUIRED_CAPABILITY_UNKNOWN',
  'capability_missing:required_capability_unavailable': 'REQUIRED_CAPABILITY_UNAVAILABLE',
  'unexpected:invariant_violation': 'INVARIANT_VIOLATION',
  'unexpected:storage_corruption_detected': 'STORAGE_CORRUPTION_DETECTED',
};

export const reasonCodes = Object.keys(blockerCodes) as readonly ReasonCode[];

export function reasonCodeOf(reason: GapReason): ReasonCode {
  return `${reason.category}:${reason.detail}` as ReasonCode;
}

export function blockerCodeOf(reason: GapReason): BlockerCode {
  return blockerCodes[reasonCodeOf(reason)];
}

/** The categories that stop a run in the modes that can be stopped. */
export function isBlockingCategory(category: GapCategory): boolean {
  return category !== 'unexpected';
}
