import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { closeToOthers } from '@signalbox/journal';

/**
 * Makes a directory and those above it that are missing, for its owner alone, and closes it to others if it was there. Throws what
 * the system says. Answers the topmost that it made. Folder by folder: a recursive mkdir never ends on file systems that answer ENOENT
 * below what exists, such as /proc.
 */
export function makePrivateDirectory(directory: string): string | undefined {
  const missing: string[] = [];
  for (let place = path.resolve(directory); !existsSync(place); place = path.dirname(place)) missing.unshift(place);
  for (const place of missing) mkdirSync(place, { mode: 0o700 });
  if (missing.length === 0) closeToOthers(directory);
  return missing[0];
}
