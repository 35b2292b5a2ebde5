import { approvalId, digest, json, resolution, text, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { nodeKey } from '../ids.ts';

/** The kind of answer wanted. The first three are the kinds of tool approvals. */
export const decisionKind = z.enum([
  'file_edit',
  'command_exec',
  'external_api',
  'human',
  'choice',
  'confirmation',
  'review',
]);
export type DecisionKind = z.infer<typeof decisionKind>;

/**
 * A question that waits for a person, keyed by (run, node, iteration, call). `proposalHash` is the digest of what is shown: an answer with
 * another hash is void.
 */
export const decision = z.strictObject({
  id: approvalId,
  node: nodeKey,
  iteration: z.int().nonnegative(),
  call: text.min(1).max(256),
  kind: decisionKind,
  proposal: json,
  proposalHash: digest,
  askedAt: timestamp,
  status: z.enum(['open', 'answered', 'withdrawn']),
  resolution: resolution.optional(),
  answeredBy: text.min(1).optional(),
  /** When it was answered or withdrawn. */
  closedAt: timestamp.optional(),
  /** When its node acknowledged the answer; until then it is delivered again. */
  deliveredAt: timestamp.optional(),
});
export type Decision = z.infer<typeof decision>;

/** A commit's change to a decision. */
export const decisionWrite = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('ask'),
    decision: decision.pick({
      id: true,
      node: true,
      iteration: true,
      call: true,
      kind: true,
      proposal: true,
      proposalHash: true,
      askedAt: true,
    }),
  }),
  /** The proposal changed while it waited. */
  z.strictObject({ kind: z.literal('propose'), id: approvalId, proposal: json, proposalHash: digest }),
  /** Without a hash, the answer applies to the current proposal. */
  z.strictObject({
    kind: z.literal('answer'),
    id: approvalId,
    proposalHash: digest.optional(),
    resolution,
    by: text.min(1),
    at: timestamp,
  }),
  z.strictObject({ kind: z.literal('withdraw'), id: approvalId, at: timestamp }),
  z.strictObject({ kind: z.literal('deliver'), id: approvalId, at: timestamp }),
]);
export type DecisionWrite = z.infer<typeof decisionWrite>;
