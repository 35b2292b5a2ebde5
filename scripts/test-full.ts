import { spawnSync } from 'node:child_process';
import { repositoryRoot } from './local-program.ts';

/** Every test without shortcuts: samples are larger, temporary files are on the disk, and programs run from their sources. */
const run = spawnSync('npm', ['test'], {
  cwd: repositoryRoot,
  stdio: 'inherit',
  env: { ...process.env, SIGNALBOX_FULL: '1' },
  shell: process.platform === 'win32',
});
process.exitCode = run.status ?? 1;
