import type { RuleFinding } from '../lint-finding.ts';
import type { LintedFile } from '../linted-file.ts';
import { mayHave } from '../plan-names.ts';
import { bare, childrenOf, isFunction, member, members, nameOf, placeOf, type SyntaxNode } from '../syntax.ts';

/** List items without a key: those of `Each`, of arrays, and of `map` among children. */
export function listKeyFindings({ syntax, names, tagOf }: LintedFile): readonly RuleFinding[] {
  const { parentOf } = syntax;
  return syntax.nodes
    .filter(({ type }) => type === 'JSXExpressionContainer')
    .flatMap(container => {
      const around = parentOf(container);
      const expression = member(container, 'expression');
      const isChild = around?.type === 'JSXElement' || around?.type === 'JSXFragment';
      if (!isChild || expression === undefined) return [];
      const opening = around.type === 'JSXElement' ? member(around, 'openingElement') : undefined;
      const isEach = opening !== undefined && names.kindOf(opening) === 'each';
      const code = bare(expression);
      const items = isEach && isFunction(code) ? returned(code) : alternatives(code).flatMap(itemsOf);
      return items.flatMap(alternatives).filter(lacksKey).map(finding);
    });

  function finding(item: SyntaxNode): RuleFinding {
    const opening = member(item, 'openingElement');
    return {
      rule: 'list-needs-key',
      severity: 'error',
      at: placeOf(item),
      message: `A list item, ${opening === undefined ? 'a fragment' : `<${tagOf(opening)}>`}, has no key: the plan cannot be rendered.`,
      mend:
        opening === undefined
          ? 'Use <Fragment key={…}> instead of <>.'
          : 'Give it a unique, stable key: key={item.id}.',
    };
  }
}

/** The possible values of an expression: the branches of a condition, and the right side of `&&`. */
function alternatives(expression: SyntaxNode): readonly SyntaxNode[] {
  const code = bare(expression);
  const parts =
    code.type === 'ConditionalExpression'
      ? [member(code, 'consequent'), member(code, 'alternate')]
      : code.type === 'LogicalExpression'
        ? [member(code, 'left'), member(code, 'right')]
        : undefined;
  if (parts === undefined) return [code];
  return parts.flatMap(part => (part === undefined ? [] : alternatives(part)));
}

function itemsOf(expression: SyntaxNode): readonly SyntaxNode[] {
  if (expression.type === 'ArrayExpression') return members(expression, 'elements');
  if (expression.type !== 'CallExpression' && expression.type !== 'OptionalCallExpression') return [];
  const callee = member(expression, 'callee');
  const called = nameOf(callee && member(callee, 'property'));
  const args = members(expression, 'arguments');
  const make = called === 'map' ? args[0] : called === 'from' ? args[1] : undefined;
  return make !== undefined && isFunction(make) ? returned(make) : [];
}

/** The values that a function visibly returns. */
function returned(code: SyntaxNode): readonly SyntaxNode[] {
  const body = member(code, 'body');
  if (body === undefined) return [];
  if (body.type !== 'BlockStatement') return [body];
  const found: SyntaxNode[] = [];
  const waiting = [body];
  for (const node of waiting) {
    if (node.type === 'ReturnStatement') {
      const argument = member(node, 'argument');
      if (argument !== undefined) found.push(argument);
    } else waiting.push(...childrenOf(node).filter(child => !isFunction(child) && !child.type.endsWith('Expression')));
  }
  return found;
}

function lacksKey(item: SyntaxNode): boolean {
  if (item.type === 'JSXFragment') return true;
  const opening = item.type === 'JSXElement' ? member(item, 'openingElement') : undefined;
  return opening !== undefined && !mayHave(opening, 'key');
}
