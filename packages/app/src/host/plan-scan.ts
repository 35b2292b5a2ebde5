import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import path from 'node:path';

export interface FoundPlans {
  /** In order of their paths. */
  readonly files: readonly string[];
  /** Whether there may be more: the search ends after a while. */
  readonly isMore: boolean;
}

const MOST_FILES = 300;
const MOST_LOOKED = 5_000;
const DEEPEST = 5;
const FOLDER = '.signalbox';
/** A plan says so near its beginning. */
const HEAD_BYTES = 16_384;
const PLAN = /\bdefinePlan\b/;

/** The plans below some directories: files that define one. Folders of packages, of builds and hidden ones are passed by. */
export function scanPlans(roots: readonly string[]): FoundPlans {
  const files = new Set<string>();
  let looked = 0;
  const isFull = () => looked >= MOST_LOOKED || files.size >= MOST_FILES;
  const visit = (folder: string, depth: number): void => {
    for (const entry of entriesOf(folder)) {
      if (isFull()) return;
      looked += 1;
      const place = path.join(folder, entry.name);
      if (entry.isDirectory() && depth < DEEPEST && isLookedInto(entry.name)) visit(place, depth + 1);
      else if (entry.isFile() && entry.name.endsWith('.tsx') && PLAN.test(headOf(place))) files.add(place);
    }
  };
  for (const root of roots) visit(root, 0);
  return { files: [...files].toSorted(), isMore: isFull() };
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function isLookedInto(name: string): boolean {
  return name === FOLDER || !(name.startsWith('.') || name === 'node_modules' || name === 'dist' || name === 'build');
}

function headOf(file: string): string {
  try {
    const handle = openSync(file, 'r');
    try {
      const head = Buffer.alloc(HEAD_BYTES);
      return head.toString('utf8', 0, readSync(handle, head, 0, HEAD_BYTES, 0));
    } finally {
      closeSync(handle);
    }
  } catch {
    return '';
  }
}
