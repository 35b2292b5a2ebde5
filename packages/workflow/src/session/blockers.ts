import * as z from 'zod';
import { capability, delimiterSafeId } from '../compile/compiled-workflow.ts';
import { boundedText, budgets } from './bounded-text.ts';
import { blockerCode } from './reasons.ts';

/** A loop's iteration when it would have exceeded its limit. */
export const loopLimit = z.strictObject({
  loopId: delimiterSafeId,
  iteration: z.int().nonnegative(),
  maxIterations: z.int().nonnegative(),
});
export type LoopLimit = Readonly<z.infer<typeof loopLimit>>;

const blockerPointer = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('context_key'), key: delimiterSafeId }),
  z.strictObject({ kind: z.literal('context_budget') }),
  z.strictObject({ kind: z.literal('output_contract'), contractRef: boundedText('identifier').min(1) }),
  z.strictObject({ kind: z.literal('capability'), capability }),
  z.strictObject({ kind: z.literal('workflow_step'), stepId: delimiterSafeId }),
]);
export type BlockerPointer = Readonly<z.infer<typeof blockerPointer>>;

const blocker = z.strictObject({
  code: blockerCode,
  pointer: blockerPointer,
  message: boundedText('blockerMessage').min(1),
  suggestedFix: boundedText('blockerSuggestedFix').optional(),
  details: loopLimit.optional(),
});
export type Blocker = Readonly<z.infer<typeof blocker>>;

/** Why an attempt did not advance: what to fix, in a fixed order. */
export const blockerReport = z.strictObject({
  blockers: z
    .array(blocker)
    .min(1)
    .max(budgets.blockers)
    .refine(isSorted, 'blockers are ordered by code, then by what they point to'),
});
export type BlockerReport = z.infer<typeof blockerReport>;

export function sortBlockers(blockers: readonly Blocker[]): readonly Blocker[] {
  return blockers.toSorted((left, right) => compareText(orderOf(left), orderOf(right)));
}

function isSorted(blockers: readonly Blocker[]): boolean {
  const order = blockers.map(orderOf);
  return order.every((key, index) => index === 0 || compareText(order[index - 1] ?? '', key) <= 0);
}

/** NUL sorts before every character of a field, so that fields are compared one after the other. */
function orderOf({ code, pointer }: Blocker): string {
  const { kind, ...fields } = pointer;
  return [code, kind, ...Object.values(fields)].join('\0');
}

export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
