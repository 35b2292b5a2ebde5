import { type Json, previewRun, thisMachine } from '@signalbox/app/host';
import { lintPlan } from '@signalbox/plan/lint';
import { describeFindings } from '../lint/lint-report.ts';
import { checkTypes } from '../lint/type-check.ts';
import { describePreview } from '../preview-report.ts';
import { type Paint, shown } from '../terminal.ts';

export interface PlanCheck {
  /** For a person to read. */
  readonly text: string;
  /** Whether the plan can be run. Types do not decide that. */
  readonly canRun: boolean;
  /** Why types were not checked. */
  readonly notes: readonly string[];
}

/** Lints a plan, checks its types where TypeScript is installed, and previews its first frame. */
export async function checkPlan(plan: string, input: Json, paint: Paint, ending: AbortSignal): Promise<PlanCheck> {
  const types = checkTypes([plan], ending);
  const linted = lintPlan(plan);
  const findings = linted.ok ? linted.value : [];
  const lines = describeFindings(findings, process.cwd(), paint);
  const isRefused = findings.some(({ severity }) => severity === 'error');
  const preview = isRefused ? undefined : await previewRun(plan, input, thisMachine());
  const wrong = await types;
  const fault = preview === undefined || preview.ok ? undefined : preview.error;
  return {
    text: [
      ...lines,
      ...describeFindings(wrong.problems, process.cwd(), paint),
      ...(fault === undefined ? [] : [`${paint.bad('error:')} ${shown(fault.message)}`, shown(fault.suggestion)]),
      ...(preview?.ok ? [describePreview(preview.value, paint)] : []),
    ].join('\n'),
    canRun: preview?.ok === true,
    notes: wrong.notes,
  };
}
