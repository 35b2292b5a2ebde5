import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { node } from '../contract/node.ts';
import { run } from '../contract/run.ts';
import { nodeId } from '../ids.ts';
import { json, text } from '../json.ts';
import { nodeStatus, taskStatus } from '../status/node-status.ts';
import { wireDecision } from './decisions.ts';
import { runSummary, runValues, wireFault } from './run-summary.ts';

/** A node of a plan's tree. A tree is a list in which each node follows its parent; `index` orders siblings. */
export const treeNode = z.object({
  /** Its key in its run. */
  id: text.min(1),
  /** Its id in the contract. */
  nodeId,
  parent: text.optional(),
  index: z.int().nonnegative(),
  kind: text.min(1),
  label: text,
  /** A short detail: a model, the beginning of a prompt, a condition. */
  detail: text.optional(),
  status: nodeStatus,
  /** The iteration of the innermost loop around it, over the whole run; for a loop, its own. Counted from 0. */
  iteration: z.int().nonnegative(),
  /** Why it is blocked. */
  reason: text.optional(),
  /** Names of its handlers; absent if it cannot have any, or they were not recorded. */
  handlers: z.array(text).readonly().optional(),
  source: z.object({ file: text, line: z.int(), column: z.int() }).optional(),
});
export type TreeNode = z.infer<typeof treeNode>;

export const frameTree = z.object({ frame: z.int().nonnegative(), tree: z.array(treeNode).readonly() });

/** Work started for a node. */
export const wireTask = z.object({
  id: text.min(1),
  node: text.min(1),
  iteration: z.int().nonnegative(),
  status: taskStatus,
  effects: z.enum(['none', 'undoable', 'external']),
  retryCount: z.int().nonnegative(),
  maxRetries: z.int().nonnegative(),
  nextRetryAt: timestamp.optional(),
  lastError: wireFault.optional(),
  blockReason: text.optional(),
  result: json.optional(),
  createdAt: timestamp,
  startedAt: timestamp.optional(),
  endedAt: timestamp.optional(),
});
export type WireTask = z.infer<typeof wireTask>;

/**
 * The current state of a run: the contract's run state with all its fields, and the stored fields beside them. Events from
 * `record.nextSeq` on happened after it.
 */
export const runSnapshot = z.object({
  ...runSummary.shape,
  ...runValues,
  nodes: z.record(nodeId, node),
  edges: run.shape.edges,
  artifacts: run.shape.artifacts,
  tree: z.array(treeNode).readonly(),
  /** Open ones only. */
  decisions: z.array(wireDecision).readonly(),
  /** Running ones only. */
  tasks: z.array(wireTask).readonly(),
});
export type RunSnapshot = z.infer<typeof runSnapshot>;

/** The same for clients that may have requested less of it. */
export const runOutline = runSnapshot.partial({ nodes: true, edges: true, artifacts: true });
export type RunOutline = z.infer<typeof runOutline>;
