import { runProgram, systemPath, systemProgram } from '@signalbox/state';

export interface GitAnswer {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

/**
 * Git is the system's own, and runs with our rights in repositories that agents write to. So it must not run anything that a repository
 * names: no hook, monitor, filter or transport.
 */
const QUIET = [
  ...['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'gc.auto=0', 'maintenance.auto=false'],
  ...['submodule.recurse=false', 'advice.detachedHead=false'],
].flatMap(setting => ['-c', setting]);
const MAX_OUT = 256 * 1024 * 1024;
const NO_GIT: GitAnswer = { code: 127, out: '', said: 'git is not installed' };

let program: string | undefined;

/** The system's git; undefined if there is none. Searched until it is found. */
export function gitProgram(): string | undefined {
  program ??= systemProgram('git');
  return program;
}

/** Runs git in a directory. Code 127 if there is no git. */
export async function git(
  directory: string,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<GitAnswer> {
  const file = gitProgram();
  if (file === undefined) return NO_GIT;
  const env = { ...plainEnvironment(), ...more };
  const {
    code = 127,
    out,
    said,
  } = await runProgram(file, [...QUIET, ...args], { cwd: directory, env, maxBytes: MAX_OUT });
  return { code, out, said: said.trim() };
}

/** Creates a worktree with a detached head. Filters of the user's own configuration run, those that the repository names do not. */
export async function addWorktree(repository: string, place: string, commit: string): Promise<GitAnswer> {
  const listed = await git(repository, ['config', '--list', '--show-scope', '--name-only', '-z']);
  if (listed.code !== 0) return listed;
  const words = listed.out.split('\0');
  const own = words.filter((_, at) => at % 2 === 1 && ['local', 'worktree'].includes(words[at - 1] ?? ''));
  const names = own.flatMap(key => /^filter\.(.+)\.(?:clean|smudge|process)$/s.exec(key)?.[1] ?? []);
  const settings = [...new Set(names)].flatMap(name => [
    ...['clean', 'smudge', 'process'].map(kind => [`filter.${name}.${kind}`, ''] as const),
    [`filter.${name}.required`, 'false'] as const,
  ]);
  const variables = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]);
  const more = Object.fromEntries([['GIT_CONFIG_COUNT', String(settings.length)], ...variables]);
  return git(repository, ['worktree', 'add', '--detach', place, commit], more);
}

/** Variables of a calling git would name another repository. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  return {
    ...Object.fromEntries(own),
    PATH: systemPath(),
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    // A repository may say where its missing objects are, and with which program to fetch them.
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    LC_ALL: 'C',
  };
}
