import { type ErrorEnvelope, failure } from '@signalbox/model';
import { forbiddenPlaces, realDirectory } from '@signalbox/state';

/**
 * Why a directory cannot be the one that a run works in; undefined if it can. A directory that merely holds the data directory
 * can: tools and snapshots leave that out by what it is, not by its path.
 */
export function workingDirectoryFault(
  directory: string,
  dataDirectory: string,
): ErrorEnvelope<'plan/place-refused'> | undefined {
  const real = realDirectory(directory);
  if (real === '/') return refused(directory, 'it is the whole disk');
  const isOwn = real !== undefined && forbiddenPlaces([dataDirectory]).holds(real);
  return isOwn ? refused(directory, 'it is in the data directory, which agents may not enter') : undefined;
}

function refused(directory: string, why: string): ErrorEnvelope<'plan/place-refused'> {
  return failure('plan/place-refused', {
    message: `No run can work in ${directory}: ${why}.`,
    suggestion: 'Name the directory of a project.',
  });
}
