import { spawnSync } from 'node:child_process';
import { localProgram, repositoryRoot } from './local-program.ts';

/** The packages that are in the page, with their licences: Vite writes it beside the page (vite.config.ts). */
export const CONSOLE_LICENCES = 'licenses.json';

/** The page is built for use, whatever this process is for. */
export function buildConsole(): void {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [localProgram('vite', 'vite'), 'build', '--config', 'packages/console/vite.config.ts'],
    { cwd: repositoryRoot, encoding: 'utf8', env: { ...process.env, NODE_ENV: 'production' } },
  );
  if (status !== 0) throw new Error(`the console could not be built:\n${stdout}${stderr}`);
}
