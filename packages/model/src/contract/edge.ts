import * as z from 'zod';
import { edgeId, nodeId } from '../ids.ts';
import { text } from '../json.ts';

export const edge = z.strictObject({
  id: edgeId,
  from: nodeId,
  to: nodeId,
  bidirectional: z.boolean(),
  type: z.enum(['handoff', 'report']),
  /** `task` and `report` by custom; any other word is the author's. */
  label: text.min(1),
});
export type Edge = z.infer<typeof edge>;

/** What an edge is unless its author says otherwise, by the direction it points from the orchestrator. */
export const edgeDefaults = {
  fromOrchestrator: { type: 'handoff', label: 'task' },
  toOrchestrator: { type: 'report', label: 'report' },
} as const satisfies Record<string, Pick<Edge, 'type' | 'label'>>;
