import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SourcePosition } from '../plan-error.ts';
import { isAuthorFile } from './author-files.ts';

export interface StackFrame extends SourcePosition {
  /** The function, as the engine names it; empty for the top level of a module. */
  readonly name: string;
}

/** The program's own files: nobody looks for their fault there. */
const OWN = path.dirname(fileURLToPath(import.meta.url));
const FRAME = /^\s*at (?:(.*?) \()?((?:file:\/\/|\/|[A-Za-z]:[\\/]).*):(\d+):(\d+)\)?$/;

/**
 * The frames of a thrown error in the plan's files, and those in packages that they called, innermost first. Source maps have put the
 * author's lines there.
 */
export function authorFrames(thrown: unknown): readonly StackFrame[] {
  const frames = stackOf(thrown)
    .split('\n')
    .flatMap(line => frameOf(line))
    .filter(({ file }) => isAuthorFile(file) || (isPackage(file) && !file.startsWith(OWN)));
  return frames.slice(0, frames.findLastIndex(({ file }) => isAuthorFile(file)) + 1);
}

/** Where the code of a plan made a call, itself or through others; undefined if none of it is on the stack. */
export function planPosition(called: Error): SourcePosition | undefined {
  return stackOf(called)
    .split('\n')
    .flatMap(line => frameOf(line))
    .find(({ file }) => isAuthorFile(file));
}

export function frameText({ name, file, line, column }: StackFrame): string {
  const place = `${file}:${line}:${column}`;
  return name === '' ? place : `${name} (${place})`;
}

/** Even reading a stack may throw: a plan can replace it. */
function stackOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.stack ?? '') : '';
  } catch {
    return '';
  }
}

function frameOf(line: string): readonly StackFrame[] {
  const [, name = '', place = '', row, column] = FRAME.exec(line) ?? [];
  const file = place.startsWith('file:') ? pathOf(place) : place;
  if (file === undefined || file === '') return [];
  return [{ name: name.replace(/^async /, ''), file, line: Number(row), column: Number(column) }];
}

function pathOf(url: string): string | undefined {
  try {
    return fileURLToPath(url.replace(/[?#].*$/, ''));
  } catch {
    return undefined;
  }
}

function isPackage(file: string): boolean {
  return file.includes(`${path.sep}node_modules${path.sep}`);
}
