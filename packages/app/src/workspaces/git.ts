import { execFile } from 'node:child_process';

export interface GitAnswer {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

/** Nothing of ours is run by git on the way: no hooks, no monitor, no housekeeping. */
const QUIET = [
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'gc.auto=0',
  '-c',
  'advice.detachedHead=false',
];
const MAX_OUT = 256 * 1024 * 1024;

/** Runs git in a directory. Code 127 where there is no git. */
export function git(directory: string, args: readonly string[]): Promise<GitAnswer> {
  return new Promise(resolve => {
    const options = { cwd: directory, env: plainEnvironment(), maxBuffer: MAX_OUT, encoding: 'utf8' as const };
    execFile('git', [...QUIET, ...args], options, (error, out, said) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 127;
      resolve({ code, out, said: said.trim() === '' ? (error?.message ?? '') : said.trim() });
    });
  });
}

/** Variables of a git that called us would name another repository. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  return { ...Object.fromEntries(own), GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };
}
