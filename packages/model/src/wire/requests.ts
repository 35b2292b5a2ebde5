import * as z from 'zod';
import { json, text } from '../json.ts';
import { runStatus } from '../status/run-status.ts';
import { wireLimits } from './run-summary.ts';

const name = text.min(1).max(256);
const count = z.coerce.number().pipe(z.int().nonnegative());
export const pageLimit = (most: number) => z.coerce.number().pipe(z.int().min(1).max(most)).optional();

/** The body of `POST /api/runs`. */
export const startBody = z.strictObject({
  /** The plan's file. */
  file: text.min(1).max(4096),
  input: json.optional(),
  name: name.optional(),
  tags: z.array(text.min(1).max(128)).max(64).readonly().optional(),
  correlationId: name.optional(),
  limits: wireLimits.optional(),
  /** Where agents work; the folder of the plan's file unless told otherwise. */
  directory: text.min(1).max(4096).optional(),
});
export type StartBody = z.infer<typeof startBody>;

export const resumeBody = z.strictObject({ useCurrent: z.boolean().optional() });
export type ResumeBody = z.infer<typeof resumeBody>;

export const stopBody = z.strictObject({ reason: text.min(1).max(1024).optional() });
export type StopBody = z.infer<typeof stopBody>;

export const emptyBody = z.strictObject({});

export const signalBody = z.strictObject({ name, payload: json.optional() });
export type SignalBody = z.infer<typeof signalBody>;

/** Queries come as text; a list of statuses is one text with commas. */
export const runsQuery = z.strictObject({
  status: z
    .string()
    .transform(given => given.split(','))
    .pipe(z.array(runStatus).min(1))
    .optional(),
  name: text.optional(),
  tag: text.optional(),
  correlationId: text.optional(),
  after: text.optional(),
  limit: pageLimit(500),
});

export const pageQuery = z.strictObject({ from: count.optional(), limit: pageLimit(1000) });

export const stateQuery = z.strictObject({ frame: count.optional() });

/** `from` is the place that the page before named as `next`. */
export const transitionsQuery = z.strictObject({
  key: text.optional(),
  from: z
    .string()
    .regex(/^\d{1,15}\.\d{1,15}$/, 'must be the "next" of the page before')
    .optional(),
  limit: pageLimit(1000),
});

export const decisionsQuery = z.strictObject({
  run: text.optional(),
  status: z.enum(['open', 'answered', 'withdrawn', 'all']).optional(),
});
