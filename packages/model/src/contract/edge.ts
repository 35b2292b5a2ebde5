import * as z from 'zod';
import { edgeId, nodeId } from '../ids.ts';
import { text } from '../json.ts';

export const edge = z.strictObject({
  id: edgeId,
  from: nodeId,
  to: nodeId,
  bidirectional: z.boolean(),
  type: z.enum(['handoff', 'report']),
  /** `task` and `report` by convention; authors may use any other word. */
  label: text.min(1),
});
export type Edge = z.infer<typeof edge>;

/** An edge's default kind, by its direction relative to the orchestrator. */
export const edgeDefaults = {
  fromOrchestrator: { type: 'handoff', label: 'task' },
  toOrchestrator: { type: 'report', label: 'report' },
} as const satisfies Record<string, Pick<Edge, 'type' | 'label'>>;
