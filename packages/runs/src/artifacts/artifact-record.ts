import { artifactId, artifactKind, diffMetadata, digest, json, text, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { nodeKey, taskId } from '../ids.ts';

/** A stored output. Its content is a text of the row while it is small, and a blob otherwise; `digest` names it either way. */
export const artifactRecord = z.strictObject({
  id: artifactId,
  node: nodeKey.optional(),
  task: taskId.optional(),
  kind: artifactKind,
  name: text.min(1),
  digest,
  bytes: z.int().nonnegative(),
  mimeType: text.min(1),
  /** Present where the content is small; else it is the blob named by `digest`. */
  content: text.optional(),
  createdAt: timestamp,
  /** Artifacts with one key are versions of one thing. */
  key: text.min(1).optional(),
  version: z.int().positive().optional(),
  workstream: text.min(1).optional(),
  status: text.min(1).optional(),
  provenance: json.optional(),
  diff: diffMetadata.optional(),
});
export type ArtifactRecord = z.infer<typeof artifactRecord>;
