import * as components from '../nodes/components.ts';
import type { NodeKind } from '../nodes/node-kind.ts';
import type { Scopes } from './scopes.ts';
import { member, members, nameOf, type Syntax, type SyntaxNode } from './syntax.ts';

/** The names of the plan API in one file. */
export interface PlanNames {
  /** The kind of a built-in component by the name of its tag; undefined for every other tag. */
  kindOf(opening: SyntaxNode): NodeKind | undefined;
  isDefinePlan(callee: SyntaxNode | undefined): boolean;
  /** What an import takes from the plan API, unless it is a type. */
  importedFromApi(specifier: SyntaxNode): string | undefined;
}

/** Every component carries its kind, which its type as a function hides. */
const kinds = new Map<string, NodeKind>(
  Object.entries(components).map(([name, component]) => [
    name,
    (component as unknown as { readonly kind: NodeKind }).kind,
  ]),
);

const modules = new Set(['signalbox', '@signalbox/plan']);

export function createPlanNames({ parentOf }: Pick<Syntax, 'parentOf'>, scopes: Scopes): PlanNames {
  /** The imported name of an expression from the plan API: `Task`, `S.Task`. */
  function importedName(node: SyntaxNode | undefined): string | undefined {
    if (node === undefined) return undefined;
    const name = nameOf(node);
    if (name !== undefined) {
      const declaration = scopes.declarationOf(name, node);
      if (declaration?.type !== 'ImportSpecifier' || !isOurs(declaration)) return undefined;
      return nameOf(member(declaration, 'imported'));
    }
    if (node.type !== 'MemberExpression' && node.type !== 'JSXMemberExpression') return undefined;
    const object = member(node, 'object');
    const namespace = scopes.declarationOf(nameOf(object) ?? '', node);
    if (namespace?.type !== 'ImportNamespaceSpecifier' || !isOurs(namespace)) return undefined;
    return nameOf(member(node, 'property'));
  }

  function isOurs(specifier: SyntaxNode): boolean {
    const declaration = parentOf(specifier);
    const source = declaration === undefined ? undefined : member(declaration, 'source');
    return source !== undefined && modules.has(String(source.value));
  }

  return {
    kindOf(opening) {
      return kinds.get(importedName(member(opening, 'name')) ?? '');
    },
    importedFromApi(specifier) {
      if (specifier.type !== 'ImportSpecifier' || !isOurs(specifier)) return undefined;
      const isType = specifier.importKind === 'type' || parentOf(specifier)?.importKind === 'type';
      return isType ? undefined : nameOf(member(specifier, 'imported'));
    },
    isDefinePlan: callee => importedName(callee) === 'definePlan',
  };
}

/** The attributes of a tag by name. */
export function attributesOf(opening: SyntaxNode): ReadonlyMap<string, SyntaxNode> {
  const found = new Map<string, SyntaxNode>();
  for (const attribute of members(opening, 'attributes')) {
    const name = attribute.type === 'JSXAttribute' ? nameOf(member(attribute, 'name')) : undefined;
    if (name !== undefined) found.set(name, attribute);
  }
  return found;
}

/** Whether a tag has, or may have, an attribute: a spread may hold any. */
export function mayHave(opening: SyntaxNode, name: string): boolean {
  return (
    attributesOf(opening).has(name) || members(opening, 'attributes').some(({ type }) => type === 'JSXSpreadAttribute')
  );
}

/** The value of an attribute; `true` if it has none. */
export function attributeValue(attribute: SyntaxNode | undefined): SyntaxNode | true | undefined {
  if (attribute === undefined) return undefined;
  const value = member(attribute, 'value');
  if (value === undefined) return true;
  return value.type === 'JSXExpressionContainer' ? member(value, 'expression') : value;
}
