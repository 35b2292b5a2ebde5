import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file of the repository: its path from the root, with forward slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly source: string;
}

export const repositoryRoot = fileURLToPath(new URL('..', import.meta.url));

/** The wanted files of the working tree, by path. What tools install or generate and hidden folders are left out. */
export function readSources(wanted: (path: string) => boolean): readonly SourceFile[] {
  return pathsUnder('')
    .filter(wanted)
    .sort()
    .map(file => ({ path: file, source: readFileSync(path.join(repositoryRoot, file), 'utf8') }));
}

const GENERATED = new Set(['node_modules', 'dist', 'coverage']);

function pathsUnder(folder: string): readonly string[] {
  return readdirSync(path.join(repositoryRoot, folder), { withFileTypes: true }).flatMap(entry => {
    const child = path.posix.join(folder, entry.name);
    if (entry.isFile()) return [child];
    return entry.isDirectory() && !entry.name.startsWith('.') && !GENERATED.has(entry.name) ? pathsUnder(child) : [];
  });
}
