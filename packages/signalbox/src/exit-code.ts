import type { ErrorEnvelope } from '@signalbox/app';

/** The program's exit codes. */
export const exitCodes = { done: 0, failed: 1, usage: 2, waiting: 3, refused: 4 } as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export function exitCodeOf(error: ErrorEnvelope): ExitCode {
  if (error.code === 'command/usage' || error.code === 'VALIDATION_ERROR') return exitCodes.usage;
  return refusals.includes(error.code) ? exitCodes.refused : exitCodes.failed;
}

/** Nothing was done; the caller decides what to do next. */
const refusals: readonly ErrorEnvelope['code'][] = [
  'store/owned',
  'store/not-private',
  'run/plan-changed',
  'plan/lint-refused',
  'plan/place-refused',
  'run/foreign-plan',
  'run/effects-outside',
  'run/unconfirmed',
  'run/signal-unknown',
  'run/signal-invalid',
  'state/conflict',
  'state/root-replaced',
  'fleet/braked',
];
