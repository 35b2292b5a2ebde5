import type { LintRule, LintSeverity, RuleFinding } from '../lint-finding.ts';
import type { LintedFile } from '../linted-file.ts';
import { member, members, nameOf, placeOf, type SyntaxNode } from '../syntax.ts';

/** Time and randomness that a render or a handler takes from the machine: they are not recorded, and a replay cannot repeat them. */
export function hiddenInputFindings({ syntax, scopes, regionsOf }: LintedFile): readonly RuleFinding[] {
  const found: RuleFinding[] = [];
  for (const node of syntax.nodes) {
    const input = inputOf(node, name => scopes.declarationOf(name, node) === undefined);
    if (input === undefined) continue;
    const regions = regionsOf(node);
    if (regions.has('render')) found.push(finding(node, input, 'error'));
    else if (regions.has('handler')) found.push(finding(node, input, 'warning'));
  }
  return found;
}

interface HiddenInput {
  readonly rule: LintRule & ('time-needs-ctx' | 'chance-needs-ctx');
  readonly code: string;
}

function finding(node: SyntaxNode, { rule, code }: HiddenInput, severity: LintSeverity): RuleFinding {
  const where =
    severity === 'error'
      ? 'in a render: the frame cannot be verified, and two renders of it differ'
      : 'in a handler: the log does not explain what it writes';
  const mend =
    rule === 'time-needs-ctx'
      ? 'Use ctx.now(), which is fixed within a frame and recorded; or do it in the run of a Task.'
      : 'Use ctx.random(), which is repeatable for the same frame; or do it in the run of a Task.';
  return { rule, severity, at: placeOf(node), message: `${code} is called ${where}.`, mend };
}

const calls: Readonly<Record<string, HiddenInput['rule']>> = {
  'Date.now': 'time-needs-ctx',
  'performance.now': 'time-needs-ctx',
  'process.hrtime': 'time-needs-ctx',
  'process.uptime': 'time-needs-ctx',
  'Math.random': 'chance-needs-ctx',
  'crypto.randomUUID': 'chance-needs-ctx',
  'crypto.getRandomValues': 'chance-needs-ctx',
};

function inputOf(node: SyntaxNode, isGlobal: (name: string) => boolean): HiddenInput | undefined {
  const callee = member(node, 'callee');
  if (callee === undefined) return undefined;
  if (node.type === 'NewExpression') {
    const isNow = nameOf(callee) === 'Date' && members(node, 'arguments').length === 0 && isGlobal('Date');
    return isNow ? { rule: 'time-needs-ctx', code: 'new Date()' } : undefined;
  }
  if (node.type !== 'CallExpression') return undefined;
  if (nameOf(callee) === 'Date' && callee.type === 'Identifier' && isGlobal('Date')) {
    return { rule: 'time-needs-ctx', code: 'Date()' };
  }
  if (callee.type !== 'MemberExpression' || callee.computed === true) return undefined;
  const object = member(callee, 'object');
  const base = object?.type === 'Identifier' ? nameOf(object) : undefined;
  const code = `${base}.${nameOf(member(callee, 'property'))}`;
  const rule = Object.hasOwn(calls, code) ? calls[code] : undefined;
  return rule !== undefined && base !== undefined && isGlobal(base) ? { rule, code: `${code}()` } : undefined;
}
