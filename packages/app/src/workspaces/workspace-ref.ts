import { type Digest, digest, type RunId } from '@signalbox/model';
import type { RunReader } from '@signalbox/runs';

/** In the space `workspace`: the snapshot of a run's files. */
export const WORKSPACE_KEY = 'files';

/** The snapshot of a run's files in a frame; undefined if it has none, or it was not stored. */
export async function workspaceAt(reader: RunReader, run: RunId, frame: number): Promise<Digest | undefined> {
  const ref = digest.safeParse(await reader.valueAt(run, 'workspace', WORKSPACE_KEY, frame));
  return ref.success ? ref.data : undefined;
}
