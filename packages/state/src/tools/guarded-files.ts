import { err, type Result } from '@signalbox/model';
import type { FileError, Files } from '../filesystem/filesystem.ts';
import { isWithin } from '../filesystem/path-locks.ts';
import { pathRefused } from '../filesystem/path-name.ts';

/** What a call may change: nothing, some paths (with links followed), or anything. */
export type WriteScope = 'nothing' | 'anything' | readonly string[];

/**
 * The files that a handler sees. A change outside its tool's declaration is refused, because it would not be undone; so is
 * every change after the call has ended.
 */
export function guardedFiles(
  files: Files & { locate(path: string): Result<string, FileError> },
  scope: WriteScope,
  hasEnded: () => boolean,
): Files {
  const refusal = (path: string): FileError | undefined => {
    if (hasEnded()) return pathRefused(path, 'the call has ended');
    if (scope === 'anything') return undefined;
    if (scope === 'nothing') return pathRefused(path, 'the tool is not declared to change files');
    const at = files.locate(path);
    if (!at.ok) return at.error;
    return scope.some(declared => isWithin(at.value, declared))
      ? undefined
      : pathRefused(path, 'the tool did not declare that it changes it');
  };
  const guarded = async <T>(paths: readonly string[], change: () => Promise<Result<T, FileError>>) => {
    for (const path of paths) {
      const refused = refusal(path);
      if (refused !== undefined) return err(refused);
    }
    return change();
  };
  return {
    read: path => files.read(path),
    list: path => files.list(path),
    stat: path => files.stat(path),
    write: (path, content) => guarded([path], () => files.write(path, content)),
    remove: path => guarded([path], () => files.remove(path)),
    rename: (from, to) => guarded([from, to], () => files.rename(from, to)),
    mkdir: path => guarded([path], () => files.mkdir(path)),
    symlink: (target, path) => guarded([path], () => files.symlink(target, path)),
    chmod: (path, mode) => guarded([path], () => files.chmod(path, mode)),
  };
}
