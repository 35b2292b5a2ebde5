import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { type ArtifactId, artifactId, nodeId, runId } from '../ids.ts';
import { text } from '../json.ts';

/** The contract's kinds, then those of plans, then those of the fleet. */
export const artifactKind = z.enum([
  'diff',
  'prompt',
  'log',
  'transcript',
  'contextpack',
  'report',
  'markdown',
  'table',
  'progress',
  'link',
  'image',
  'code',
  'document',
  'design',
  'config',
  'test',
  'other',
]);
export type ArtifactKind = z.infer<typeof artifactKind>;

export const diffMetadata = z.strictObject({
  filesChanged: z.array(text),
  summary: text,
});
export type DiffMetadata = z.infer<typeof diffMetadata>;

export const artifact = z.strictObject({
  id: artifactId,
  runId,
  nodeId,
  kind: artifactKind,
  name: text.min(1),
  path: text.min(1),
  createdAt: timestamp,
  /** For a `diff`. */
  diff: diffMetadata.optional(),
});
export type Artifact = z.infer<typeof artifact>;

/** A reference to an artifact: `artifact://<artifactId>`. */
export const artifactRef = z
  .string()
  .regex(/^artifact:\/\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'must be artifact:// and an artifact id')
  .brand<'ArtifactRef'>();
export type ArtifactRef = z.infer<typeof artifactRef>;

export function artifactRefOf(id: ArtifactId): ArtifactRef {
  return `artifact://${id}` as ArtifactRef;
}
