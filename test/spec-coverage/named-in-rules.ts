import type { SourceFile } from '../source-file.ts';

const RULE = /^\s*[-*] \*\*[A-Z]+\d+\*\*/;

/** Every name in backticks in a rule of a specification. A rule goes on over the indented lines below it. */
export function namedIn(specs: readonly SourceFile[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { source } of specs) {
    let isRule = false;
    for (const line of source.split('\n')) {
      isRule = RULE.test(line) || (isRule && /^\s+\S/.test(line));
      if (!isRule) continue;
      for (const [, name] of line.matchAll(/`([^`]+)`/g)) if (name !== undefined) names.add(name);
    }
  }
  return names;
}

export function unnamed(names: readonly string[], named: ReadonlySet<string>): readonly string[] {
  return names.filter(name => !named.has(name));
}
