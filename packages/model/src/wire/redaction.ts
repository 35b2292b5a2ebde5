import * as z from 'zod';
import { runId } from '../ids.ts';
import { text } from '../json.ts';

/** The body of `POST /api/runs/:run/redact`. */
export const redactionBody = z.strictObject({
  /** The secret itself. It is compared, and not kept. */
  value: text.min(1).max(100_000),
  /** What the mark in its place calls it; `secret` unless given. */
  name: text.min(1).max(100).optional(),
  why: text.min(1).max(1000).optional(),
  /** Only say what would change. */
  dryRun: z.boolean().optional(),
});

const count = z.int().nonnegative();

/** What a redaction changed, or would change, and what it does not reach. */
export const redactionReport = z.strictObject({
  dryRun: z.boolean(),
  name: text,
  /** The run and those that come from it, with the numbers of the records that were changed. */
  runs: z
    .array(
      z.strictObject({
        run: runId,
        records: z.array(count).readonly(),
        /** Whether what agents said token by token held it, and was removed. */
        tokens: z.boolean(),
      }),
    )
    .readonly(),
  /** Contents that were removed, and logs that were written again. */
  blobs: count,
  logs: count,
  /** Where the value still is, in the data directory, and why. */
  left: z.array(z.strictObject({ where: text, why: text })).readonly(),
  /** Copies outside of the data directory, which nothing here reaches. */
  outside: z.array(text).readonly(),
});
export type RedactionReport = z.infer<typeof redactionReport>;
