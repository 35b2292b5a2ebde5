import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { errorEnvelope } from '../error-envelope.ts';
import { runId } from '../ids.ts';
import { jsonObject, text } from '../json.ts';
import { runStatus } from '../status/run-status.ts';
import { pageLimit } from './requests.ts';

const file = text.min(1).max(4096);

/** A plan that runs were made of. */
const wirePlan = z.object({
  /** On the machine of the server. */
  file: text.min(1),
  /** What the plan calls itself. */
  name: text,
  runs: z.int().positive(),
  lastRun: z.object({ id: runId, status: runStatus, createdAt: timestamp }),
  /** Whether the file is there now. */
  exists: z.boolean(),
});
export type WirePlan = z.infer<typeof wirePlan>;

/** The one that was run last comes first. */
export const planList = z.object({
  plans: z.array(wirePlan).readonly(),
  next: text.optional(),
  /** Only so many of the last runs were looked at; absent where it was all of them. */
  lookedAt: z.int().positive().optional(),
});
export type PlanList = z.infer<typeof planList>;

export const plansQuery = z.strictObject({ after: file.optional(), limit: pageLimit(500) });

export const planFileQuery = z.strictObject({ file });

/** A plan, without a run of it. Where it cannot be loaded, there is the problem and nothing else. */
export const planDescription = z.object({
  file: text.min(1),
  name: text.optional(),
  description: text.optional(),
  /** JSON Schema of what a start may give; absent where the plan takes anything. */
  inputSchema: jsonObject.optional(),
  problem: errorEnvelope.optional(),
});
export type PlanDescription = z.infer<typeof planDescription>;
