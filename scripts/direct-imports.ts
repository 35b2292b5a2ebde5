import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The origin of a name: a module by its absolute path, and its name there. */
export interface Origin {
  readonly module: string;
  readonly name: string;
}

/** Where a name that is imported from a package of the workspace is written; undefined for other packages. */
export type FindOrigin = (specifier: string, name: string) => Origin | undefined;

/**
 * Lets imports name the modules that they use, not the index that lists them. Then what a bundler or a reader of types loads
 * is what is used. Lines stay where they are.
 */
export function withDirectImports(source: string, find: FindOrigin, written: (module: string) => string): string {
  return source.replace(CLAUSE, (whole: string, verb: string, type: string, names: string, specifier: string) => {
    const direct = namesOf(names).map(({ isType, name, as }) => {
      const origin = find(specifier, name);
      if (origin === undefined) return undefined;
      const local = as === origin.name ? as : `${origin.name} as ${as}`;
      return `${verb}${type} { ${isType}${local} } from '${written(origin.module)}';`;
    });
    if (direct.length === 0 || direct.includes(undefined)) return whole;
    return direct.join(' ') + '\n'.repeat(whole.split('\n').length - 1);
  });
}

/** Looks names up in the indexes of the workspace's packages. An index lists its exports one by one. */
export function workspaceOrigins(root: string): FindOrigin {
  const indexes = new Map<string, ReadonlyMap<string, Origin>>();
  const find: FindOrigin = (specifier, name) => {
    const index = indexFile(root, specifier);
    if (index === undefined) return undefined;
    const known = indexes.get(index) ?? exportsOf(index, find);
    indexes.set(index, known);
    return known.get(name);
  };
  return find;
}

const CLAUSE = /^(import|export)( type|) \{([^}]*)\} from ['"]([^'"]+)['"];/gm;

function namesOf(clause: string): readonly { readonly isType: string; readonly name: string; readonly as: string }[] {
  return [...clause.matchAll(/(type )?([\w$]+)(?: as ([\w$]+))?/g)].map(([, isType = '', name = '', as = name]) => ({
    isType,
    name,
    as,
  }));
}

function indexFile(root: string, specifier: string): string | undefined {
  const [, name, rest = ''] = /^@signalbox\/([\w-]+)(\/.+)?$/.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  const folder = path.join(root, 'packages', name);
  const { exports } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const file: unknown = exports?.[`.${rest}`];
  return typeof file === 'string' ? path.join(folder, file) : undefined;
}

function exportsOf(index: string, find: FindOrigin): ReadonlyMap<string, Origin> {
  const found = new Map<string, Origin>();
  for (const [, verb, , names = '', specifier = ''] of readFileSync(index, 'utf8').matchAll(CLAUSE)) {
    if (verb !== 'export') continue;
    for (const { name, as } of namesOf(names)) {
      const origin = specifier.startsWith('.')
        ? { module: path.join(path.dirname(index), specifier), name }
        : find(specifier, name);
      if (origin !== undefined) found.set(as, origin);
    }
  }
  return found;
}
