/**
 * Where git looks for programs, by path. A repository's directory is a `.git`, one of a submodule or worktree inside it, or any other
 * directory that has the shape of one: git uses that too as soon as somebody works in it.
 */
export interface GitPlace {
  /** The repository's directory. */
  readonly directory: string;
  /** Whether it counts only if it has the shape of a repository. */
  readonly mayBeBare: boolean;
}

/** The repositories in which a changed path matters for what git runs. Paths of commits, branches, the index and objects don't. */
export function gitPlacesAt(path: string): readonly GitPlace[] {
  const parts = path.split('/');
  const names = parts.map(plainName);
  const dotGit = names.lastIndexOf('.git');
  if (dotGit >= 0) {
    const length = innermost(names, dotGit + 1);
    const inside = names[length];
    // The directory itself may have become a link or a file.
    if (inside === undefined || MATTERS.has(inside)) {
      return [{ directory: parts.slice(0, length).join('/'), mayBeBare: false }];
    }
    return [];
  }
  return names.flatMap((name, at) =>
    MATTERS.has(name) || SHAPE.has(name) ? [{ directory: parts.slice(0, at).join('/'), mayBeBare: true }] : [],
  );
}

/** Whether a path is the entry `.git` of a directory: a repository, or a file or link that says where it is. */
export function isDotGit(path: string): boolean {
  return plainName(path.slice(path.lastIndexOf('/') + 1)) === '.git';
}

/** Whether a path is the directory of a submodule or worktree inside a repository. */
export function isInnerRepository(path: string): boolean {
  const names = path.split('/').map(plainName);
  const dotGit = names.lastIndexOf('.git');
  return dotGit >= 0 && names.length > dotGit + 1 && innermost(names, dotGit + 1) === names.length;
}

/** Some filesystems ignore case, and characters that are not visible. */
function plainName(name: string): string {
  return name.replaceAll(IGNORED, '').toLowerCase();
}

const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** Where the innermost repository's directory ends: those of submodules and worktrees are inside their parent's. */
function innermost(names: readonly string[], from: number): number {
  let end = from;
  for (;;) {
    const next =
      names[end] === 'worktrees' ? end + 2 : names[end] === 'modules' ? endOfModule(names, end + 1) : undefined;
    if (next === undefined || next > names.length) return end;
    end = next;
  }
}

/** A submodule's name may have several parts. */
function endOfModule(names: readonly string[], from: number): number {
  const rest = names.slice(from + 1).findIndex(name => MATTERS.has(name) || SHAPE.has(name) || INERT.has(name));
  return rest < 0 ? names.length : from + 1 + rest;
}

const MATTERS = new Set([
  ...['config', 'config.worktree', 'hooks', 'commondir', 'modules', 'worktrees', 'rebase-merge', 'sequencer'],
]);
const SHAPE = new Set(['head', 'objects', 'refs']);
const INERT = new Set(['logs', 'info', 'index', 'lfs', 'packed-refs', 'rebase-apply']);
