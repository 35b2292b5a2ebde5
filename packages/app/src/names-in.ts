import { readdirSync } from 'node:fs';

/** The names in a directory; none if it cannot be read. */
export function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
