import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { localProgram, repositoryRoot } from './local-program.ts';

/** The page is built for use, whatever this process is for. */
export function buildConsole(): void {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [localProgram('vite', 'vite'), 'build', '--config', 'packages/console/vite.config.ts'],
    { cwd: repositoryRoot, encoding: 'utf8', env: { ...process.env, NODE_ENV: 'production' } },
  );
  if (status !== 0) throw new Error(`the console could not be built:\n${stdout}${stderr}`);
}

/** Whether something that the page is made of is newer than the page. */
export function isConsoleStale(): boolean {
  const built = statSync(path.join(repositoryRoot, 'packages/console/dist/index.html'), { throwIfNoEntry: false });
  if (built === undefined) return true;
  const sources = ['packages/console', 'packages/client', 'packages/model'].flatMap(folder =>
    readdirSync(path.join(repositoryRoot, folder), { recursive: true, withFileTypes: true }).filter(
      entry => entry.isFile() && !/[\\/](dist|node_modules|test)([\\/]|$)/.test(entry.parentPath),
    ),
  );
  return sources.some(entry => statSync(path.join(entry.parentPath, entry.name)).mtimeMs > built.mtimeMs);
}
