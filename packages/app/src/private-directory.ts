import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { closeToOthers } from '@signalbox/journal';

/**
 * Creates a directory and its missing parents, private to its owner, and makes an existing one private. Throws system errors. Returns the
 * topmost directory that it created. Folder by folder: a recursive mkdir never ends on file systems that answer ENOENT below what exists,
 * such as /proc.
 */
export function makePrivateDirectory(directory: string): string | undefined {
  const missing: string[] = [];
  for (let place = path.resolve(directory); !existsSync(place); place = path.dirname(place)) missing.unshift(place);
  for (const place of missing) mkdirSync(place, { mode: 0o700 });
  if (missing.length === 0) closeToOthers(directory);
  return missing[0];
}
