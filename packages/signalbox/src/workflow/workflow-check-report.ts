import type { CheckedWorkflow } from '@signalbox/app/guided';
import { type Paint, shown } from '../terminal.ts';

/** The result of a check, for programs. */
export function reportOf(checked: CheckedWorkflow) {
  return checked.ok
    ? { ok: true as const, workflowHash: checked.value.workflowHash, problems: checked.value.warnings }
    : { ok: false as const, problems: checked.error.problems };
}

/** The same for people: every problem with its place in the file and its fix. */
export function describeCheck(target: string, report: ReturnType<typeof reportOf>, paint: Paint): string {
  const { problems } = report;
  const errors = problems.filter(each => each.severity === 'error').length;
  const counts = `${errors} errors, ${problems.length - errors} warnings`;
  return [
    ...problems.flatMap(({ severity, code, path, message, suggestion }) => [
      `${severity === 'error' ? paint.bad('✗') : paint.doubtful('!')} ${shown(path) || '/'}  ${paint.faint(code)}`,
      `  ${shown(message)}`,
      `  ${shown(suggestion)}`,
    ]),
    report.ok
      ? `${paint.good(`✓ ${shown(target)} can be run`)}: ${counts}\n  ${report.workflowHash}`
      : `${paint.bad(`✗ ${shown(target)} cannot be run`)}: ${counts}`,
  ].join('\n');
}
