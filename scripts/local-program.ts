import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const repositoryRoot = fileURLToPath(new URL('..', import.meta.url));

/**
 * The JavaScript file behind `node_modules/.bin/<program>`. Run with `process.execPath` it does not depend on the
 * shell's PATH, nor on how the platform starts scripts.
 */
export function localProgram(packageName: string, program: string): string {
  const folder = path.join(repositoryRoot, 'node_modules', packageName);
  const { bin } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  return path.join(folder, typeof bin === 'string' ? bin : bin[program]);
}
