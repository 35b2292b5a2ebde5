import { withoutIgnored } from './ignored-rules.ts';
import type { LintFinding, RuleFinding } from './lint-finding.ts';
import { type LintedFile, lintedFile } from './linted-file.ts';
import { hiddenInputFindings } from './rules/hidden-inputs.ts';
import { listKeyFindings } from './rules/list-keys.ts';
import { localStateFindings } from './rules/local-state.ts';
import { keysWritten, loopExitFindings, type WrittenKeys } from './rules/loop-exits.ts';
import { renderEffectFindings } from './rules/render-effects.ts';
import { tagFindings } from './rules/tag-rules.ts';
import { unknownNameFindings } from './rules/unknown-names.ts';
import { isFault, parseSyntax, type Syntax, type SyntaxFault } from './syntax.ts';

/** A parsed file of a plan. */
export interface ParsedFile {
  readonly path: string;
  readonly syntax: Syntax | SyntaxFault;
}

export function parseFile(path: string, text: string): ParsedFile {
  return { path, syntax: parseSyntax(text, path) };
}

/** The findings for the files of one plan, file by file, in the order of their lines. */
export function lintFiles(files: readonly ParsedFile[]): readonly LintFinding[] {
  const parsed = files.map(({ path, syntax }) => ({
    path,
    syntax,
    file: isFault(syntax) ? undefined : lintedFile(syntax),
  }));
  const written = writtenKeys(parsed.map(({ file }) => file));
  return parsed.flatMap(({ path, syntax, file }) => {
    const found = isFault(syntax) ? [syntaxFinding(syntax)] : file === undefined ? [] : findingsOf(file, written);
    return found.map(({ at, ...finding }) => ({ ...finding, file: path, ...at })).sort(byPlace);
  });
}

function findingsOf(file: LintedFile, written: WrittenKeys): readonly RuleFinding[] {
  const found = [
    ...tagFindings(file),
    ...listKeyFindings(file),
    ...loopExitFindings(file, written),
    ...hiddenInputFindings(file),
    ...localStateFindings(file),
    ...renderEffectFindings(file),
    ...unknownNameFindings(file),
  ];
  return withoutIgnored(found, file.syntax.comments);
}

/** Over all files: state that a file passes on, or that cannot be parsed, may be written anywhere. */
function writtenKeys(files: readonly (LintedFile | undefined)[]): WrittenKeys {
  const keys = new Set<string>();
  for (const file of files) {
    const written = file && keysWritten(file);
    if (written === undefined) return undefined;
    for (const key of written) keys.add(key);
  }
  return keys;
}

function syntaxFinding({ message, line, column }: SyntaxFault): RuleFinding {
  return {
    rule: 'syntax',
    severity: 'error',
    at: { line, column },
    message: `It cannot be parsed: ${message}`,
    mend: 'Fix the syntax there.',
  };
}

function byPlace(a: LintFinding, b: LintFinding): number {
  return a.line - b.line || a.column - b.column || (a.rule < b.rule ? -1 : 1);
}
