import { artifactRefOf, type RunId, type WireArtifact } from '@signalbox/model';
import { type ArtifactRecord, contractNodeId } from '@signalbox/runs';
import type { ReadTurnArtifact } from '../turns/turn-desk.ts';

/** A stored artifact. */
export function artifactView(run: RunId, { content: _, ...artifact }: ArtifactRecord): WireArtifact {
  const { node } = artifact;
  return {
    ...artifact,
    ref: artifactRefOf(artifact.id),
    run,
    ...(node === undefined ? {} : { nodeId: contractNodeId(run, node) }),
  };
}

/** An artifact derived from a turn. */
export function turnView({ content: _, ...artifact }: ReadTurnArtifact): WireArtifact {
  const { id, run, node } = artifact;
  return { ...artifact, ref: artifactRefOf(id), nodeId: contractNodeId(run, node), derived: true };
}
