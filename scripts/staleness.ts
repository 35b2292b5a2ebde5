import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from './local-program.ts';

/** Whether something that the page is made of is newer than the page, or there is none. */
export function isConsoleStale(): boolean {
  return isStale('packages/console/dist/index.html', ['packages/console', 'packages/client', 'packages/model']);
}

/** The program as it is published, if nothing changed since it was built: it starts five times as fast. Else its sources. */
export function programEntry(): string {
  return path.join(repositoryRoot, 'packages/signalbox', isProgramStale() ? 'src/main.ts' : 'dist/main.js');
}

/** Compares with the file that the build writes last. */
export function isProgramStale(): boolean {
  return isStale('packages/signalbox/dist/bundled-compiled.json', ['packages', 'scripts']);
}

function isStale(made: string, folders: readonly string[]): boolean {
  const built = statSync(path.join(repositoryRoot, made), { throwIfNoEntry: false });
  return built === undefined || folders.some(folder => isNewer(path.join(repositoryRoot, folder), built.mtimeMs));
}

function isNewer(folder: string, mtimeMs: number): boolean {
  return readdirSync(folder, { withFileTypes: true }).some(entry => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return !/^(dist|node_modules|test)$/.test(entry.name) && isNewer(file, mtimeMs);
    return !/\.test\.tsx?$/.test(entry.name) && statSync(file).mtimeMs > mtimeMs;
  });
}
