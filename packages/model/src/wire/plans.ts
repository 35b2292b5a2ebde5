import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { errorEnvelope } from '../error-envelope.ts';
import { runId } from '../ids.ts';
import { jsonObject, text } from '../json.ts';
import { runStatus } from '../status/run-status.ts';
import { pageLimit } from './requests.ts';

const file = text.min(1).max(4096);

/** A plan of existing runs. */
const wirePlan = z.object({
  /** On the server's machine. */
  file: text.min(1),
  /** The plan's own name. */
  name: text,
  runs: z.int().positive(),
  lastRun: z.object({ id: runId, status: runStatus, createdAt: timestamp }),
  /** Whether the file still exists. */
  exists: z.boolean(),
});
export type WirePlan = z.infer<typeof wirePlan>;

/** The most recently run first. */
export const planList = z.object({
  plans: z.array(wirePlan).readonly(),
  next: text.optional(),
  /** How many of the latest runs were searched; absent if all were. */
  lookedAt: z.int().positive().optional(),
});
export type PlanList = z.infer<typeof planList>;

/** Plans that may be started, whether or not they ever were. */
export const planFiles = z.object({ files: z.array(text.min(1)).readonly(), isMore: z.boolean() });
export type PlanFiles = z.infer<typeof planFiles>;

export const plansQuery = z.strictObject({ after: file.optional(), limit: pageLimit(500) });

export const planFileQuery = z.strictObject({ file });

/** A plan without a run. If it cannot be loaded, only the problem is present. */
export const planDescription = z.object({
  file: text.min(1),
  name: text.optional(),
  description: text.optional(),
  /** The JSON Schema of its input; absent if it accepts anything. */
  inputSchema: jsonObject.optional(),
  problem: errorEnvelope.optional(),
});
export type PlanDescription = z.infer<typeof planDescription>;
