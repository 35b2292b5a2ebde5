import * as fs from 'node:fs';
import { type ErrorEnvelope, failure } from '@signalbox/model';
import * as z from 'zod';
import { identityOf } from './host-scan.ts';
import { osPath } from './path-name.ts';

/** A directory, by its path and an identity that distinguishes it from a later directory or link at that path. */
export const rootIdentity = z.strictObject({ root: z.string(), identity: z.string() });
export type RootIdentity = z.infer<typeof rootIdentity>;

/** The directory at a path now, with links resolved; undefined if there is none. */
export function rootAt(path: string): RootIdentity | undefined {
  try {
    const root = fs.realpathSync.native(osPath(path));
    const there = fs.statSync(root);
    return there.isDirectory() ? { root, identity: identityOf(there) } : undefined;
  } catch {
    return undefined;
  }
}

/** Why a path no longer leads to the original directory. */
export function rootReplaced(
  root: string,
  identity: string,
  dev?: number,
): ErrorEnvelope<'state/root-replaced'> | undefined {
  const there = fs.lstatSync(osPath(root), { throwIfNoEntry: false });
  if (there?.isDirectory() && isSame(there, identity) && (dev === undefined || there.dev === dev)) return undefined;
  const what = there === undefined ? 'is gone' : there.isSymbolicLink() ? 'is a link now' : 'is another directory now';
  return failure('state/root-replaced', {
    message: `the working directory ${root} ${what}; nothing was changed`,
    suggestion: 'Move the original directory back, then try again.',
    retry: { kind: 'retryable_immediate' },
  });
}

/**
 * If a filesystem does not record when a directory was created, some systems return its last change instead: then only the
 * inode counts.
 */
function isSame(there: fs.Stats, identity: string): boolean {
  if (identityOf(there) === identity) return true;
  return there.birthtimeMs === there.ctimeMs && identity.startsWith(`${there.ino}:`);
}
