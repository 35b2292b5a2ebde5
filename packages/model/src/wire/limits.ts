import * as z from 'zod';
import { runId } from '../ids.ts';
import { text } from '../json.ts';

const count = z.int().nonnegative();

/** Costs are in millionths of a US dollar. */
const amounts = z.object({ maxTotalTokens: count.optional(), maxCostMicroUsd: count.optional() });
const spent = z.object({ tokens: count, costMicroUsd: count });

/** A limit over more than one run: all of them on a day (UTC), those of a project, or those of a project on a day. */
const ceiling = z.object({
  scope: z.enum(['day', 'project', 'project-day']),
  day: z.iso.date().optional(),
  directory: text.optional(),
  /** As written in the configuration. */
  configured: amounts,
  /** With what was raised for this day. */
  limits: amounts,
  spent,
  /** What calls under way may spend besides. */
  reserved: spent,
  /** Runs that wait for a person to raise it, or for the next day. */
  waiting: z.array(runId).readonly(),
});

/** The limits of a data directory. `run` is for runs that are started without limits of their own. */
export const limitsView = z.object({
  today: z.iso.date(),
  run: amounts,
  ceilings: z.array(ceiling).readonly(),
  /** Why the configuration file is not used. */
  problem: text.optional(),
});
export type LimitsView = z.infer<typeof limitsView>;
export type CeilingView = LimitsView['ceilings'][number];

/** New limits: `null` removes one, and what is not named stays. */
export const limitsChange = z
  .strictObject({
    scope: z.enum(['run', 'day', 'project', 'project-day']),
    /** Of a project, absolute. */
    directory: text
      .max(4096)
      .regex(/^(?:\/|[A-Za-z]:\\)/, 'must be an absolute path')
      .optional(),
    maxTotalTokens: count.nullable().optional(),
    maxCostMicroUsd: count.nullable().optional(),
  })
  .refine(({ scope, directory }) => scope.startsWith('project') === (directory !== undefined), {
    message: 'belongs to limits of projects, which need it',
    path: ['directory'],
  });
