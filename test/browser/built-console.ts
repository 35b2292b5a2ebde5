import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { localProgram, repositoryRoot } from '../../scripts/local-program.ts';
import { isConsoleStale } from '../../scripts/staleness.ts';

export interface BuiltConsole {
  readonly directory: string;
  remove(): void;
}

const home = path.join(repositoryRoot, 'packages/console');

/** The console as it is published: the one that was built last, if nothing changed since, else one of its own. */
export function builtConsole(): BuiltConsole {
  if (!isConsoleStale()) return { directory: path.join(home, 'dist'), remove: () => undefined };
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
