import { isLoopKind } from '../../nodes/node-kind.ts';
import type { RuleFinding } from '../lint-finding.ts';
import type { LintedFile } from '../linted-file.ts';
import { attributesOf, attributeValue, mayHave } from '../plan-names.ts';
import { bare, childrenOf, isFunction, member, members, nameOf, placeOf, type SyntaxNode } from '../syntax.ts';

/** State keys that the files of a plan write; undefined if a key is not a literal, so that it could be any. */
export type WrittenKeys = ReadonlySet<string> | undefined;

/**
 * Loops that only their maximum ends: a constant condition, or one that reads only state that nothing writes, and no Stop or End inside. A
 * Ralph with a maximum and no `until` counts its iterations, which is an exit.
 */
export function loopExitFindings({ syntax, names, tagOf }: LintedFile, written: WrittenKeys): readonly RuleFinding[] {
  const found: RuleFinding[] = [];
  for (const element of syntax.nodes.filter(({ type }) => type === 'JSXElement')) {
    const opening = member(element, 'openingElement');
    const kind = opening && names.kindOf(opening);
    if (opening === undefined || kind === undefined || !isLoopKind(kind)) continue;
    const why = endless(opening, kind === 'while' ? 'condition' : 'until', written);
    if (why === undefined || holdsEnding(element)) continue;
    found.push({
      rule: 'loop-needs-exit',
      severity: 'warning',
      at: placeOf(opening),
      message: `<${tagOf(opening)}> ends only at its maximum: ${why}.`,
      mend: 'Let its condition read state that a handler in its body writes, or add a <Stop> or <End> to it.',
    });
  }
  return found;

  function holdsEnding(element: SyntaxNode): boolean {
    const waiting = [...childrenOf(element)];
    for (const node of waiting) {
      const kind = node.type === 'JSXOpeningElement' ? names.kindOf(node) : undefined;
      if (kind === 'stop' || kind === 'end') return true;
      waiting.push(...childrenOf(node));
    }
    return false;
  }
}

function endless(opening: SyntaxNode, attribute: 'condition' | 'until', written: WrittenKeys): string | undefined {
  const value = attributeValue(attributesOf(opening).get(attribute));
  if (value === undefined) {
    const isBound = mayHave(opening, attribute) || mayHave(opening, 'maxIterations');
    return attribute === 'until' && !isBound ? 'it has no until' : undefined;
  }
  const code = value === true ? true : conditionOf(value);
  const goesOn = attribute === 'condition';
  if (code === true) return goesOn ? `its ${attribute} is always true` : undefined;
  if (code.type === 'BooleanLiteral')
    return code.value === goesOn ? `its ${attribute} is always ${code.value}` : undefined;
  const read = keysRead(code);
  if (read === undefined || read.length === 0 || written === undefined || read.some(key => written.has(key)))
    return undefined;
  return `nothing in the plan writes ${read.map(key => `'${key}'`).join(' or ')}, which its ${attribute} reads`;
}

/** The expression of a condition, written directly or as a function that returns it. */
function conditionOf(value: SyntaxNode): SyntaxNode {
  const code = bare(value);
  const body = isFunction(code) ? member(code, 'body') : undefined;
  return body !== undefined && body.type !== 'BlockStatement' ? bare(body) : code;
}

/** The state keys of an expression that reads only state; undefined for any other. */
function keysRead(expression: SyntaxNode): readonly string[] | undefined {
  const code = bare(expression);
  switch (code.type) {
    case 'BooleanLiteral':
    case 'NumericLiteral':
    case 'StringLiteral':
    case 'NullLiteral':
      return [];
    case 'UnaryExpression':
      return keysReadIn([member(code, 'argument')]);
    case 'BinaryExpression':
    case 'LogicalExpression':
      return keysReadIn([member(code, 'left'), member(code, 'right')]);
    case 'CallExpression': {
      const key = stateCall(code, new Set(['get']));
      return typeof key === 'string' ? [key] : undefined;
    }
    default:
      return undefined;
  }
}

function keysReadIn(parts: readonly (SyntaxNode | undefined)[]): readonly string[] | undefined {
  const read = parts.map(part => part && keysRead(part));
  return read.some(keys => keys === undefined) ? undefined : read.flatMap(keys => keys ?? []);
}

const writes = new Set(['set', 'update', 'delete', 'init']);

/** The keys that a file writes with `….state.set('key', …)`; undefined if one of them is not a literal. */
export function keysWritten({ syntax }: LintedFile): WrittenKeys {
  const keys = new Set<string>();
  for (const node of syntax.nodes) {
    if (node.type === 'CallExpression') {
      const key = stateCall(node, writes);
      if (key === 'any') return undefined;
      if (key !== undefined) keys.add(key);
    } else if (isStateAccess(node)) {
      const parent = syntax.parentOf(node);
      const isUsed = parent?.type === 'MemberExpression' && parent.object === node;
      // Passed on to code that may write anything.
      if (!isUsed) return undefined;
    }
  }
  return keys;
}

/** The key of `ctx.state.<method>('key')`; `any` if it is not a literal, undefined for any other call. */
function stateCall(call: SyntaxNode, methods: ReadonlySet<string>): string | undefined {
  const callee = member(call, 'callee');
  if (callee?.type !== 'MemberExpression' || !methods.has(nameOf(member(callee, 'property')) ?? '')) return undefined;
  const object = member(callee, 'object');
  if (object === undefined || !isStateAccess(object)) return undefined;
  const [key] = members(call, 'arguments');
  return key?.type === 'StringLiteral' ? String(key.value) : 'any';
}

function isStateAccess(node: SyntaxNode): boolean {
  return node.type === 'MemberExpression' && node.computed !== true && nameOf(member(node, 'property')) === 'state';
}
