import { createPlanNames, type PlanNames } from './plan-names.ts';
import { createRegions, type Region } from './regions.ts';
import { createScopes, type Scopes } from './scopes.ts';
import { member, nameOf, type Syntax, type SyntaxNode } from './syntax.ts';

/** A file with everything that rules need. */
export interface LintedFile {
  readonly syntax: Syntax;
  readonly scopes: Scopes;
  readonly names: PlanNames;
  readonly regionsOf: (node: SyntaxNode) => ReadonlySet<Region>;
  /** The written name of a tag. */
  readonly tagOf: (opening: SyntaxNode) => string;
}

export function lintedFile(syntax: Syntax): LintedFile {
  const scopes = createScopes(syntax);
  const names = createPlanNames(syntax, scopes);
  return {
    syntax,
    scopes,
    names,
    regionsOf: createRegions(syntax, scopes, names),
    tagOf: opening => written(member(opening, 'name')),
  };
}

function written(name: SyntaxNode | undefined): string {
  if (name === undefined) return '';
  if (name.type !== 'JSXMemberExpression') return nameOf(name) ?? name.type;
  return `${written(member(name, 'object'))}.${written(member(name, 'property'))}`;
}
