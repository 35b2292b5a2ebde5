import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { nodeId, payloadId } from '../ids.ts';
import { jsonObject, text } from '../json.ts';
import { artifactKind, artifactRef } from './artifact.ts';

/** What one node hands to another. */
export const handoff = z.strictObject({
  kind: z.literal('handoff'),
  id: payloadId,
  fromNodeId: nodeId,
  toNodeId: nodeId,
  createdAt: timestamp,
  payload: z.strictObject({
    message: text,
    structured: jsonObject.optional(),
    artifacts: z.array(z.strictObject({ type: artifactKind, ref: artifactRef })).optional(),
    status: z.strictObject({ ok: z.boolean(), reason: text }).optional(),
  }),
  contextRef: text.min(1).optional(),
});
export type Handoff = z.infer<typeof handoff>;
