import type { ArtifactId } from '@signalbox/model';
import type { ArtifactRecord } from '@signalbox/runs';
import { at, hashOf } from '../builders.ts';

export function artifactOf(id: ArtifactId): ArtifactRecord {
  return {
    id,
    kind: 'report',
    name: 'report.md',
    digest: hashOf('text'),
    bytes: 4,
    mimeType: 'text/markdown',
    content: 'text',
    createdAt: at(),
  };
}
