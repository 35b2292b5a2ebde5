export type { LintFinding } from './lint-finding.ts';
export { lintPlan, localFilesOf } from './lint-plan.ts';
