import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { digest } from '../digest.ts';
import { runId } from '../ids.ts';
import { json, text } from '../json.ts';

/** The body of `POST /api/runs/:run/verify`. */
export const verifyBody = z.strictObject({
  /** A head noted earlier: the run must have had it. */
  expectHead: digest.optional(),
});

/** How far the record of a run can be trusted. */
export const runCheck = z.object({
  ok: z.boolean(),
  run: runId,
  /** Valid records of its log from the start, the number of their events, and the head after the last of them. */
  records: z.int().nonnegative(),
  events: z.int().nonnegative(),
  head: digest,
  /** Removed data, by the records that report the removal: the numbers of the affected records. */
  taken: z
    .array(
      z.object({
        kind: z.enum(['collapse', 'redaction']),
        record: z.int().nonnegative(),
        at: timestamp,
        by: text,
        why: text,
        records: z.array(z.int().nonnegative()).readonly(),
        /** After the expected head, which does not vouch for it. */
        isLater: z.literal(true).optional(),
      }),
    )
    .readonly()
    .optional(),
  /** The first defects. */
  defects: z
    .array(
      z.object({
        where: z.enum(['log', 'table', 'blob', 'journal', 'expected head']),
        /** The defective record, or the one that wrote the expected value, and the run's version after it. */
        record: z.int().nonnegative().optional(),
        version: z.int().positive().optional(),
        table: text.optional(),
        key: text.optional(),
        what: text,
      }),
    )
    .readonly()
    .optional(),
  /** The number of records that the journal lacks so far. */
  behind: z.int().positive().optional(),
  /** Its journal files; absent if the log is not valid. */
  journal: z
    .object({
      ok: z.boolean(),
      health: text,
      events: z.int().nonnegative(),
      segments: z.int().nonnegative(),
      head: digest,
      defect: z.object({ code: text, file: text, line: z.int().optional(), reason: text, meaning: text }).optional(),
      notes: z.array(text).readonly(),
    })
    .optional(),
});
export type RunCheck = z.infer<typeof runCheck>;

/** A defect in one line: where, what was found, and what was expected. */
export function defectWords(defect: NonNullable<RunCheck['defects']>[number]): string {
  const { where, record, version, table, key = '', what } = defect;
  const at = version === undefined ? '' : ` (version ${version})`;
  if (where === 'table') {
    const rows = key.startsWith('run number ') ? `rows of ${key}` : `row ${key}`;
    return `table ${table}, ${rows}${record === undefined ? '' : `, last written by record ${record}${at}`}: ${what}`;
  }
  return `${where}${record === undefined ? '' : `, record ${record}${at}`}: ${what}`;
}

/** The body of `POST /api/runs/:run/replay`. */
export const replayBody = z.strictObject({
  /** A plan's file to use instead of the files recorded with the run. */
  plan: text.min(1).max(4096).optional(),
});

const place = z.object({ file: text, line: z.int(), column: z.int() });

/** A difference in a frame; an absent value means that there was none. */
const replayedRow = z.object({
  space: text,
  key: text,
  recorded: json.optional(),
  replayed: json.optional(),
  /** The size of a value that is too large to send. */
  leftOut: z.object({ recorded: z.int().positive().optional(), replayed: z.int().positive().optional() }).optional(),
  /** For state: the writer. */
  writtenBy: text.optional(),
  source: place.optional(),
});
export type ReplayedRow = z.infer<typeof replayedRow>;

/** The result of rendering the frames of a run again. */
const replayedRun = z.object({
  run: runId,
  /** The plan's name. */
  name: text,
  frames: z.int().nonnegative(),
  verified: z.int().nonnegative(),
  /** How many frames read unrecorded data, and the first of them. */
  unverified: z.object({ count: z.int().nonnegative(), first: z.array(z.int().nonnegative()).readonly() }),
  /** What the first of them read without a record. */
  unrecorded: z.array(text).readonly().optional(),
  /** The first collected frame: it and later ones cannot be rendered again. */
  collectedFrom: z.int().nonnegative().optional(),
  /** The first frame that differs. */
  difference: z
    .object({
      frame: z.int().nonnegative(),
      kind: z.enum(['frame', 'render', 'record']),
      what: text,
      recorded: digest,
      replayed: digest.optional(),
      rows: z.array(replayedRow).readonly(),
      source: place.optional(),
    })
    .optional(),
});

/** The result of a verifying replay. */
export const replayReport = z.object({
  /** Every frame of every run was verifiable and came out the same. */
  ok: z.boolean(),
  run: runId,
  /** The run and those of its sub-plans. */
  runs: z.array(replayedRun).readonly(),
});
export type ReplayReport = z.infer<typeof replayReport>;
