import type { RuleFinding } from '../lint-finding.ts';
import type { LintedFile } from '../linted-file.ts';
import { member, nameOf, placeOf, type SyntaxNode } from '../syntax.ts';

/** Variables outside of a handler, or of work, that it changes: they are lost with the process, and no frame reads them. */
export function localStateFindings({ syntax, scopes, regionsOf }: LintedFile): readonly RuleFinding[] {
  const found: RuleFinding[] = [];
  for (const node of syntax.nodes) {
    const name = changedBy(node);
    if (name === undefined) continue;
    const declaration = scopes.declarationOf(name, node);
    if (declaration?.type !== 'VariableDeclarator') continue;
    if (node.type === 'CallExpression' && !isKeptInPlace(declaration)) continue;
    const regions = regionsOf(node);
    if (!regions.has('handler') && !regions.has('work')) continue;
    // A variable that lives no longer than the handler is fine.
    const home = scopes.functionAround(declaration);
    const homeRegions = regionsOf(home);
    const isOwn = home.type !== 'Program' && !homeRegions.has('render');
    if (isOwn) continue;
    found.push({
      rule: 'local-state',
      severity: 'warning',
      at: placeOf(node),
      message: `'${name}' is changed here and lives in a variable: it does not survive a restart, and its change renders nothing.`,
      mend: `Keep it in the state of the plan: ctx.state.set('${name}', …), read with ctx.state.get('${name}').`,
    });
  }
  return found;
}

/** The variable that a node assigns to, increments, or calls a mutating method on. */
function changedBy(node: SyntaxNode): string | undefined {
  switch (node.type) {
    case 'AssignmentExpression':
      return rootOf(member(node, 'left'));
    case 'UpdateExpression':
      return rootOf(member(node, 'argument'));
    case 'CallExpression': {
      const callee = member(node, 'callee');
      if (callee?.type !== 'MemberExpression' || !changing.has(nameOf(member(callee, 'property')) ?? ''))
        return undefined;
      const object = member(callee, 'object');
      return object?.type === 'Identifier' ? nameOf(object) : undefined;
    }
    default:
      return undefined;
  }
}

const changing = new Set(['push', 'pop', 'shift', 'unshift', 'splice', 'set', 'add', 'delete', 'clear']);

/** The variable at the start of `a`, `a.b` or `a[0].b`. */
function rootOf(target: SyntaxNode | undefined): string | undefined {
  let node = target;
  while (node?.type === 'MemberExpression') node = member(node, 'object');
  return node?.type === 'Identifier' ? nameOf(node) : undefined;
}

/** Whether a variable is initialized with a new list, map, set or object. */
function isKeptInPlace(declarator: SyntaxNode): boolean {
  const init = member(declarator, 'init');
  if (init?.type === 'ArrayExpression' || init?.type === 'ObjectExpression') return true;
  return init?.type === 'NewExpression' && ['Map', 'Set', 'Array'].includes(nameOf(member(init, 'callee')) ?? '');
}
