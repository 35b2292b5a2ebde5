export { type LintFinding, type LintRule, type LintSeverity, lintRules } from './lint-finding.ts';
export { lintPlan } from './lint-plan.ts';
