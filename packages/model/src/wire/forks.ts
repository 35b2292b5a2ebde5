import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { digest } from '../digest.ts';
import { runId } from '../ids.ts';
import { json, text } from '../json.ts';
import { runStatus } from '../status/run-status.ts';

const forkOptions = {
  /** The plan of a run that was imported is trusted from now on. Only with the owner's token. */
  trust: z.boolean().optional(),
  name: text.min(1).max(256).optional(),
  /** Instead of the parent's; then `confirmed` must be true. */
  input: json.optional(),
  confirmed: z.boolean().optional(),
  directory: text.min(1).max(4096).optional(),
  /** The directory may lie anywhere. Only with the owner's token. */
  anyFile: z.boolean().optional(),
  /** The directory may be one in which programs keep credentials. Only with the owner's token. */
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
export const rerunBody = z.strictObject(forkOptions);

/** Other rules for the retries of a node. */
const wirePolicy = z.strictObject({
  retries: z.int().nonnegative().max(100).optional(),
  backoffMs: z.int().nonnegative().max(300_000).optional(),
  timeoutMs: z.int().positive().max(86_400_000).optional(),
});

export const retryBody = z.strictObject({ policy: wirePolicy.optional() });

/** What an edit makes of the value that is there when it is made: a sum, a longer list, an object with more fields. */
export const editOp = z.enum(['increment', 'append', 'merge']);
export type EditOp = z.infer<typeof editOp>;

/** Without `op` the value takes the place of what is there, and without a value the key is taken away. */
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
  /** Brings back what the rollback of the call overwrote or removed, instead of undoing the call. */
  kept: z.boolean().optional(),
  /** With `kept`: only what this attempt of the call kept, counted from 1. */
  attempt: z.int().positive().optional(),
  /** With `kept`: what changed since is brought back too, as a copy beside it. */
  copies: z.boolean().optional(),
});

export const undoReport = z.object({
  /** What the paths are relative to. */
  directory: text.optional(),
  paths: z.array(text).readonly(),
  /** Those of the paths that were not there before, and are removed. */
  removed: z.array(text).readonly().optional(),
  lost: z.array(text).readonly(),
  /** Kept paths that were changed since and stay as they are. */
  conflicts: z.array(text).readonly().optional(),
  /** Where what was kept of those is put instead, if copies were asked for. */
  copies: z.array(text).readonly().optional(),
});

/** The body of `POST /api/runs/:id/rollback`. */
export const rollbackBody = z.strictObject({
  call,
  /** To after the call, which then counts as done. */
  after: z.boolean().optional(),
  dryRun: z.boolean().optional(),
  acceptEffects: z.boolean().optional(),
  paused: z.boolean().optional(),
});

/** What a rollback changes, or with `dryRun` would change. */
export const rollbackReport = z.object({
  /** The frame of the run that the new one begins with. */
  frame: z.int().nonnegative(),
  /** The calls whose files are undone, oldest first. */
  calls: z.array(z.object({ call: text, tool: text })).readonly(),
  /** The run's directory. */
  directory: text.optional(),
  /** Relative to the run's directory. */
  paths: z.array(text).readonly(),
  /** Those of the paths that were not there before, and are removed. */
  removed: z.array(text).readonly().optional(),
  lost: z.array(text).readonly(),
  /** What happened outside since, and stays. */
  effects: z.array(text).readonly(),
  /** The run that goes on from there, once it is made. */
  run: runId.optional(),
});
export type RollbackReport = z.infer<typeof rollbackReport>;

/** A tool call of a run, as its checkpoint tells of it. */
const wireCheckpoint = z.object({
  call: text,
  tool: text,
  task: text,
  node: text.optional(),
  /** `held`: its changes met somebody else's, and a person decides about them. */
  outcome: z.enum(['succeeded', 'failed', 'unknown', 'held']),
  at: timestamp,
  elapsedMs: z.number().nullable(),
  summary: text.nullable(),
  directory: text.optional(),
  changesFiles: z.boolean(),
  /** Paths that its rollback overwrote or removed, and that can be brought back. */
  kept: z.array(text).readonly().optional(),
  /** The same by attempt: 1 is the first that kept something. */
  attempts: z
    .array(z.object({ attempt: z.int().positive(), at: timestamp, paths: z.array(text).readonly() }))
    .readonly()
    .optional(),
  /** It may also have done what no restore of files brings back. */
  beyond: z.boolean(),
  undone: z.boolean(),
});
export type WireCheckpoint = z.infer<typeof wireCheckpoint>;

/** In the order in which they ended; `next` is what the next page comes after. */
export const checkpointList = z.object({ checkpoints: z.array(wireCheckpoint).readonly(), next: text.optional() });

/** Where a run comes from, and the runs that were forked from it, in the order in which they were made. */
export const lineage = z.object({
  parent: z.object({ run: runId, frame: z.int().nonnegative(), head: digest }).optional(),
  forks: z
    .array(z.object({ run: runId, frame: z.int().nonnegative(), name: text, status: runStatus, createdAt: timestamp }))
    .readonly(),
  /** What the next page of forks comes after. */
  next: text.optional(),
});
export type Lineage = z.infer<typeof lineage>;
