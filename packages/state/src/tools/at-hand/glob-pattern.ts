import { posix } from 'node:path';

/** A test for paths by a pattern; undefined if the pattern is invalid. */
export function globMatcher(pattern: string): ((path: string) => boolean) | undefined {
  if (pattern.startsWith('/') || pattern.includes('\0')) return undefined;
  const tidy = pattern.replace(/^(\.\/)+/, '');
  return tidy === '' ? undefined : path => posix.matchesGlob(path, tidy);
}
