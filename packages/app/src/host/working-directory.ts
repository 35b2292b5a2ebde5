import path from 'node:path';
import { type ErrorEnvelope, failure } from '@signalbox/model';
import { forbiddenPlaces, realDirectory } from '@signalbox/state';

/**
 * Why a directory cannot be a run's working directory; undefined if it can. A directory that merely contains the data directory can: tools
 * and snapshots exclude that by identity, not by path.
 */
export function workingDirectoryFault(
  directory: string,
  dataDirectory: string,
): ErrorEnvelope<'plan/place-refused'> | undefined {
  if (realDirectory(directory) === '/') return refused(directory, 'it is the whole disk');
  const isOwn = forbiddenPlaces([dataDirectory]).holds(existingAbove(directory));
  return isOwn ? refused(directory, 'it is in the data directory, which agents may not enter') : undefined;
}

/** The nearest directory that exists: a fork creates the rest. */
function existingAbove(directory: string): string {
  const above = path.dirname(path.resolve(directory));
  return realDirectory(directory) ?? (above === directory ? directory : existingAbove(above));
}

function refused(directory: string, why: string): ErrorEnvelope<'plan/place-refused'> {
  return failure('plan/place-refused', {
    message: `No run can work in ${directory}: ${why}.`,
    suggestion: 'Name the directory of a project.',
  });
}
