import {
  type ArtifactId,
  artifactId,
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type Result,
  utf8Bytes,
} from '@signalbox/model';
import type { ArtifactOfRun, ArtifactRecord, Blobs, RunReader } from '@signalbox/runs';

/** An artifact with its content. */
export interface ReadArtifact extends ArtifactOfRun {
  readonly content: Uint8Array;
}

/** By its id, or by a reference to it. */
export async function readArtifact(
  reader: Pick<RunReader, 'artifact'> & Pick<Blobs, 'get'>,
  given: string,
): Promise<Result<ReadArtifact, ErrorEnvelope>> {
  const id = artifactId.safeParse(given.replace(/^artifact:\/\//, ''));
  const found = id.success ? await reader.artifact(id.data as ArtifactId) : undefined;
  if (found === undefined) return err(unknownArtifact(given));
  const content = await artifactContent(reader, found.artifact);
  return content.ok ? ok({ ...found, content: content.value }) : content;
}

/** From its row or its blob. */
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
