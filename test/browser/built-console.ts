import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { localProgram, repositoryRoot } from '../../scripts/local-program.ts';

export interface BuiltConsole {
  readonly directory: string;
  remove(): void;
}

const home = path.join(repositoryRoot, 'packages/console');

/** The console as it is published: the one that was built last, if nothing changed since, else one of its own. */
export function builtConsole(): BuiltConsole {
  const dist = path.join(home, 'dist');
  const sources = ['console/src', 'client/src', 'model/src'].map(place => path.join(repositoryRoot, 'packages', place));
  const page = path.join(dist, 'index.html');
  if (existsSync(page) && statSync(page).mtimeMs > Math.max(...sources.map(newestOf))) {
    return { directory: dist, remove: () => undefined };
  }
  const directory = mkdtempSync(path.join(os.tmpdir(), 'signalbox-console-'));
  const built = spawnSync(
    process.execPath,
    [
      localProgram('vite', 'vite'),
      'build',
      '--config',
      path.join(home, 'vite.config.ts'),
      '--outDir',
      directory,
      '--emptyOutDir',
    ],
    { encoding: 'utf8', env: { ...process.env, NODE_ENV: 'production' } },
  );
  if (built.status !== 0) throw new Error(built.stderr);
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

function newestOf(folder: string): number {
  return Math.max(
    ...readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => statSync(path.join(entry.parentPath, entry.name)).mtimeMs),
  );
}
