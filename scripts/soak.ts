import { spawnSync } from 'node:child_process';
import { localProgram, repositoryRoot } from './local-program.ts';

/** The system tests at full size: suites that run a seeded sample by default run all of it. */
const run = spawnSync(
  process.execPath,
  [localProgram('vitest', 'vitest'), 'run', '--project', '!unit', ...process.argv.slice(2)],
  { cwd: repositoryRoot, stdio: 'inherit', env: { ...process.env, SIGNALBOX_SOAK: '1' } },
);
process.exitCode = run.status ?? 1;
