import * as fs from 'node:fs';
import { type ErrorEnvelope, failure } from '@signalbox/model';
import * as z from 'zod';
import { identityOf } from './host-scan.ts';
import { osPath } from './path-name.ts';

/** A directory, by where it is and by what tells it from another one, or a link, that is there later. */
export const rootIdentity = z.strictObject({ root: z.string(), identity: z.string() });
export type RootIdentity = z.infer<typeof rootIdentity>;

/** The directory that is at a path now, links resolved; undefined where none is. */
export function rootAt(path: string): RootIdentity | undefined {
  try {
    const root = fs.realpathSync.native(osPath(path));
    const there = fs.statSync(root);
    return there.isDirectory() ? { root, identity: identityOf(there) } : undefined;
  } catch {
    return undefined;
  }
}

/** Why what is at a path is not the directory that was there. */
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
    suggestion: 'Move the directory that was there back to its place, then try again.',
    retry: { kind: 'retryable_immediate' },
  });
}

/**
 * Where a filesystem does not tell when a directory was made, some systems answer with its last change instead: then only
 * the inode counts.
 */
function isSame(there: fs.Stats, identity: string): boolean {
  if (identityOf(there) === identity) return true;
  return there.birthtimeMs === there.ctimeMs && identity.startsWith(`${there.ino}:`);
}
