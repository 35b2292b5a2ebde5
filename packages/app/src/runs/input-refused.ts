import type { ErrorEnvelope } from '@signalbox/model';
import { usageError } from '../command-error.ts';

/** The plan's own schema says no. */
export function inputRefused(
  plan: string,
  issue: { readonly path: readonly PropertyKey[]; readonly message: string } | undefined,
): ErrorEnvelope<'command/usage'> {
  const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.map(String).join('.')}: `;
  return usageError(
    `The plan ${plan} does not take this input: ${where}${issue?.message ?? 'it does not fit'}.`,
    'Give an input that fits the schema of the plan, as JSON, with --input.',
  );
}
