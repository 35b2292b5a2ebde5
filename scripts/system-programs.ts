import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/**
 * Programs that tests use, that npm does not have, and that a package manager of the system can bring. Nothing fails here:
 * tests whose program is missing are left out, and `test/allowed-skips.json` says which.
 */
const wanted = [{ program: '/usr/bin/bwrap', debian: 'bubblewrap', why: 'it confines the commands of agents' }];

for (const { program, debian, why } of wanted) {
  if (process.platform !== 'linux' || existsSync(program)) continue;
  console.log(`${program} is not here (${why}). Asking apt-get for ${debian}.`);
  const isRoot = process.getuid?.() === 0;
  const asked =
    isRoot && run('apt-get', 'update') && run('apt-get', 'install', '-y', '--no-install-recommends', debian);
  if (!asked) console.log(`It could not be installed${isRoot ? '' : ': that needs root'}. Its tests are left out.`);
}

function run(program: string, ...args: readonly string[]): boolean {
  const { status } = spawnSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: 120_000 });
  return status === 0;
}
