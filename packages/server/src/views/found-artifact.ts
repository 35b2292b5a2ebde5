import type { GuidedRuns } from '@signalbox/app/guided';
import { artifactContent, type RunHost, unknownArtifact } from '@signalbox/app/runs';
import { artifactId, type ErrorEnvelope, err, ok, type Result, type WireArtifact } from '@signalbox/model';
import { artifactView, turnView } from './artifact-view.ts';

export interface FoundArtifact {
  readonly artifact: WireArtifact;
  content(): Promise<Result<Uint8Array, ErrorEnvelope>>;
}

/** By its id: one that a run kept, that was handed in on a guided run, or that follows from a turn. */
export async function findArtifact(
  { reader, blobs, inspection: { turns } }: Pick<RunHost, 'reader' | 'blobs' | 'inspection'>,
  guided: GuidedRuns | undefined,
  given: string,
): Promise<Result<FoundArtifact, ErrorEnvelope>> {
  const id = artifactId.safeParse(given);
  const kept = id.success ? await reader.artifact(id.data) : undefined;
  if (kept !== undefined) {
    const { run, artifact } = kept;
    return ok({ artifact: artifactView(run, artifact), content: () => artifactContent(blobs, artifact) });
  }
  const all = guided?.artifacts() ?? ok([]);
  if (!all.ok) return all;
  const handedIn = all.value.find(one => one.id === given);
  if (guided !== undefined && handedIn !== undefined) {
    return ok({ artifact: handedIn, content: async () => guided.content(handedIn) });
  }
  const turn = await turns.find(given);
  if (turn === undefined) return err(unknownArtifact(given));
  const made = await turns.read(turn);
  return made.ok ? ok({ artifact: turnView(made.value), content: async () => ok(made.value.content) }) : made;
}
