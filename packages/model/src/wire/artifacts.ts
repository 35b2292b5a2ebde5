import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { artifactKind, artifactRef, diffMetadata } from '../contract/artifact.ts';
import { digest } from '../digest.ts';
import { artifactId, nodeId, runId } from '../ids.ts';
import { json, text } from '../json.ts';
import { cursor, pageLimit } from './requests.ts';

/** An artifact as it is kept, or as it follows from what is kept. Its content is asked for apart. */
export const wireArtifact = z.object({
  id: artifactId,
  /** How anything refers to it. */
  ref: artifactRef,
  run: runId,
  node: text.optional(),
  /** What the contract calls the node. */
  nodeId: nodeId.optional(),
  task: text.optional(),
  kind: artifactKind,
  name: text.min(1),
  /** Artifacts with one key are versions of one thing. */
  key: text.optional(),
  version: z.int().positive().optional(),
  mimeType: text.min(1),
  bytes: z.int().nonnegative(),
  digest,
  /** It is not kept: it follows from the record of its run, and is made when it is asked for. */
  derived: z.literal(true).optional(),
  /** What a picture shows, for who does not see it. */
  alt: text.optional(),
  workstream: text.optional(),
  status: text.optional(),
  provenance: json.optional(),
  diff: diffMetadata.optional(),
  createdAt: timestamp,
});
export type WireArtifact = z.infer<typeof wireArtifact>;

/** Newest first; `next` is what the next page comes after. */
export const artifactList = z.object({ artifacts: z.array(wireArtifact).readonly(), next: cursor.optional() });

export const artifactsQuery = z.strictObject({
  run: runId.optional(),
  kind: artifactKind.optional(),
  key: text.min(1).max(256).optional(),
  /** Of a key only the last version, unless all are asked for. */
  versions: z.enum(['last', 'all']).optional(),
  /** Of one run: what follows from the turns of its agents is listed too, alone, or not at all. */
  turns: z.enum(['with', 'only', 'none']).optional(),
  /** Of one run: only those of a node, by its key. */
  node: text.min(1).max(512).optional(),
  /** Of one run: only those of a task. */
  task: text.min(1).max(64).optional(),
  after: cursor.optional(),
  limit: pageLimit(1000),
});

/** What a run changed in its workspace, from its first frame to another one. */
export const workspaceDiff = z.object({
  frame: z.int().nonnegative(),
  files: z.array(z.object({ path: text, change: z.enum(['added', 'removed', 'changed']) })).readonly(),
  /** As git renders it. */
  patch: z.string(),
});
