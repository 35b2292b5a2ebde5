export type { LintFinding } from './lint-finding.ts';
export { lintPlan } from './lint-plan.ts';
