import { digest, globalMode, json, runId, runMode, runPhase, runStatus, text, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { nodeKey, ownerId } from '../ids.ts';
import { frameRange } from '../retention/frame-range.ts';
import { taskError } from '../tasks/task-error.ts';
import { stopConditions } from '../usage/stop-conditions.ts';

/** Where a run comes from: a sub-plan of a parent's node, a fork from a frame, or an exported run. */
export const runOrigin = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('sub-plan'), run: runId, node: nodeKey, iteration: z.int().nonnegative() }),
  z.strictObject({ kind: z.literal('fork'), run: runId, frame: z.int().nonnegative(), head: digest }),
  z.strictObject({ kind: z.literal('import'), run: runId, head: digest, bundle: digest }),
]);
export type RunOrigin = z.infer<typeof runOrigin>;

const absolutePath = text.max(4096).regex(/^(?:\/|[A-Za-z]:[\\/]|\\\\)/, 'must be an absolute path');

/** The source of a run: the author's files by content, packages by version, and the engine. */
const runSource = z.strictObject({
  /** The base folder of the paths in `files`; absolute, like `entry`. */
  root: absolutePath,
  entry: text.min(1),
  files: z.array(z.strictObject({ path: text.min(1), digest })).readonly(),
  packages: z.array(z.strictObject({ name: text.min(1), version: text.min(1) })).readonly(),
  gitCommit: text.min(1).optional(),
  engine: text.min(1),
});
export type RunSource = z.infer<typeof runSource>;

/** A run's own files: a git worktree, or a copy if there is no repository. */
const runWorkspace = z.strictObject({
  vcs: z.enum(['git', 'none']),
  /** The repository, or the copied directory. */
  base: absolutePath,
  path: absolutePath,
  /** The checked-out commit. */
  commit: text.min(1).optional(),
});
export type RunWorkspace = z.infer<typeof runWorkspace>;

/** The parameters of a new run. */
export const newRun = z.strictObject({
  driver: z.enum(['plan', 'workflow', 'graph']),
  name: text.min(1).max(256),
  tags: z.array(text.min(1).max(128)).max(64).readonly(),
  correlationId: text.min(1).max(256).optional(),
  /** Chosen by the caller; unique within the data directory. */
  idempotencyKey: text.min(1).max(256).optional(),
  /** The working directory of its agents. */
  workingDirectory: absolutePath.optional(),
  workspace: runWorkspace.optional(),
  origin: runOrigin.optional(),
  source: runSource.optional(),
  status: runStatus.extract(['queued', 'running', 'paused']),
  phase: runPhase,
  mode: runMode,
  globalMode,
  input: json,
  limits: stopConditions,
  /** The seed for randomness in renders. */
  seed: z.int().nonnegative(),
  owner: ownerId.optional(),
});
export type NewRun = z.infer<typeof newRun>;

/**
 * What a commit may change in a run; null removes an optional field. A new `epoch` claims the run: holders of a lower one can no longer
 * commit.
 */
export const runChange = z.strictObject({
  status: runStatus.optional(),
  phase: runPhase.optional(),
  mode: runMode.optional(),
  globalMode: globalMode.optional(),
  name: newRun.shape.name.optional(),
  tags: newRun.shape.tags.optional(),
  /** Another version of its plan; earlier ones stay available (R38). */
  source: runSource.optional(),
  limits: stopConditions.optional(),
  stopReason: text.min(1).nullable().optional(),
  error: taskError.nullable().optional(),
  output: json.optional(),
  epoch: z.int().positive().optional(),
  owner: ownerId.nullable().optional(),
  /** The first event whose input (signal, answer, command) the driver has not consumed yet. */
  inputSeq: z.int().nonnegative().optional(),
});
export type RunChange = z.infer<typeof runChange>;

/** A stored run. */
export const runRecord = newRun.extend({
  id: runId,
  /** The source of earlier plan versions, from version 1 on; `source` is the last. Absent if there is only one. */
  earlierPlans: z.array(runSource).readonly().optional(),
  status: runStatus,
  stopReason: text.min(1).optional(),
  error: taskError.optional(),
  output: json.optional(),
  epoch: z.int().nonnegative(),
  /** Counts the driver's commits. */
  version: z.int().positive(),
  /** How many frames it has. */
  frames: z.int().nonnegative(),
  inputSeq: z.int().nonnegative(),
  nextSeq: z.int().nonnegative(),
  /** How many records its log has: one per commit. */
  records: z.int().positive(),
  /** The hash of its last record, chained to all earlier ones. */
  head: digest,
  createdAt: timestamp,
  updatedAt: timestamp,
  startedAt: timestamp.optional(),
  endedAt: timestamp.optional(),
  /** Set while the run is exempt from retention. */
  kept: z.strictObject({ at: timestamp, by: text.min(1) }).optional(),
  /** Collected frames: whatever only they showed, and their events, are gone. */
  collected: z.array(frameRange).readonly().optional(),
});
export type RunRecord = z.infer<typeof runRecord>;
