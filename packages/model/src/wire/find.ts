import * as z from 'zod';
import { artifactId, runId, sessionId } from '../ids.ts';
import { text } from '../json.ts';
import { cursor, pageLimit } from './requests.ts';

/** What the search finds. */
export const findKind = z.enum(['run', 'node', 'message', 'call', 'file', 'artifact', 'note']);
export type FindKind = z.infer<typeof findKind>;

export const findQuery = z.strictObject({
  /** Every word must occur, at least as a beginning; words in quotation marks must follow each other. */
  q: text.min(1).max(400),
  kind: z
    .string()
    .transform(given => given.split(','))
    .pipe(z.array(findKind).min(1))
    .optional(),
  run: runId.optional(),
  /** Written at or after this time. */
  since: text.max(40).optional(),
  /** The `next` of the previous page. */
  after: cursor.regex(/^\d{1,6}$/, 'must be the "next" of a page of this search').optional(),
  limit: pageLimit(100),
});
export type FindQuery = z.infer<typeof findQuery>;

/** A part of a text; `hit` where it is what was searched for. */
const snippetPart = z.object({ text, hit: z.boolean() });
export type SnippetPart = z.infer<typeof snippetPart>;

export const foundThing = z.object({
  kind: findKind,
  /** Absent for a note whose session has no run yet. */
  run: runId.optional(),
  runName: text.optional(),
  session: sessionId.optional(),
  node: text.optional(),
  artifact: artifactId.optional(),
  title: text,
  snippet: z.array(snippetPart).readonly(),
  at: text,
});
export type FoundThing = z.infer<typeof foundThing>;

/** `counts` are of the newest 2,000 results by kind, whichever kinds were asked for. */
export const foundList = z.object({
  found: z.array(foundThing).readonly(),
  counts: z.partialRecord(findKind, z.int().nonnegative()),
  /** How many runs and sessions changed since they were indexed; they are found a moment later. */
  behind: z.int().nonnegative(),
  next: text.optional(),
});
export type FoundList = z.infer<typeof foundList>;
