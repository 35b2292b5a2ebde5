import { existsSync } from 'node:fs';
import path from 'node:path';

/** Returns the bundle of a program that tests start, such as `packages/app/test/support/crash-child.ts`, or the program itself if there isn't one. */
export function childScript(...place: readonly string[]): string {
  const file = path.join(...place);
  const folder = process.env.SIGNALBOX_BUNDLED_CHILDREN ?? '';
  const bundle = path.join(
    folder,
    `${file.split(`${path.sep}packages${path.sep}`).at(-1)?.slice(0, -'.ts'.length)}.js`,
  );
  return existsSync(bundle) ? bundle : file;
}
