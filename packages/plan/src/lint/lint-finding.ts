import type { SourcePosition } from '../plan-error.ts';

/** Every rule, by the name that a `signalbox-ignore` comment takes. */
export const lintRules = [
  'runnable-needs-id',
  'list-needs-key',
  'loop-needs-max',
  'loop-needs-exit',
  'agent-needs-max-turns',
  'time-needs-ctx',
  'chance-needs-ctx',
  'local-state',
  'ignore-unknown',
  'syntax',
] as const;
export type LintRule = (typeof lintRules)[number];

/** An error would fail or could not be replayed; a warning works and may surprise; an info is for who wants to know. */
export type LintSeverity = 'error' | 'warning' | 'info';

/** Something in the files of a plan, where it is, and how to mend it. */
export interface LintFinding extends SourcePosition {
  readonly rule: LintRule;
  readonly severity: LintSeverity;
  readonly message: string;
  readonly mend: string;
}

/** What a rule says of a place in the syntax. */
export interface RuleFinding extends Omit<LintFinding, keyof SourcePosition> {
  readonly at: { readonly line: number; readonly column: number };
}
