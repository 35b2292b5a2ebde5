import { artifactId, artifactKind, diffMetadata, digest, json, text, timestamp, utf8Length } from '@signalbox/model';
import * as z from 'zod';
import { nodeKey, taskId } from '../ids.ts';

/** Larger contents are stored in a blob. */
export const INLINE_MAX_BYTES = 65_536;

/** A stored output. Small content is text in the row, larger content a blob; `digest` names it either way. */
export const artifactRecord = z.strictObject({
  id: artifactId,
  node: nodeKey.optional(),
  task: taskId.optional(),
  kind: artifactKind,
  name: text.min(1),
  digest,
  bytes: z.int().nonnegative(),
  mimeType: text.min(1),
  /** Present for small content; otherwise it is the blob named by `digest`. */
  content: text
    .refine(
      content => utf8Length(content) <= INLINE_MAX_BYTES,
      `more than ${INLINE_MAX_BYTES} bytes belong into a blob`,
    )
    .optional(),
  createdAt: timestamp,
  /** Artifacts with the same key are versions of one thing. */
  key: text.min(1).optional(),
  version: z.int().positive().optional(),
  /** Alternative text of an image. */
  alt: text.min(1).optional(),
  workstream: text.min(1).optional(),
  status: text.min(1).optional(),
  provenance: json.optional(),
  diff: diffMetadata.optional(),
});
export type ArtifactRecord = z.infer<typeof artifactRecord>;
