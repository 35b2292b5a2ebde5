import { type ErrorEnvelope, failure, ok, type Result, utf8Bytes } from '@signalbox/model';
import type { ArtifactRecord, Blobs } from '@signalbox/runs';

/** The content of an artifact, from its row or its blob. */
export async function artifactContent(
  blobs: Pick<Blobs, 'get'>,
  { content, digest }: Pick<ArtifactRecord, 'content' | 'digest'>,
): Promise<Result<Uint8Array, ErrorEnvelope>> {
  return content === undefined ? blobs.get(digest) : ok(utf8Bytes(content));
}

export function unknownArtifact(given: string): ErrorEnvelope<'artifact/unknown'> {
  const shown = given.slice(0, 64).toWellFormed();
  return failure('artifact/unknown', {
    message: `There is no artifact ${shown} in this data directory.`,
    suggestion: 'List a run\'s artifacts with "signalbox artifacts RUN", and give a full id.',
    details: { artifact: shown },
  });
}
