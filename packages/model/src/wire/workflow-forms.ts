import * as z from 'zod';
import { digest } from '../digest.ts';
import { json, text } from '../json.ts';

/** Where a step of a compiled workflow came from: its author, a template or a feature. */
const provenance = z.object({
  source: z.enum(['authored', 'template_injected', 'feature_injected']),
  originId: text.optional(),
});

const compiledForm = z.object({
  workflowHash: digest,
  content: json,
  steps: z.array(z.object({ stepId: text, title: text, provenance })).readonly(),
});

/** A workflow as it was written, as it compiles now, and as a run is pinned to it. */
export const workflowForms = z.object({
  workflowId: text,
  /** Absent where there is no such file any more. */
  source: z.object({ kind: text, ref: text, digest, content: json }).optional(),
  /** Absent where it does not compile: `problems` say why. */
  compiled: compiledForm.optional(),
  problems: z.array(z.object({ code: text, path: text, message: text })).readonly(),
  /** The one that was asked for. */
  pinned: compiledForm.optional(),
  /** How the source stands to what was asked for; absent where nothing was. */
  drift: z.enum(['none', 'changed', 'gone']).optional(),
});
export type WorkflowForms = z.infer<typeof workflowForms>;

export const workflowFormsQuery = z.strictObject({ pinned: digest.optional() });
