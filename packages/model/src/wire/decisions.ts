import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { approvalResolution } from '../contract/approval.ts';
import { toolCall } from '../contract/tool.ts';
import { digest } from '../digest.ts';
import { resolution } from '../fleet/resolution.ts';
import { approvalId, nodeId, runId, sessionId } from '../ids.ts';
import { json, text } from '../json.ts';
import { runKind } from './run-summary.ts';

/** A decision as an approval of the contract, with the stored fields beside it. */
export const wireDecision = z.object({
  approvalId,
  runId,
  nodeId,
  /** The kind of the run that asks; `agent`: an agent of the fleet does, which is its own node, in its adapter session. */
  kind: z.enum([...runKind.options, 'agent']),
  /** The session of a guided run. */
  sessionId: sessionId.optional(),
  tool: toolCall,
  context: text.optional(),
  /** The contract's view of the answer. */
  resolution: approvalResolution.optional(),
  decision: z.object({
    node: text.min(1),
    iteration: z.int().nonnegative(),
    call: text,
    kind: z.enum(['file_edit', 'command_exec', 'external_api', 'human', 'choice', 'confirmation', 'review']),
    proposal: json,
    /** An answer that sends it back is refused if the proposal changed in between. */
    proposalHash: digest,
    askedAt: timestamp,
    status: z.enum(['open', 'answered', 'withdrawn']),
    resolution: resolution.optional(),
    answeredBy: text.optional(),
    closedAt: timestamp.optional(),
  }),
});
export type WireDecision = z.infer<typeof wireDecision>;

/** Oldest first; `next` is the cursor of the next page. */
export const decisionList = z.object({ approvals: z.array(wireDecision).readonly(), next: text.optional() });

const proposalHash = digest.optional();

/** The contract's answer, or a complete one. Without a hash it answers the current proposal. */
export const answerBody = z.union(
  [
    ...approvalResolution.options.map(option => option.extend({ proposalHash, rationale: text.optional() })),
    z.strictObject({ resolution: resolution, proposalHash }),
  ] as const,
  'must be {"status": "approved" | "denied"}, {"status": "modified", "modifiedArgs"} or {"resolution"}',
);
export type AnswerBody = z.infer<typeof answerBody>;
