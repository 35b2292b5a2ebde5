import path from 'node:path';
import type { LintFinding } from '@signalbox/plan/lint';
import { type Paint, shown } from '../terminal.ts';

/** A finding of the linter, or an error of the type checker: its rule is the checker's code. */
export type Problem = Omit<LintFinding, 'rule'> & { readonly rule: string };

/** Two lines per finding: its place and message, then how to fix it. Paths are relative to the working directory. */
export function describeFindings(findings: readonly Problem[], cwd: string, paint: Paint): readonly string[] {
  return findings.flatMap(({ file, line, column, severity, rule, message, mend }) => [
    `${shown(placeOf(file, cwd))}:${line}:${column} ${severityOf(severity, paint)} ${shown(message)} ${paint.faint(rule)}`,
    `  ${shown(mend)}`,
  ]);
}

/** One summary line. */
export function describeCounts(findings: readonly Problem[]): string {
  const counts = (['error', 'warning', 'info'] as const).map(severity => {
    const count = findings.filter(finding => finding.severity === severity).length;
    return count === 0 ? undefined : `${count} ${severity}${count === 1 || severity === 'info' ? '' : 's'}`;
  });
  return counts.filter(count => count !== undefined).join(', ') || 'No problems found.';
}

function placeOf(file: string, cwd: string): string {
  const relative = path.relative(cwd, file);
  return relative.startsWith('..') ? file : relative;
}

function severityOf(severity: Problem['severity'], paint: Paint): string {
  if (severity === 'info') return paint.faint(severity);
  return severity === 'error' ? paint.bad(severity) : paint.doubtful(severity);
}
