import type { PlanNames } from './plan-names.ts';
import type { Scopes } from './scopes.ts';
import { isFunction, member, members, nameOf, type Syntax, type SyntaxNode } from './syntax.ts';

/** When the author's code runs: during a render, in a handler, or as work. Code that the plan does not visibly call has no region. */
export type Region = 'render' | 'handler' | 'work';

/** The regions of a place. A named function runs where it is called from; an unnamed one runs where it is written. */
export function createRegions(
  syntax: Syntax,
  scopes: Scopes,
  names: PlanNames,
): (node: SyntaxNode) => ReadonlySet<Region> {
  const { parentOf } = syntax;
  const known = new Map<SyntaxNode, ReadonlySet<Region>>();

  function regionsOf(node: SyntaxNode): ReadonlySet<Region> {
    for (let at: SyntaxNode | undefined = node; at !== undefined; at = parentOf(at)) {
      if (isFunction(at)) return ofFunction(at);
    }
    return none;
  }

  function ofFunction(code: SyntaxNode): ReadonlySet<Region> {
    const before = known.get(code);
    if (before !== undefined) return before;
    // A recursive function has the regions of its other callers.
    known.set(code, none);
    const found = new Set<Region>(regionsByPlace(code));
    known.set(code, found);
    return found;
  }

  function regionsByPlace(code: SyntaxNode): Iterable<Region> {
    const parent = parentOf(code);
    if (parent === undefined) return none;
    const attribute = attributeOf(code);
    if (attribute !== undefined) return ofAttribute(attribute);
    const property = code.type === 'ObjectMethod' ? code : parent.type === 'ObjectProperty' ? parent : undefined;
    if (property !== undefined) return ofProperty(property) ?? regionsOf(parent);
    if (isEffectHook(code, parent)) return ['work'];
    const declaration = declarationOf(code, parent);
    if (declaration === undefined) return regionsOf(parent);
    const called = scopes.references(declaration).flatMap(reference => [...ofReference(reference)]);
    return isComponent(declaration, code) ? ['render', ...called] : called;
  }

  function ofReference(reference: SyntaxNode): Iterable<Region> {
    const attribute = attributeOf(reference);
    if (attribute !== undefined) return ofAttribute(attribute);
    const parent = parentOf(reference);
    if (parent?.type === 'ObjectProperty') return ofProperty(parent) ?? regionsOf(parent);
    if (parent !== undefined && isEffectHook(reference, parent)) return ['work'];
    return regionsOf(reference);
  }

  /** The attribute whose entire value this is. */
  function attributeOf(node: SyntaxNode): SyntaxNode | undefined {
    const container = parentOf(node);
    const attribute = container?.type === 'JSXExpressionContainer' ? parentOf(container) : undefined;
    return attribute?.type === 'JSXAttribute' ? attribute : undefined;
  }

  function ofAttribute(attribute: SyntaxNode): Iterable<Region> {
    const name = nameOf(member(attribute, 'name')) ?? '';
    if (/^on[A-Z]/.test(name)) return ['handler'];
    if (name === 'run' || name === 'cleanup') return ['work'];
    const opening = parentOf(attribute);
    return opening !== undefined && names.kindOf(opening) !== undefined ? ['render'] : none;
  }

  /** The region of `render` and `signals` in the argument of `definePlan`. */
  function ofProperty(property: SyntaxNode): Iterable<Region> | undefined {
    const name = nameOf(member(property, 'key'));
    if (name === 'render' && isPlanObject(parentOf(property))) return ['render'];
    if (name !== 'handle') return undefined;
    const signals = propertyAround(propertyAround(property));
    const isSignal =
      nameOf(signals && member(signals, 'key')) === 'signals' && isPlanObject(parentOf(signals as SyntaxNode));
    return isSignal ? ['handler'] : undefined;
  }

  function propertyAround(property: SyntaxNode | undefined): SyntaxNode | undefined {
    const object = property && parentOf(property);
    const around = object && parentOf(object);
    return around?.type === 'ObjectProperty' ? around : undefined;
  }

  function isPlanObject(object: SyntaxNode | undefined): boolean {
    const call = object && parentOf(object);
    return call?.type === 'CallExpression' && names.isDefinePlan(member(call, 'callee'));
  }

  function declarationOf(code: SyntaxNode, parent: SyntaxNode): SyntaxNode | undefined {
    if (code.type === 'FunctionDeclaration') return code;
    return parent.type === 'VariableDeclarator' && parent.init === code ? parent : undefined;
  }

  function isComponent(declaration: SyntaxNode, code: SyntaxNode): boolean {
    return /^[A-Z]/.test(nameOf(member(declaration, 'id')) ?? '') && holdsJsx(code);
  }

  function holdsJsx(code: SyntaxNode): boolean {
    return syntax.nodes.some(node => {
      if (node.type !== 'JSXElement' && node.type !== 'JSXFragment') return false;
      for (let at: SyntaxNode | undefined = node; at !== undefined; at = parentOf(at)) if (at === code) return true;
      return false;
    });
  }

  return regionsOf;
}

const none: ReadonlySet<Region> = new Set();

/** `ctx.effect(id, deps, run)`. */
function isEffectHook(node: SyntaxNode, parent: SyntaxNode): boolean {
  if (parent.type !== 'CallExpression') return false;
  const callee = member(parent, 'callee');
  if (callee?.type !== 'MemberExpression' || nameOf(member(callee, 'property')) !== 'effect') return false;
  return members(parent, 'arguments')[2] === node;
}
