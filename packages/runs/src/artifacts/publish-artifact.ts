import {
  type ArtifactId,
  type Clock,
  type ErrorEnvelope,
  err,
  type Hasher,
  ok,
  type Result,
  timestampOf,
} from '@signalbox/model';
import type { Blobs } from '../blobs.ts';
import type { Commit } from '../commit.ts';
import type { RunReader } from '../reader.ts';
import type { ArtifactDraft } from './artifact-draft.ts';
import { type ArtifactPlace, keepArtifact } from './keep-artifact.ts';

export interface ArtifactPorts {
  readonly commit: Commit;
  readonly reader: Pick<RunReader, 'artifact'>;
  readonly blobs: Pick<Blobs, 'put'>;
  readonly clock: Clock;
  readonly hasher: Hasher;
}

/**
 * Stores an artifact beside the run's driver. The artifact and its event are durable when this returns. Publishing again under the same id
 * does nothing.
 */
export async function publishArtifact(
  { commit, reader, blobs, clock, hasher }: ArtifactPorts,
  id: ArtifactId,
  draft: ArtifactDraft,
  place: ArtifactPlace,
): Promise<Result<ArtifactId, ErrorEnvelope>> {
  if ((await reader.artifact(id)) !== undefined) return ok(id);
  const at = timestampOf(clock);
  const { record, event, blob } = keepArtifact(id, draft, place, at, hasher);
  if (blob !== undefined) {
    const kept = await blobs.put([blob]);
    if (!kept.ok) return kept;
  }
  const written = await commit.commit({ at, artifacts: [record], events: [event] }, { run: place.run, version: 'any' });
  if (written.ok) return ok(id);
  // Someone else published it at the same time.
  return (await reader.artifact(id)) === undefined ? err(written.error) : ok(id);
}
