import { artifactRefOf, type RunId, type WireArtifact } from '@signalbox/model';
import { type ArtifactRecord, contractNodeId } from '@signalbox/runs';
import type { ReadTurnArtifact } from '../turns/turn-desk.ts';

/** One that was kept. */
export function artifactView(run: RunId, { content: _, ...artifact }: ArtifactRecord): WireArtifact {
  const { node } = artifact;
  return {
    ...artifact,
    ref: artifactRefOf(artifact.id),
    run,
    ...(node === undefined ? {} : { nodeId: contractNodeId(run, node) }),
  };
}

/** One that follows from a turn. */
export function turnView({ content: _, ...artifact }: ReadTurnArtifact): WireArtifact {
  const { id, run, node } = artifact;
  return { ...artifact, ref: artifactRefOf(id), nodeId: contractNodeId(run, node), derived: true };
}
