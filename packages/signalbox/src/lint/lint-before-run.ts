import type { ErrorEnvelope } from '@signalbox/app/host';
import { PlanError, planFailure } from '@signalbox/plan';
import { lintPlan } from '@signalbox/plan/lint';
import { paintOf, type Terminal } from '../terminal.ts';
import { describeFindings } from './lint-report.ts';

/**
 * Prints lint findings before a plan runs. Errors refuse the run; files that cannot be linted are left to the loader, whose
 * errors are better.
 */
export function lintBeforeRun(terminal: Terminal, plan: string): ErrorEnvelope | undefined {
  const linted = lintPlan(plan);
  if (!linted.ok || linted.value.some(({ rule }) => rule === 'syntax')) return undefined;
  const told = linted.value.filter(({ severity }) => severity !== 'info');
  for (const line of describeFindings(told, process.cwd(), paintOf(terminal))) terminal.complain(line);
  const errors = told.filter(({ severity }) => severity === 'error').length;
  if (errors === 0) return undefined;
  const what = `the plan ${plan} has ${errors === 1 ? 'an error' : `${errors} errors`} and was not run`;
  return planFailure(new PlanError('plan/lint-refused', what));
}
