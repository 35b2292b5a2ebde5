import * as z from 'zod';
import { digest } from '../digest.ts';
import { json, text } from '../json.ts';

/** The origin of a step of a compiled workflow: its author, a template or a feature. */
const provenance = z.object({
  source: z.enum(['authored', 'template_injected', 'feature_injected']),
  originId: text.optional(),
});

const compiledForm = z.object({
  workflowHash: digest,
  content: json,
  steps: z.array(z.object({ stepId: text, title: text, provenance })).readonly(),
});

/** A workflow's source, its compiled form, and the form that a run is pinned to. */
export const workflowForms = z.object({
  workflowId: text,
  /** Absent if the file no longer exists. */
  source: z.object({ kind: text, ref: text, digest, content: json }).optional(),
  /** Absent if it does not compile; `problems` say why. */
  compiled: compiledForm.optional(),
  problems: z.array(z.object({ code: text, path: text, message: text })).readonly(),
  /** The requested one. */
  pinned: compiledForm.optional(),
  /** How the source compares with the requested form; absent if none was requested. */
  drift: z.enum(['none', 'changed', 'gone']).optional(),
});
export type WorkflowForms = z.infer<typeof workflowForms>;

export const workflowFormsQuery = z.strictObject({ pinned: digest.optional() });
