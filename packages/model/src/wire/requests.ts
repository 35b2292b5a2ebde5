import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { json, text } from '../json.ts';
import { taskStatus } from '../status/node-status.ts';
import { runStatus } from '../status/run-status.ts';
import { runKind, wireLimits } from './run-summary.ts';

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
  /** The agents' working directory; by default the folder of the plan's file. */
  directory: text.min(1).max(4096).optional(),
  /** The caller is at the command line of the server's machine, and may name any file and directory. Requires the owner's token. */
  anyFile: z.boolean().optional(),
  /** Allows a directory in which programs keep credentials. Requires the owner's token. */
  anyDirectory: z.boolean().optional(),
});
export type StartBody = z.infer<typeof startBody>;

export const resumeBody = z.strictObject({
  useCurrent: z.boolean().optional(),
  /** Allows a plan's file anywhere, as for a start. Requires the owner's token. */
  anyFile: z.boolean().optional(),
  /** Trusts the plan of an imported run from now on. Requires the owner's token. */
  trust: z.boolean().optional(),
  /** New limits; omitted ones stay unchanged. */
  limits: wireLimits.optional(),
});

export const stopBody = z.strictObject({ reason: text.min(1).max(1024).optional() });

export const emptyBody = z.strictObject({});

export const signalBody = z.strictObject({ name, payload: json.optional() });

/** Queries are text; a list is comma-separated. */
const words = <Word extends z.ZodType<string, string>>(word: Word) =>
  z
    .string()
    .transform(given => given.split(','))
    .pipe(z.array(word).min(1))
    .optional();

/** The `next` of the previous page; opaque to clients. */
export const cursor = text.min(1).max(4096);

/** A paged list. */
export const listQuery = z.strictObject({ after: cursor.optional(), limit: pageLimit(1000) });

export const runsQuery = z.strictObject({
  kind: runKind.optional(),
  status: words(runStatus),
  name: text.optional(),
  tag: text.optional(),
  correlationId: text.optional(),
  /** Created at or after `since`, and before `until`. */
  since: timestamp.optional(),
  until: timestamp.optional(),
  /** The plan's file, or the workflow's id. */
  entry: text.optional(),
  /** The agents' working directory. */
  directory: text.optional(),
  after: cursor.optional(),
  limit: pageLimit(500),
});

export const pageQuery = z.strictObject({ from: count.optional(), limit: pageLimit(1000) });

/** The form of events: the contract's event that stands for each, or the stored one. */
export const eventView = z.enum(['contract', 'stored']);
export type EventView = z.infer<typeof eventView>;

export const eventsQuery = pageQuery.extend({ view: eventView.optional() });

export const tasksQuery = z.strictObject({
  status: words(taskStatus),
  node: text.min(1).max(512).optional(),
  after: cursor.optional(),
  limit: pageLimit(1000),
});

export const stateQuery = z.strictObject({ frame: count.optional() });

/** A person's text for the next turn of an agent. */
export const chatBody = z.strictObject({ node: text.min(1), text: text.min(1).max(20_000) });

/** Up to the end of a frame, and of one node. */
export const changesQuery = z.strictObject({ frame: count.optional(), node: text.optional() });

/** `from` is the `next` of the previous page. */
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
  /** `agent`: those of the fleet. */
  kind: z.enum([...runKind.options, 'agent']).optional(),
  after: cursor.optional(),
  limit: pageLimit(1000),
});
