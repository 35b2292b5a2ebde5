import { isFunction, member, members, nameOf, type Syntax, type SyntaxNode } from './syntax.ts';

/** What the names of a file refer to. */
export interface Scopes {
  /** The node that declares what a name means at a place: a declarator, a function, a class, a parameter, an import. */
  declarationOf(name: string, at: SyntaxNode): SyntaxNode | undefined;
  /** The function or program that contains a declaration. */
  functionAround(node: SyntaxNode): SyntaxNode;
  /** Every use of a name as a value, except its declaration. */
  references(declaration: SyntaxNode): readonly SyntaxNode[];
}

export function createScopes({ program, nodes, parentOf }: Syntax): Scopes {
  const declared = new Map<SyntaxNode, Map<string, SyntaxNode>>();
  const places = new Set<SyntaxNode>();

  function declare(scope: SyntaxNode, target: SyntaxNode | undefined, declaration: SyntaxNode): void {
    if (target === undefined) return;
    switch (target.type) {
      case 'Identifier': {
        places.add(target);
        const names = declared.get(scope) ?? new Map<string, SyntaxNode>();
        declared.set(scope, names.set(String(target.name), declaration));
        return;
      }
      case 'ObjectPattern':
        for (const property of members(target, 'properties')) {
          declare(scope, member(property, 'value') ?? member(property, 'argument'), declaration);
        }
        return;
      case 'ArrayPattern':
        for (const element of members(target, 'elements')) declare(scope, element, declaration);
        return;
      case 'AssignmentPattern':
        declare(scope, member(target, 'left'), declaration);
        return;
      case 'RestElement':
        declare(scope, member(target, 'argument'), declaration);
        return;
      case 'TSParameterProperty':
        declare(scope, member(target, 'parameter'), declaration);
        return;
    }
  }

  function around(node: SyntaxNode, isScope: (node: SyntaxNode) => boolean): SyntaxNode {
    let scope = parentOf(node);
    while (scope !== undefined && !isScope(scope)) scope = parentOf(scope);
    return scope ?? program;
  }

  for (const node of nodes) {
    if (isFunction(node)) for (const parameter of members(node, 'params')) declare(node, parameter, parameter);
    switch (node.type) {
      case 'VariableDeclarator': {
        const isVar = parentOf(node)?.kind === 'var';
        declare(around(node, isVar ? isFunction : isBlock), member(node, 'id'), node);
        break;
      }
      case 'FunctionDeclaration':
      case 'ClassDeclaration':
        declare(around(node, isBlock), member(node, 'id'), node);
        break;
      case 'FunctionExpression':
        declare(node, member(node, 'id'), node);
        break;
      case 'CatchClause':
        declare(node, member(node, 'param'), node);
        break;
      case 'ImportSpecifier':
      case 'ImportDefaultSpecifier':
      case 'ImportNamespaceSpecifier':
        declare(program, member(node, 'local'), node);
        break;
    }
  }

  function declarationOf(name: string, at: SyntaxNode): SyntaxNode | undefined {
    for (let scope: SyntaxNode | undefined = at; scope !== undefined; scope = parentOf(scope)) {
      const found = declared.get(scope)?.get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  let referenced: Map<SyntaxNode, SyntaxNode[]> | undefined;
  return {
    declarationOf,
    functionAround: node => around(node, isFunction),
    references(declaration) {
      referenced ??= referencesByDeclaration();
      return referenced.get(declaration) ?? [];
    },
  };

  function referencesByDeclaration(): Map<SyntaxNode, SyntaxNode[]> {
    const found = new Map<SyntaxNode, SyntaxNode[]>();
    for (const node of nodes) {
      if (!isReference(node, parentOf(node)) || places.has(node)) continue;
      const declaration = declarationOf(nameOf(node) ?? '', node);
      if (declaration === undefined) continue;
      const others = found.get(declaration);
      if (others === undefined) found.set(declaration, [node]);
      else others.push(node);
    }
    return found;
  }
}

function isBlock(node: SyntaxNode): boolean {
  return isFunction(node) || blocks.has(node.type);
}

const blocks = new Set([
  'Program',
  'BlockStatement',
  'StaticBlock',
  'ForStatement',
  'ForInStatement',
  'ForOfStatement',
  'SwitchStatement',
  'CatchClause',
]);

/** Excludes names of members, properties and labels. */
function isReference(node: SyntaxNode, parent: SyntaxNode | undefined): boolean {
  if (parent === undefined) return false;
  if (node.type === 'JSXIdentifier') return parent.type === 'JSXOpeningElement' && /^[A-Z]/.test(String(node.name));
  if (node.type !== 'Identifier') return false;
  const isMember =
    (parent.type === 'MemberExpression' || parent.type === 'OptionalMemberExpression') && parent.computed !== true;
  if (isMember) return parent.object === node;
  if (parent.type === 'ObjectProperty' && parent.computed !== true) return parent.value === node;
  return true;
}
