import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { node } from '../contract/node.ts';
import { run } from '../contract/run.ts';
import { nodeId } from '../ids.ts';
import { json, text } from '../json.ts';
import { nodeStatus, taskStatus } from '../status/node-status.ts';
import { wireDecision } from './decisions.ts';
import { runSummary, runValues, wireFault } from './run-summary.ts';

/** A node of the tree of a plan. A tree is a list of them, each after its parent; `index` orders those of one parent. */
export const treeNode = z.object({
  /** Its key in its run. */
  id: text.min(1),
  /** What the contract calls it. */
  nodeId,
  parent: text.optional(),
  index: z.int().nonnegative(),
  kind: text.min(1),
  label: text,
  /** What more there is to say in a line: a model, the beginning of a prompt, a condition. */
  detail: text.optional(),
  status: nodeStatus,
  /** Of the innermost loop around it, over the whole run; of a loop, the turn it is in. Counted from 0. */
  iteration: z.int().nonnegative(),
  /** Why it is blocked. */
  reason: text.optional(),
  /** Names of the handlers that its author wrote; absent where it can have none, and where they were not kept. */
  handlers: z.array(text).readonly().optional(),
  source: z.object({ file: text, line: z.int(), column: z.int() }).optional(),
});
export type TreeNode = z.infer<typeof treeNode>;

export const frameTree = z.object({ frame: z.int().nonnegative(), tree: z.array(treeNode).readonly() });

/** Work that was started for a node. */
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
 * A run as it is now: the contract's run state with all its fields, and beside them what we keep. Events from
 * `record.nextSeq` on happened after it.
 */
export const runSnapshot = z.object({
  ...runSummary.shape,
  ...runValues,
  nodes: z.record(nodeId, node),
  edges: run.shape.edges,
  artifacts: run.shape.artifacts,
  tree: z.array(treeNode).readonly(),
  /** Those that wait for a person. */
  decisions: z.array(wireDecision).readonly(),
  /** Those under way. */
  tasks: z.array(wireTask).readonly(),
});
export type RunSnapshot = z.infer<typeof runSnapshot>;

/** The same for whoever may have asked for less of it. */
export const runOutline = runSnapshot.partial({ nodes: true, edges: true, artifacts: true });
export type RunOutline = z.infer<typeof runOutline>;
