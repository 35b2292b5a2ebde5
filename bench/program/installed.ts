import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';

const repository = path.join(import.meta.dirname, '../..');

/** The program as it is published: a copy has no sources beside it, so its bin runs what `npm run build` made. */
export function installed(root: string): string {
  const home = path.join(root, 'installed');
  mkdirSync(home);
  for (const part of ['bin', 'dist', 'package.json']) {
    cpSync(path.join(repository, 'packages/signalbox', part), path.join(home, part), { recursive: true });
  }
  symlinkSync(path.join(repository, 'node_modules'), path.join(home, 'node_modules'));
  return path.join(home, 'bin/signalbox.js');
}
