import type { SourcePosition } from '../plan-error.ts';

/** Every rule, by its name in a `signalbox-ignore` comment. */
export const lintRules = [
  'runnable-needs-id',
  'list-needs-key',
  'loop-needs-max',
  'loop-needs-exit',
  'agent-needs-max-turns',
  'time-needs-ctx',
  'chance-needs-ctx',
  'local-state',
  'render-write',
  'render-io',
  'import-unknown',
  'prop-unknown',
  'tool-unknown',
  'id-duplicate',
  'ignore-unknown',
  'syntax',
] as const;
export type LintRule = (typeof lintRules)[number];

/** An error would fail or could not be replayed; a warning works but may surprise; an info is only for information. */
export type LintSeverity = 'error' | 'warning' | 'info';

/** A finding in a plan's files: where it is, and how to fix it. */
export interface LintFinding extends SourcePosition {
  readonly rule: LintRule;
  readonly severity: LintSeverity;
  readonly message: string;
  readonly mend: string;
}

/** A rule's finding at a place in the syntax. */
export interface RuleFinding extends Omit<LintFinding, keyof SourcePosition> {
  readonly at: { readonly line: number; readonly column: number };
}
