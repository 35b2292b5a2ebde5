import { parse } from '@babel/parser';

/** A syntax node of the parser. Its members depend on `type`. */
export interface SyntaxNode {
  readonly type: string;
  readonly loc?: { readonly start: Place; readonly end: Place } | null;
  readonly [member: string]: unknown;
}

/** Lines count from 1, columns from 0. */
interface Place {
  readonly line: number;
  readonly column: number;
}

export interface Comment {
  readonly text: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
}

/** The syntax of one file, with the parent of every node. */
export interface Syntax {
  readonly program: SyntaxNode;
  readonly nodes: readonly SyntaxNode[];
  parentOf(node: SyntaxNode): SyntaxNode | undefined;
  readonly comments: readonly Comment[];
}

export interface SyntaxFault {
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

/** Parses a module with types, and with JSX if its file type allows it; returns a syntax error with its place. */
export function parseSyntax(text: string, file = 'plan.tsx'): Syntax | SyntaxFault {
  let parsed: ReturnType<typeof parse>;
  try {
    // In a file without JSX, `<Type>value` is an assertion.
    const jsx = /\.[mc]?ts$/.test(file) ? [] : (['jsx'] as const);
    parsed = parse(text, { sourceType: 'module', plugins: ['typescript', 'decorators', ...jsx] });
  } catch (error) {
    return faultOf(error);
  }
  // The parser's nodes are one type here: rules look at `type` first.
  const program = parsed.program as unknown as SyntaxNode;
  const parents = new Map<SyntaxNode, SyntaxNode>();
  const nodes: SyntaxNode[] = [program];
  // The list grows while it is traversed: no recursion, however deep the syntax.
  for (const node of nodes) {
    for (const child of childrenOf(node)) {
      parents.set(child, node);
      nodes.push(child);
    }
  }
  const comments = (parsed.comments ?? []).map(({ value, loc }) => ({
    text: value,
    line: loc?.start.line ?? 1,
    column: loc?.start.column ?? 0,
    endLine: loc?.end.line ?? 1,
  }));
  return { program, nodes, parentOf: node => parents.get(node), comments };
}

export function isFault(syntax: Syntax | SyntaxFault): syntax is SyntaxFault {
  return !('program' in syntax);
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';
}

const notSyntax = new Set(['loc', 'leadingComments', 'trailingComments', 'innerComments', 'extra', 'errors']);

export function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (const [member, value] of Object.entries(node)) {
    if (notSyntax.has(member)) continue;
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) found.push(child);
  }
  return found;
}

/** A member that is a node. */
export function member(node: SyntaxNode, name: string): SyntaxNode | undefined {
  const value = node[name];
  return isNode(value) ? value : undefined;
}

export function members(node: SyntaxNode, name: string): readonly SyntaxNode[] {
  const value = node[name];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** Strips parentheses, `as`, `satisfies` and `!`. */
export function bare(node: SyntaxNode): SyntaxNode {
  let inner = node;
  while (wrappers.has(inner.type)) {
    const next = member(inner, 'expression');
    if (next === undefined) return inner;
    inner = next;
  }
  return inner;
}

const wrappers = new Set([
  'ParenthesizedExpression',
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
]);

export function isFunction({ type }: SyntaxNode): boolean {
  return (
    type === 'ArrowFunctionExpression' ||
    type === 'FunctionExpression' ||
    type === 'FunctionDeclaration' ||
    type === 'ObjectMethod' ||
    type === 'ClassMethod'
  );
}

/** The name of an identifier, a plain key or a literal key. */
export function nameOf(node: SyntaxNode | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (node.type === 'Identifier' || node.type === 'JSXIdentifier') return String(node.name);
  return node.type === 'StringLiteral' ? String(node.value) : undefined;
}

export function placeOf({ loc }: SyntaxNode): { readonly line: number; readonly column: number } {
  return { line: loc?.start.line ?? 1, column: (loc?.start.column ?? 0) + 1 };
}

function faultOf(error: unknown): SyntaxFault {
  const { message, loc } = error as { readonly message?: unknown; readonly loc?: Place };
  const text = typeof message === 'string' ? message.replace(/\s*\(\d+:\d+\)$/, '') : 'it cannot be parsed';
  return { message: text, line: loc?.line ?? 1, column: (loc?.column ?? 0) + 1 };
}
