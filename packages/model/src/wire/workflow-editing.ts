import * as z from 'zod';
import { digest } from '../digest.ts';
import { json, text } from '../json.ts';

export const checkWorkflowBody = z.strictObject({ source: json });

export const copyWorkflowBody = z.strictObject({ newId: text.min(1).max(200) });
export type CopyWorkflow = Readonly<z.infer<typeof copyWorkflowBody>>;

/** `over` is the digest of the file as the caller has read it: another one means that somebody changed it meanwhile. */
export const saveWorkflowBody = z.strictObject({ source: json, over: digest });
export type SaveWorkflow = Readonly<z.infer<typeof saveWorkflowBody>>;

/** What a source would compile to; without a hash it cannot be run. */
export const workflowCheck = z.object({
  workflowHash: digest.optional(),
  problems: z
    .array(
      z.object({ severity: z.enum(['error', 'warning']), code: text, path: text, message: text, suggestion: text }),
    )
    .readonly(),
});
export type WorkflowCheck = z.infer<typeof workflowCheck>;

/** A file that was written, and what it compiles to. */
export const savedWorkflow = z.object({ workflowId: text, kind: text, ref: text, digest, workflowHash: digest });
export type SavedWorkflow = z.infer<typeof savedWorkflow>;
