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
import type { ArtifactOfRun, Blobs, RunReader } from '@signalbox/runs';

/** An artifact with its content, from its row or its blob. */
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
  const { content, digest } = found.artifact;
  if (content !== undefined) return ok({ ...found, content: utf8Bytes(content) });
  const blob = await reader.get(digest);
  return blob.ok ? ok({ ...found, content: blob.value }) : blob;
}

export function unknownArtifact(given: string): ErrorEnvelope<'artifact/unknown'> {
  const shown = given.slice(0, 64).toWellFormed();
  return failure('artifact/unknown', {
    message: `There is no artifact ${shown} in this data directory.`,
    suggestion: 'See "signalbox artifacts RUN" for those of a run, and give the whole id of one.',
    details: { artifact: shown },
  });
}
