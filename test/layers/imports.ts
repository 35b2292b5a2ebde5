import { isBuiltin } from 'node:module';
import { type ESTree, parseSync, Visitor } from 'vite';
import type { SourceFile } from '../source-file.ts';

/** One import of a source file; `specifier` is undefined where it is computed when the program runs. */
export interface Import {
  readonly specifier: string | undefined;
  readonly line: number;
}

/**
 * Everything that makes a file load, or take types from, another module: import, export from, `import()`,
 * `import('x').Type`, `require()` and `import.meta.resolve()`. In the order of the file.
 */
export function importsOf(file: SourceFile): readonly Import[] {
  const { program, errors } = parseSync(file.path, file.source);
  const error = errors[0];
  if (error !== undefined) throw new Error(`${file.path} does not parse: ${error.message}`);
  const found: { specifier: string | undefined; start: number }[] = [];
  const add = (node: ESTree.Node) => {
    found.push({ specifier: literalText(node), start: node.start });
  };
  new Visitor({
    ImportDeclaration: node => add(node.source),
    ExportAllDeclaration: node => add(node.source),
    ExportNamedDeclaration: node => {
      if (node.source) add(node.source);
    },
    ImportExpression: node => add(node.source),
    TSImportType: node => add(node.source),
    TSExternalModuleReference: node => add(node.expression),
    CallExpression: node => {
      const argument = node.arguments[0];
      if (argument !== undefined && isResolver(node.callee)) add(argument);
    },
  }).visit(program);
  return found
    .sort((a, b) => a.start - b.start)
    .map(({ specifier, start }) => ({ specifier, line: file.source.slice(0, start).split('\n').length }));
}

/** The target of a specifier. */
export type ImportTarget =
  | { readonly kind: 'relative' }
  | { readonly kind: 'platform' }
  | { readonly kind: 'package'; readonly name: string };

export function targetOf(specifier: string): ImportTarget {
  if (/^(\.|\/|file:)/.test(specifier)) return { kind: 'relative' };
  if (isBuiltin(specifier)) return { kind: 'platform' };
  return { kind: 'package', name: specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/') };
}

function literalText(node: ESTree.Node): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type === 'TemplateLiteral' && node.expressions.length === 0)
    return node.quasis[0]?.value.cooked ?? undefined;
  return undefined;
}

function isResolver(callee: ESTree.Node): boolean {
  if (callee.type === 'Identifier') return callee.name === 'require';
  return (
    callee.type === 'MemberExpression' &&
    callee.object.type === 'MetaProperty' &&
    callee.property.type === 'Identifier' &&
    callee.property.name === 'resolve'
  );
}
