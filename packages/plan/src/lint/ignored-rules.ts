import { type LintRule, lintRules, type RuleFinding } from './lint-finding.ts';
import type { Comment } from './syntax.ts';

/**
 * Drops findings that the author chose to ignore: `// signalbox-ignore rule, rule` applies to its own line and the next. A comment that
 * names no rule of ours is itself a finding.
 */
export function withoutIgnored(findings: readonly RuleFinding[], comments: readonly Comment[]): readonly RuleFinding[] {
  const ignored = new Map<number, Set<string>>();
  const unknown: RuleFinding[] = [];
  for (const { text, line, column, endLine } of comments) {
    const named = /signalbox-ignore\b[ \t]*([a-z-]+(?:\s*,\s*[a-z-]+)*)?/.exec(text);
    if (named === null) continue;
    const rules = (named[1] ?? '').split(',').map(rule => rule.trim());
    for (const rule of rules) {
      if (isRule(rule)) for (const at of [line, endLine, endLine + 1]) add(ignored, at, rule);
      else unknown.push(unknownRule(rule, { line, column: column + 1 }));
    }
  }
  return [...findings.filter(({ rule, at }) => ignored.get(at.line)?.has(rule) !== true), ...unknown];
}

function isRule(name: string): name is LintRule {
  return (lintRules as readonly string[]).includes(name);
}

function add(ignored: Map<number, Set<string>>, line: number, rule: string): void {
  ignored.set(line, (ignored.get(line) ?? new Set()).add(rule));
}

function unknownRule(rule: string, at: RuleFinding['at']): RuleFinding {
  return {
    rule: 'ignore-unknown',
    severity: 'warning',
    at,
    message:
      rule === ''
        ? 'A signalbox-ignore comment names no rule.'
        : `A signalbox-ignore comment names '${rule}', which is not a rule.`,
    mend: `Name one of: ${lintRules.join(', ')}.`,
  };
}
