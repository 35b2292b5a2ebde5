import * as fs from 'node:fs';
import { err, ok, type Result } from '@signalbox/model';
import { type FileError, fileFailed } from './filesystem.ts';
import type { ForbiddenPlaces } from './forbidden-places.ts';
import { isWithin } from './path-locks.ts';
import { below, nameFromBytes, osPath, pathParts, pathRefused } from './path-name.ts';

/** Limits for paths of a root. All are real, absolute paths. */
export interface Confinement {
  readonly root: string;
  readonly forbidden: ForbiddenPlaces;
  readonly opaque: ReadonlySet<string>;
  /** Files and directories with credentials, which no tool reads or changes. */
  hidden?(): readonly string[];
}

export interface HostPath {
  /** Absolute, with every link resolved except a last one. */
  readonly path: string;
  /** Relative to the root, the same way. */
  readonly parts: readonly string[];
}

/**
 * Resolves a path on the host, or says why it is refused. Every parent directory is resolved, so an operation on the result
 * stays inside the root as long as nobody replaces a directory by a link in between.
 */
export function hostPath(
  limits: Confinement,
  path: string,
  how: { readonly followLast: boolean; readonly change: boolean },
): Result<HostPath, FileError> {
  const parts = pathParts(path);
  if (!parts.ok) return parts;
  const hidden = limits.hidden?.() ?? [];
  let at = limits.root;
  for (const [index, part] of parts.value.entries()) {
    const next = below(at, part);
    const looked = lookAt(path, next);
    if (!looked.ok) return looked;
    if (looked.value?.isSymbolicLink() && (how.followLast || index < parts.value.length - 1)) {
      const real = realPath(next);
      if (real === undefined) return err(fileFailed(path, 'a link in it is broken'));
      at = real;
      if (isWithin(at, limits.root) && ledPastForbidden(limits, at)) return err(pathRefused(path, NOT_ENTERED));
    } else at = next;
    if (!isWithin(at, limits.root)) return err(pathRefused(path, 'it leaves the root'));
    const isIn = limits.forbidden.paths.some(directory => isWithin(at, directory));
    if (isIn || (looked.value !== undefined && limits.forbidden.has(looked.value)))
      return err(pathRefused(path, NOT_ENTERED));
    if (hidden.some(one => isWithin(at, one))) return err(pathRefused(path, 'it holds credentials'));
  }
  const within = partsBelow(limits.root, at);
  const opaque = how.change ? within.find(part => limits.opaque.has(part)) : undefined;
  if (opaque !== undefined) return err(pathRefused(path, `changes inside ${opaque} could not be undone`));
  return ok({ path: at, parts: within });
}

function partsBelow(root: string, path: string): readonly string[] {
  return path === root ? [] : path.slice(below(root, '').length).split('/');
}

const NOT_ENTERED = 'it is in a directory that tools may not enter';

/** Whether a link leads to or through a forbidden directory. */
function ledPastForbidden({ root, forbidden }: Confinement, at: string): boolean {
  let path = root;
  return partsBelow(root, at).some(part => {
    path = below(path, part);
    const stat = statAt(path);
    return stat !== undefined && forbidden.has(stat);
  });
}

export function statAt(path: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(osPath(path), { throwIfNoEntry: false });
  } catch {
    // An entry that cannot be inspected cannot be opened either.
    return undefined;
  }
}

function lookAt(path: string, at: string): Result<fs.Stats | undefined, FileError> {
  try {
    return ok(fs.lstatSync(osPath(at), { throwIfNoEntry: false }));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    return err(fileFailed(path, code === 'ENOTDIR' ? 'a part of it is not a directory' : (code ?? String(cause))));
  }
}

function realPath(path: string): string | undefined {
  try {
    return nameFromBytes(fs.realpathSync.native(osPath(path), { encoding: 'buffer' }));
  } catch {
    return undefined;
  }
}
