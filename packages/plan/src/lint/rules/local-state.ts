import type { RuleFinding } from '../lint-finding.ts';
import type { LintedFile } from '../linted-file.ts';
import { member, nameOf, placeOf, type SyntaxNode } from '../syntax.ts';

/** Variables outside of a handler, or of work, that it changes: they are gone with the process, and no frame reads them. */
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
    // What lives no longer than the handler is its own.
    const home = scopes.functionAround(declaration);
    const homeRegions = regionsOf(home);
    const isOwn = home.type !== 'Program' && !homeRegions.has('render');
    if (isOwn) continue;
    found.push({
      rule: 'local-state',
      severity: 'warning',
      at: placeOf(node),
      message: `'${name}' is changed here and lives in a variable: it does not survive a restart, and nothing renders again.`,
      mend: `Keep it in the state of the plan: ctx.state.set('${name}', …), read with ctx.state.get('${name}').`,
    });
  }
  return found;
}

/** The variable that a node assigns to, counts, or calls a changing method of. */
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

/** The variable that `a`, `a.b` or `a[0].b` begins with. */
function rootOf(target: SyntaxNode | undefined): string | undefined {
  let node = target;
  while (node?.type === 'MemberExpression') node = member(node, 'object');
  return node?.type === 'Identifier' ? nameOf(node) : undefined;
}

/** Whether a variable begins as an empty or written-out list, map, set or object of its own. */
function isKeptInPlace(declarator: SyntaxNode): boolean {
  const init = member(declarator, 'init');
  if (init?.type === 'ArrayExpression' || init?.type === 'ObjectExpression') return true;
  return init?.type === 'NewExpression' && ['Map', 'Set', 'Array'].includes(nameOf(member(init, 'callee')) ?? '');
}
