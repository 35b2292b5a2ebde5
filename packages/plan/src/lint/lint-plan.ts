import { readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ErrorEnvelope, err, ok, type Result } from '@signalbox/model';
import { PlanError, planFailure } from '../plan-error.ts';
import { lintFiles, type ParsedFile, parseFile } from './lint-files.ts';
import type { LintFinding } from './lint-finding.ts';
import { isFault, member, members, type Syntax } from './syntax.ts';

/** Lints a plan's file and every local file that it imports, without running any of it. Packages are not linted. */
export function lintPlan(entry: string): Result<readonly LintFinding[], ErrorEnvelope<'plan/load-failed'>> {
  const first = path.resolve(entry);
  return isFile(first) ? ok(lintFiles(filesOf(first))) : err(noFile(first));
}

/** The files that are linted with a plan, with their links resolved; empty if there is no such plan. */
export function localFilesOf(entry: string): readonly string[] {
  const first = path.resolve(entry);
  return isFile(first) ? filesOf(first).map(file => file.path) : [];
}

function filesOf(first: string): readonly ParsedFile[] {
  const waiting = [realpathSync(first)];
  const files = new Map<string, ParsedFile>();
  for (const file of waiting) {
    if (files.has(file)) continue;
    const parsed = parseFile(file, readFileSync(file, 'utf8'));
    files.set(file, parsed);
    if (!isFault(parsed.syntax)) waiting.push(...importsOf(parsed.syntax, file));
  }
  return [...files.values()];
}

const source = /\.[mc]?[jt]sx?$/;

/** The local files that a file imports with literal names. */
function importsOf(syntax: Syntax, file: string): readonly string[] {
  return syntax.nodes.flatMap(node => {
    const specifier = specifierOf(node);
    const found = specifier === undefined ? undefined : resolved(specifier, file);
    return found !== undefined && source.test(found) && isFile(found) && !isPackaged(found)
      ? [realpathSync(found)]
      : [];
  });
}

function specifierOf(node: Syntax['program']): string | undefined {
  const from = node.type === 'ImportExpression' ? member(node, 'source') : (importCall(node) ?? importSource(node));
  return from?.type === 'StringLiteral' ? String(from.value) : undefined;
}

function importSource(node: Syntax['program']): Syntax['program'] | undefined {
  // Types are gone when the plan runs.
  return /^(Import|ExportNamed|ExportAll)Declaration$/.test(node.type) &&
    node.importKind !== 'type' &&
    node.exportKind !== 'type'
    ? member(node, 'source')
    : undefined;
}

function importCall(node: Syntax['program']): Syntax['program'] | undefined {
  return node.type === 'CallExpression' && member(node, 'callee')?.type === 'Import'
    ? members(node, 'arguments')[0]
    : undefined;
}

function resolved(specifier: string, from: string): string | undefined {
  if (/^\.{0,2}\//.test(specifier)) return path.resolve(path.dirname(from), specifier);
  try {
    if (specifier.startsWith('file:')) return fileURLToPath(specifier);
    // A name that the folder's own package.json maps to a file.
    return specifier.startsWith('#') ? createRequire(from).resolve(specifier) : undefined;
  } catch {
    return undefined;
  }
}

function isPackaged(file: string): boolean {
  return file.split(path.sep).includes('node_modules');
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

function noFile(file: string): ErrorEnvelope<'plan/load-failed'> {
  return planFailure(
    new PlanError('plan/load-failed', `there is no file ${file}`, { suggestion: 'Check the path of the plan.' }),
  ) as ErrorEnvelope<'plan/load-failed'>;
}
