import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { runId } from '../ids.ts';
import { json, text } from '../json.ts';
import { runStatus } from '../status/run-status.ts';

const count = z.int().nonnegative();

/** One of two runs that are compared. */
const comparedRun = z.object({
  run: runId,
  name: text,
  status: runStatus,
  stopReason: text.optional(),
  error: text.optional(),
  createdAt: timestamp,
  /** From its start to its end, or until now. */
  ms: count,
  frames: count,
  /** The plan's file. */
  entry: text.optional(),
  calls: count,
  tokens: count,
  toolCalls: count,
  costMicroUsd: count,
});
export type ComparedRun = z.infer<typeof comparedRun>;

/** A value in one or both runs; a side without it lacks the value. */
const valuePair = z.object({ key: text, a: json.optional(), b: json.optional() });
export type ValuePair = z.infer<typeof valuePair>;

const change = z.enum(['added', 'removed', 'changed']);
/** `same`: both runs left the file with the same content. */
const filePair = z.object({ path: text, a: change.optional(), b: change.optional(), same: z.boolean() });
export type FilePair = z.infer<typeof filePair>;

const comparedWork = z.object({ status: text, ms: count, attempts: count, iteration: count, error: text.optional() });
const nodePair = z.object({
  node: text,
  kind: text,
  label: text,
  a: comparedWork.optional(),
  b: comparedWork.optional(),
});
export type NodePair = z.infer<typeof nodePair>;

const comparedDecision = z.object({
  status: text,
  answer: text.optional(),
  by: text.optional(),
  reason: text.optional(),
});
const decisionPair = z.object({
  node: text,
  kind: text,
  a: comparedDecision.optional(),
  b: comparedDecision.optional(),
});
export type DecisionPair = z.infer<typeof decisionPair>;

/** A frame of each run at the same place, as far as both have one. */
const framePair = z.object({
  a: count.optional(),
  b: count.optional(),
  same: z.boolean(),
  /** Why each was rendered. */
  aTrigger: text.optional(),
  bTrigger: text.optional(),
  /** What differs, if it is known. */
  differs: z.array(z.enum(['plan', 'status', 'state'])).readonly(),
  keys: z.array(text).readonly(),
});
export type FramePair = z.infer<typeof framePair>;

/** What two runs have in common, and where they part. Lists have what differs, unless their name says otherwise. */
export const runComparison = z.object({
  a: comparedRun,
  b: comparedRun,
  /** How they are related; `frame` is the frame of the parent at which they part. */
  relation: z.object({
    kind: z.enum(['same', 'fork', 'siblings', 'same-plan', 'other-plans']),
    parent: runId.optional(),
    frame: count.optional(),
  }),
  plan: z.object({
    same: z.boolean(),
    files: z.array(z.object({ path: text, change: z.enum(['added', 'removed', 'changed']) })).readonly(),
  }),
  input: z.array(valuePair).readonly(),
  output: z.array(valuePair).readonly(),
  state: z.array(valuePair).readonly(),
  files: z.array(filePair).readonly(),
  /** Why files could not be compared. */
  filesUnknown: text.optional(),
  nodes: z.array(nodePair).readonly(),
  decisions: z.array(decisionPair).readonly(),
  frames: z.object({
    /** The first place at which they differ; absent if they never do. */
    partAt: z.object({ a: count, b: count }).optional(),
    /** How many frames are the same before that. */
    same: count,
    /** From there on. */
    pairs: z.array(framePair).readonly(),
    /** How many more pairs there are. */
    more: count,
  }),
});
export type RunComparison = z.infer<typeof runComparison>;
