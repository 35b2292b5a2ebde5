import { spawnSync } from 'node:child_process';
import { repositoryRoot } from './local-program.ts';

/**
 * Every test without shortcuts: samples are larger, temporary files are on the disk, and programs run from their sources. Also the
 * changes of `test/patches`, in a fresh clone.
 */
const steps = [
  ['npm', 'test'],
  [process.execPath, 'test/patches/try-patches.ts'],
] as const;
for (const [program, ...args] of steps) {
  const run = spawnSync(program, args, {
    cwd: repositoryRoot,
    stdio: 'inherit',
    env: { ...process.env, SIGNALBOX_FULL: '1' },
    shell: program === 'npm' && process.platform === 'win32',
  });
  process.exitCode ||= run.status ?? 1;
}
