import { posix } from 'node:path';

/** A test for paths by a pattern, or undefined where it is none. */
export function globMatcher(pattern: string): ((path: string) => boolean) | undefined {
  if (pattern.startsWith('/') || pattern.includes('\0')) return undefined;
  const tidy = pattern.replace(/^(\.\/)+/, '');
  return tidy === '' ? undefined : path => posix.matchesGlob(path, tidy);
}
