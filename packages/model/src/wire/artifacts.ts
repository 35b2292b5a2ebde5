import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { artifactKind, artifactRef, diffMetadata } from '../contract/artifact.ts';
import { digest } from '../digest.ts';
import { artifactId, nodeId, runId } from '../ids.ts';
import { json, text } from '../json.ts';
import { cursor, pageLimit } from './requests.ts';

/** A stored or derived artifact. Its content is requested separately. */
export const wireArtifact = z.object({
  id: artifactId,
  /** The reference to it in texts: `artifact://<id>`. */
  ref: artifactRef,
  run: runId,
  node: text.optional(),
  /** The node's id in the contract. */
  nodeId: nodeId.optional(),
  task: text.optional(),
  kind: artifactKind,
  name: text.min(1),
  /** Artifacts with the same key are versions of one thing. */
  key: text.optional(),
  version: z.int().positive().optional(),
  mimeType: text.min(1),
  bytes: z.int().nonnegative(),
  digest,
  /** Derived from the record of its run when requested, not stored. */
  derived: z.literal(true).optional(),
  /** Alternative text of a picture. */
  alt: text.optional(),
  workstream: text.optional(),
  status: text.optional(),
  provenance: json.optional(),
  diff: diffMetadata.optional(),
  createdAt: timestamp,
});
export type WireArtifact = z.infer<typeof wireArtifact>;

/** Newest first; `next` is the cursor of the next page. */
export const artifactList = z.object({ artifacts: z.array(wireArtifact).readonly(), next: cursor.optional() });

export const artifactsQuery = z.strictObject({
  run: runId.optional(),
  kind: artifactKind.optional(),
  key: text.min(1).max(256).optional(),
  /** Only the last version of each key by default. */
  versions: z.enum(['last', 'all']).optional(),
  /** For one run: whether artifacts derived from its agents' turns are included, the only ones, or left out. */
  turns: z.enum(['with', 'only', 'none']).optional(),
  /** For one run: only those of a node, by its key. */
  node: text.min(1).max(512).optional(),
  /** For one run: only those of a task. */
  task: text.min(1).max(64).optional(),
  after: cursor.optional(),
  limit: pageLimit(1000),
});

/** The changes of a run in its workspace, from its first frame to another one. */
export const workspaceDiff = z.object({
  frame: z.int().nonnegative(),
  files: z.array(z.object({ path: text, change: z.enum(['added', 'removed', 'changed']) })).readonly(),
  /** A unified diff from git. */
  patch: z.string(),
});

const changedPath = z.object({
  path: text,
  change: z.enum(['added', 'removed', 'changed']),
  /** Its whole content before and after, if both are shown; empty where it is not there. */
  before: z.string().optional(),
  after: z.string().optional(),
  /** Why its content is not shown. */
  why: z.enum(['not-text', 'too-large', 'too-many', 'gone']).optional(),
});
export type ChangedPath = z.infer<typeof changedPath>;

/** Everything that the tool calls of a run changed in files, by the directory that they worked in. */
export const runChanges = z.object({
  directories: z.array(z.object({ directory: z.string(), files: z.array(changedPath).readonly() })).readonly(),
  /** Why some of the changes are not known. */
  unknown: z.array(z.string()).readonly(),
});
export type RunChanges = z.infer<typeof runChanges>;

/** A message that waits for an agent's next turn, in the transcript of a task. */
export const queuedMessage = z.object({ message: text, task: text });
