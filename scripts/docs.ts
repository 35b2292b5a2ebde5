import { spawnSync } from 'node:child_process';
import { localProgram, repositoryRoot } from './local-program.ts';

/** Builds the site of the documentation into `docs/.vitepress/dist`; `npm run docs -- dev` serves it. */
const [action = 'build', ...more] = process.argv.slice(2);
const { status } = spawnSync(process.execPath, [localProgram('vitepress', 'vitepress'), action, 'docs', ...more], {
  cwd: repositoryRoot,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
