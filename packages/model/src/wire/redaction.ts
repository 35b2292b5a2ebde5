import * as z from 'zod';
import { runId } from '../ids.ts';
import { text } from '../json.ts';

/** The body of `POST /api/runs/:run/redact`. */
export const redactionBody = z.strictObject({
  /** The secret itself. Compared, never stored. */
  value: text.min(1).max(100_000),
  /** The label in the mark that replaces it; `secret` by default. */
  name: text.min(1).max(100).optional(),
  why: text.min(1).max(1000).optional(),
  /** Reports the changes without making them. */
  dryRun: z.boolean().optional(),
});

const count = z.int().nonnegative();

/** The changes of a redaction, made or planned, and the copies that it does not reach. */
export const redactionReport = z.strictObject({
  dryRun: z.boolean(),
  name: text,
  /** The run and its descendants, with the numbers of the changed records. */
  runs: z
    .array(
      z.strictObject({
        run: runId,
        records: z.array(count).readonly(),
        /** Whether token-by-token output contained it and was removed. */
        tokens: z.boolean(),
      }),
    )
    .readonly(),
  /** Removed contents, and rewritten logs. */
  blobs: count,
  logs: count,
  /** Where the value remains in the data directory, and why. */
  left: z.array(z.strictObject({ where: text, why: text })).readonly(),
  /** Copies outside the data directory, which are not changed. */
  outside: z.array(text).readonly(),
});
export type RedactionReport = z.infer<typeof redactionReport>;
