import { readdir, realpath } from 'node:fs/promises';
import path from 'node:path';

/** An entry that a walk cannot or will not enter. `ref` is relative to the root, with forward slashes; `.` is the root. */
export interface WalkProblem {
  readonly code: 'unreadable_directory' | 'symbolic_link' | 'too_deep' | 'too_many_entries';
  readonly ref: string;
  readonly message: string;
}

export interface Walk {
  /** The JSON files, sorted. */
  readonly files: readonly string[];
  readonly problems: readonly WalkProblem[];
}

export interface WalkLimits {
  readonly depth: number;
  readonly entries: number;
}

export const walkLimits: WalkLimits = { depth: 8, entries: 20_000 };

/** Directories with other people's files or generated ones. */
const SKIPPED = new Set([
  'node_modules',
  'dist',
  'build',
  'out',
  'coverage',
  'target',
  'vendor',
  'venv',
  '__pycache__',
]);

/**
 * The JSON files under a directory. Symbolic links are not followed, so nothing outside the tree is read and there are no
 * cycles; the root itself may be a link, as long as it stays in `tree`. A missing directory has no files.
 */
export async function walkDirectory(root: string, bounds: WalkLimits = walkLimits, tree?: string): Promise<Walk> {
  const files: string[] = [];
  const problems: WalkProblem[] = [];
  let entries = 0;
  let start: string;
  try {
    start = await realpath(root);
    if (tree !== undefined && !isInside(await realpath(tree), start)) return { files, problems: [LEADS_OUT] };
  } catch (cause) {
    return { files, problems: isMissing(cause) ? [] : [unreadable('', cause)] };
  }
  const pending: { readonly ref: string; readonly depth: number }[] = [{ ref: '', depth: 0 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { ref: directory, depth } = next;
    let found: Awaited<ReturnType<typeof list>>;
    try {
      found = await list(path.join(start, directory));
    } catch (cause) {
      problems.push(unreadable(directory, cause));
      continue;
    }
    for (const entry of found) {
      const ref = directory === '' ? entry.name : `${directory}/${entry.name}`;
      if (++entries > bounds.entries) {
        const message = `There are more than ${bounds.entries} files and directories; the rest is not looked at. Keep workflows in a directory of their own.`;
        problems.push({ code: 'too_many_entries', ref: directory || '.', message });
        return { files: files.sort(), problems };
      }
      if (entry.name.startsWith('.') || SKIPPED.has(entry.name)) continue;
      if (entry.isSymbolicLink()) {
        problems.push({
          code: 'symbolic_link',
          ref,
          message: 'A symbolic link is not followed. Put the file or directory itself here.',
        });
      } else if (entry.isDirectory()) {
        if (depth < bounds.depth) pending.push({ ref, depth: depth + 1 });
        else {
          const message = `Deeper than ${bounds.depth} directories, and not looked into. Move it up.`;
          problems.push({ code: 'too_deep', ref, message });
        }
      } else if (entry.isFile() && entry.name.endsWith('.json')) files.push(ref);
    }
  }
  return { files: files.sort(), problems };
}

const LEADS_OUT: WalkProblem = {
  code: 'symbolic_link',
  ref: '.',
  message:
    'The directory of workflows is a link that leads out of the project, and is not followed. Put the files into the project, or give the directory itself with --workflows.',
};

function isInside(tree: string, directory: string): boolean {
  const relative = path.relative(tree, directory);
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

function list(directory: string) {
  return readdir(directory, { withFileTypes: true });
}

function unreadable(ref: string, cause: unknown): WalkProblem {
  return {
    code: 'unreadable_directory',
    ref: ref || '.',
    message: `The directory cannot be read (${errorCode(cause)}). Make it a directory that you may read.`,
  };
}

function isMissing(cause: unknown): boolean {
  return errorCode(cause) === 'ENOENT';
}

/** The system's error code for a file. */
export function errorCode(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
}
