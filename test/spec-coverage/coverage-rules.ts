import type { SourceFile } from '../source-file.ts';
import { testNamesOf } from './test-names.ts';

interface Mention {
  readonly id: string;
  readonly place: string;
}

/** Rules without a test, rules that share an id, and citations of no rule, as one sentence each. */
export function coverageProblems(files: readonly SourceFile[]): readonly string[] {
  const rules = files.filter(file => file.path.endsWith('/SPEC.md')).flatMap(rulesOf);
  const citations = files.filter(file => /\.tsx?$/.test(file.path)).flatMap(citationsOf);
  const first = new Map<string, Mention>();
  const shared = rules.flatMap(rule => {
    const other = first.get(rule.id);
    if (other === undefined) first.set(rule.id, rule);
    return other === undefined ? [] : [`${rule.place}: ${rule.id} is already a rule of ${other.place}`];
  });
  const cited = new Set(citations.filter(citation => citation.runs).map(citation => citation.id));
  return [
    ...shared,
    ...[...first.values()].filter(rule => !cited.has(rule.id)).map(rule => `${rule.place}: no test cites [${rule.id}]`),
    ...citations
      .filter(citation => !first.has(citation.id))
      .map(citation => `${citation.place}: [${citation.id}] is a rule of no SPEC.md`),
  ];
}

/** A rule is a list item that opens with its id in bold: `- **M1** text`. */
function rulesOf(file: SourceFile): readonly Mention[] {
  return file.source.split('\n').flatMap((line, index) => {
    const id = /^\s*[-*] \*\*([A-Z]+\d+)\*\*/.exec(line)?.[1];
    return id === undefined ? [] : [{ id, place: `${file.path}:${index + 1}` }];
  });
}

/** A citation is an id, or several with commas, in brackets: `[M1] …`, `[M1, M2] …`. */
function citationsOf(file: SourceFile): readonly (Mention & { readonly runs: boolean })[] {
  return testNamesOf(file).flatMap(name =>
    [...name.text.matchAll(/\[([A-Z]+\d+(?:, ?[A-Z]+\d+)*)\]/g)]
      .flatMap(match => match[1]?.split(/, ?/) ?? [])
      .map(id => ({ id, place: `${file.path}:${name.line}`, runs: name.runs })),
  );
}
