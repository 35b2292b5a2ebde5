/**
 * Files of a repository that name programs which git runs: its configuration and its hooks. Whoever uses git there runs them, outside of
 * every sandbox.
 */
export function gitPrograms(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)].filter(path => PROGRAMS.test(path));
}

const PROGRAMS = /(?:^|\/)\.git(?:\/(?:.+\/)?(?:config|config\.worktree|hooks(?:\/.*)?))?$/;
