import { type ErrorEnvelope, ok, type Result } from '@signalbox/model';
import type { RunReader, RunRecord } from '@signalbox/runs';

/**
 * Directories that a run has from a bundle: those of the imported run itself, and those that its forks inherited. The bundle's author chose
 * them; nobody here has allowed them. Directories named or created here are not among them.
 */
async function directoriesFromBundle(reader: Pick<RunReader, 'run'>, record: RunRecord): Promise<readonly string[]> {
  let [one, inherited] = [record, directoriesOf(record)];
  while (inherited.length > 0 && one.origin?.kind !== 'import') {
    if (one.origin === undefined) return [];
    const parent = await reader.run(one.origin.run);
    // Nothing says that they are the user's own.
    if (parent === undefined) break;
    const above = directoriesOf(parent);
    [one, inherited] = [parent, inherited.filter(directory => above.includes(directory))];
  }
  return inherited;
}

/** The working directory of a run, and the origin of its workspace. */
function directoriesOf({ workingDirectory, workspace, source }: RunRecord): readonly string[] {
  const works = workingDirectory ?? source?.root;
  return [
    ...(works === undefined ? [] : [works]),
    ...(workspace === undefined ? [] : [workspace.path, workspace.base]),
  ];
}

/** Checks each directory that a run has from a bundle like that of a new run. */
export async function inheritedPlace(
  reader: Pick<RunReader, 'run'>,
  record: RunRecord,
  check: (directory: string) => Result<unknown, ErrorEnvelope>,
): Promise<Result<void, ErrorEnvelope>> {
  for (const directory of await directoriesFromBundle(reader, record)) {
    const allowed = check(directory);
    if (!allowed.ok) return allowed;
  }
  return ok(undefined);
}
