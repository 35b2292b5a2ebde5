import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { digest } from '../digest.ts';
import { runId } from '../ids.ts';
import { json, text } from '../json.ts';
import { runStatus } from '../status/run-status.ts';
import { runSummary } from './run-summary.ts';

const forkOptions = {
  /** Trusts the plan of an imported run from now on. Requires the owner's token. */
  trust: z.boolean().optional(),
  name: text.min(1).max(256).optional(),
  /** Replaces the parent's input; requires `confirmed`. */
  input: json.optional(),
  confirmed: z.boolean().optional(),
  directory: text.min(1).max(4096).optional(),
  /** Allows any directory. Requires the owner's token. */
  anyFile: z.boolean().optional(),
  /** Allows a directory in which programs keep credentials. Requires the owner's token. */
  anyDirectory: z.boolean().optional(),
  paused: z.boolean().optional(),
  acceptEffects: z.boolean().optional(),
};
const call = text.min(1).max(512);

/** The body of `POST /api/runs/:id/fork`: a frame, or a tool call of an agent. */
export const forkBody = z.union([
  z.strictObject({ frame: z.int().nonnegative(), ...forkOptions }),
  z.strictObject({ call, after: z.boolean().optional(), ...forkOptions }),
]);

/** The body of `POST /api/runs/:id/nodes/:node/rerun`. */
export const rerunBody = z.strictObject({
  ...forkOptions,
  /** Changes the node's own input; requires `confirmed`. Fields of an object replace those of the input, others stay. */
  nodeInput: json.optional(),
});

/** A different retry policy for a node. */
const wirePolicy = z.strictObject({
  retries: z.int().nonnegative().max(100).optional(),
  backoffMs: z.int().nonnegative().max(300_000).optional(),
  timeoutMs: z.int().positive().max(86_400_000).optional(),
});

export const retryBody = z.strictObject({ policy: wirePolicy.optional() });

/** How an edit changes the current value: adds to a number, appends to a list, or merges fields into an object. */
export const editOp = z.enum(['increment', 'append', 'merge']);
export type EditOp = z.infer<typeof editOp>;

/** Without `op`, the value replaces the current one; without a value, the key is removed. */
export const editBody = z
  .strictObject({
    key: text.min(1).max(1024),
    op: editOp.optional(),
    value: json.optional(),
    reason: text.min(1).max(1024),
  })
  .refine(({ op, value }) => op === undefined || value !== undefined, {
    message: 'an op needs a value',
    path: ['value'],
  });

export const undoBody = z.strictObject({
  call,
  dryRun: z.boolean().optional(),
  /** Restores files that the call's rollback overwrote or removed, instead of undoing the call. */
  kept: z.boolean().optional(),
  /** With `kept`: only files kept by this attempt of the call, counted from 1. */
  attempt: z.int().positive().optional(),
  /** With `kept`: files that have changed since are restored too, as copies beside them. */
  copies: z.boolean().optional(),
  /** Also show what the call changed. */
  diff: z.boolean().optional(),
});

export const undoReport = z.object({
  /** The directory that the paths are relative to. */
  directory: text.optional(),
  paths: z.array(text).readonly(),
  /** Paths that did not exist before and are removed. */
  removed: z.array(text).readonly().optional(),
  lost: z.array(text).readonly(),
  /** Kept paths that have changed since and are left alone. */
  conflicts: z.array(text).readonly().optional(),
  /** Where copies of those are put, if requested. */
  copies: z.array(text).readonly().optional(),
  /** What the call changed, if asked for. */
  diff: text.optional(),
});

/** The body of `POST /api/runs/:id/rollback`. */
export const rollbackBody = z.strictObject({
  call,
  /** Rolls back to the moment after the call, which then counts as done. */
  after: z.boolean().optional(),
  dryRun: z.boolean().optional(),
  acceptEffects: z.boolean().optional(),
  paused: z.boolean().optional(),
});

/** The changes made by a rollback, or planned by one with `dryRun`. */
export const rollbackReport = z.object({
  /** The frame that the new run begins with. */
  frame: z.int().nonnegative(),
  /** The calls whose files are undone, oldest first. */
  calls: z.array(z.object({ call: text, tool: text })).readonly(),
  /** The run's directory. */
  directory: text.optional(),
  /** Relative to the run's directory. */
  paths: z.array(text).readonly(),
  /** Paths that did not exist before and are removed. */
  removed: z.array(text).readonly().optional(),
  lost: z.array(text).readonly(),
  /** Effects outside since then, which remain. */
  effects: z.array(text).readonly(),
  /** The run that continues from there, once created. */
  run: runId.optional(),
});
export type RollbackReport = z.infer<typeof rollbackReport>;

/** A tool call of a run, from its checkpoint. */
const wireCheckpoint = z.object({
  call: text,
  tool: text,
  task: text,
  node: text.optional(),
  /** `held`: its changes conflict with someone else's, and a person decides. */
  outcome: z.enum(['succeeded', 'failed', 'unknown', 'held']),
  at: timestamp,
  elapsedMs: z.number().nullable(),
  summary: text.nullable(),
  directory: text.optional(),
  changesFiles: z.boolean(),
  /** Paths that its rollback overwrote or removed and that can be restored. */
  kept: z.array(text).readonly().optional(),
  /** The same by attempt; 1 is the first that kept something. */
  attempts: z
    .array(z.object({ attempt: z.int().positive(), at: timestamp, paths: z.array(text).readonly() }))
    .readonly()
    .optional(),
  /** It may have had effects that restoring files does not undo. */
  beyond: z.boolean(),
  undone: z.boolean(),
  /** The call whose program made it, such as an agent's turn; its changes are among those of that call. */
  within: text.optional(),
});
export type WireCheckpoint = z.infer<typeof wireCheckpoint>;

/** In order of completion; `next` is the cursor of the next page. */
export const checkpointList = z.object({ checkpoints: z.array(wireCheckpoint).readonly(), next: text.optional() });

/** A new run, and the calls before its moment that were undone: its files lack their changes, and its agents remember them as done. */
export const forkedRun = runSummary.extend({ leftOut: z.array(text).readonly() });

/** The parent of a run, and its forks in order of creation. */
export const lineage = z.object({
  parent: z.object({ run: runId, frame: z.int().nonnegative(), head: digest }).optional(),
  forks: z
    .array(z.object({ run: runId, frame: z.int().nonnegative(), name: text, status: runStatus, createdAt: timestamp }))
    .readonly(),
  /** The cursor of the next page of forks. */
  next: text.optional(),
});
export type Lineage = z.infer<typeof lineage>;
