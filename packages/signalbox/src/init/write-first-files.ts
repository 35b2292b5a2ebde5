import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ErrorEnvelope } from '@signalbox/app';
import { usageError } from '@signalbox/app';
import { firstFiles } from './first-files.ts';

export interface Initialised {
  readonly directory: string;
  readonly written: readonly string[];
  /** Whether editors find the types of the plan API from this folder. */
  readonly typesInstalled: boolean;
}

/** Writes the first files of a plan folder: all of them, or none if one exists and `force` is not set. */
export function writeFirstFiles(
  directory: string,
  { force, agent }: { readonly force: boolean; readonly agent?: string | undefined },
): { readonly ok: true; readonly value: Initialised } | { readonly ok: false; readonly error: ErrorEnvelope } {
  const typesInstalled = ancestorsOf(directory).some(folder => existsSync(path.join(folder, 'node_modules/signalbox')));
  const hasManifest = ancestorsOf(directory).some(folder => existsSync(path.join(folder, 'package.json')));
  const files = firstFiles({ withManifest: !typesInstalled && !hasManifest, agent });
  const there = files.map(file => file.path).filter(name => existsSync(path.join(directory, name)));
  if (there.length > 0 && !force) {
    const names = there.join(' and ');
    const error = usageError(
      `${names} already ${there.length === 1 ? 'exists' : 'exist'} in ${directory}; nothing was written.`,
      'Choose another folder with "signalbox init DIR", or overwrite with --force.',
    );
    return { ok: false, error };
  }
  try {
    // One folder at a time: a recursive mkdir never ends on file systems like /proc that answer ENOENT below existing folders.
    for (const folder of ancestorsOf(directory).toReversed()) if (!existsSync(folder)) mkdirSync(folder);
    // A file that has appeared since is not overwritten either.
    for (const { path: name, text } of files)
      writeFileSync(path.join(directory, name), text, { flag: force ? 'w' : 'wx' });
  } catch (cause) {
    const { message } = cause as Error;
    return {
      ok: false,
      error: usageError(`The files cannot be written: ${message}.`, 'Give a folder that you can write to.'),
    };
  }
  return { ok: true, value: { directory, written: files.map(file => file.path), typesInstalled } };
}

function ancestorsOf(directory: string): readonly string[] {
  const parent = path.dirname(directory);
  return parent === directory ? [directory] : [directory, ...ancestorsOf(parent)];
}
