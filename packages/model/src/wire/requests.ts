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
  /** Where agents work; the folder of the plan's file unless told otherwise. */
  directory: text.min(1).max(4096).optional(),
  /** The caller is the person at the command line of the server's machine, who may name any file and directory. Only with the owner's token. */
  anyFile: z.boolean().optional(),
  /** The directory may be one in which programs keep credentials. Only with the owner's token. */
  anyDirectory: z.boolean().optional(),
});
export type StartBody = z.infer<typeof startBody>;

export const resumeBody = z.strictObject({
  useCurrent: z.boolean().optional(),
  /** As for a start: the plan's file may lie anywhere. Only with the owner's token. */
  anyFile: z.boolean().optional(),
  /** The plan of a run that was imported is trusted from now on. Only with the owner's token. */
  trust: z.boolean().optional(),
  /** New limits; those left out stay unchanged. */
  limits: wireLimits.optional(),
});

export const stopBody = z.strictObject({ reason: text.min(1).max(1024).optional() });

export const emptyBody = z.strictObject({});

export const signalBody = z.strictObject({ name, payload: json.optional() });

/** Queries come as text; a list of words is one text with commas. */
const words = <Word extends z.ZodType<string, string>>(word: Word) =>
  z
    .string()
    .transform(given => given.split(','))
    .pipe(z.array(word).min(1))
    .optional();

/** Where a page goes on: the `next` of the page before. What is in it is the server's own affair. */
export const cursor = text.min(1).max(4096);

/** A list in pages. */
export const listQuery = z.strictObject({ after: cursor.optional(), limit: pageLimit(1000) });

export const runsQuery = z.strictObject({
  kind: runKind.optional(),
  status: words(runStatus),
  name: text.optional(),
  tag: text.optional(),
  correlationId: text.optional(),
  /** Made from this moment on, and before that one. */
  since: timestamp.optional(),
  until: timestamp.optional(),
  /** The plan's file, or the id of the workflow. */
  entry: text.optional(),
  /** Where its agents work. */
  directory: text.optional(),
  after: cursor.optional(),
  limit: pageLimit(500),
});

export const pageQuery = z.strictObject({ from: count.optional(), limit: pageLimit(1000) });

/** What an event is told as: the contract's event that stands for it, or as it is stored. */
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
  kind: runKind.optional(),
  after: cursor.optional(),
  limit: pageLimit(1000),
});
