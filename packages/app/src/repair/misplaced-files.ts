import { statSync } from 'node:fs';
import path from 'node:path';
import { type ErrorEnvelope, failure } from '@signalbox/model';

/** The directories that a repair reads or writes. */
const DIRECTORIES = ['cache', 'blobs', 'runs', 'projects'] as const;

/** Why a data directory cannot be repaired: something else is in the place of one of its directories. */
export function misplacedFile(dataDirectory: string): ErrorEnvelope<'store/unusable'> | undefined {
  for (const name of DIRECTORIES) {
    const place = path.join(dataDirectory, name);
    const entry = statSync(place, { throwIfNoEntry: false });
    if (entry === undefined || entry.isDirectory()) continue;
    return failure('store/unusable', {
      message: `"${name}" in the data directory is not a directory: ${place}.`,
      suggestion:
        name === 'cache'
          ? 'Delete or move it, then repair again: Signalbox creates the cache anew, and nothing in it is needed.'
          : `Move it away, then repair again. If "${name}" had contents, put them back from a backup first.`,
    });
  }
  return undefined;
}
