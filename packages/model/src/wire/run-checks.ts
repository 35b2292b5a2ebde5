import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { digest } from '../digest.ts';
import { runId } from '../ids.ts';
import { json, text } from '../json.ts';

/** The body of `POST /api/runs/:run/verify`. */
export const verifyBody = z.strictObject({
  /** A head that was noted: it must be one that the run had. */
  expectHead: digest.optional(),
});

/** How far the record of a run can be relied on. */
export const runCheck = z.object({
  ok: z.boolean(),
  run: runId,
  /** Records of its log that hold, from the start, the events that they tell, and the head after the last of them. */
  records: z.int().nonnegative(),
  events: z.int().nonnegative(),
  head: digest,
  /** What was taken away, by the records that say so: the numbers of the records that lost something. */
  taken: z
    .array(
      z.object({
        kind: z.enum(['collapse', 'redaction']),
        record: z.int().nonnegative(),
        at: timestamp,
        by: text,
        why: text,
        records: z.array(z.int().nonnegative()).readonly(),
        /** After the head that was expected, which does not vouch for it. */
        isLater: z.literal(true).optional(),
      }),
    )
    .readonly()
    .optional(),
  /** What is wrong; the first of it. */
  defects: z
    .array(
      z.object({
        where: z.enum(['log', 'table', 'blob', 'journal', 'expected head']),
        /** The record that is wrong, or that wrote what is expected, and the run's version after it. */
        record: z.int().nonnegative().optional(),
        version: z.int().positive().optional(),
        table: text.optional(),
        key: text.optional(),
        what: text,
      }),
    )
    .readonly()
    .optional(),
  /** How many records the journal does not have yet. */
  behind: z.int().positive().optional(),
  /** Its journal, as files; absent where the log does not hold. */
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

/** A defect in one line: where it is, and what was found and expected there. */
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
  /** A plan's file, instead of the files that the run kept. */
  plan: text.min(1).max(4096).optional(),
});

const place = z.object({ file: text, line: z.int(), column: z.int() });

/** Something that a frame shows, and that came out otherwise; a value that is absent was not there. */
const replayedRow = z.object({
  space: text,
  key: text,
  recorded: json.optional(),
  replayed: json.optional(),
  /** A value of this many bytes is not sent. */
  leftOut: z.object({ recorded: z.int().positive().optional(), replayed: z.int().positive().optional() }).optional(),
  /** What wrote it, where it is state. */
  writtenBy: text.optional(),
  source: place.optional(),
});
export type ReplayedRow = z.infer<typeof replayedRow>;

/** What came of making the frames of a run again. */
const replayedRun = z.object({
  run: runId,
  /** Of its plan. */
  name: text,
  frames: z.int().nonnegative(),
  verified: z.int().nonnegative(),
  /** How many frames read something unrecorded, and the first of them. */
  unverified: z.object({ count: z.int().nonnegative(), first: z.array(z.int().nonnegative()).readonly() }),
  /** The first frame that was collected: it and those after it cannot be made again. */
  collectedFrom: z.int().nonnegative().optional(),
  /** The first frame that came out otherwise. */
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

/** What a verifying replay found. */
export const replayReport = z.object({
  /** Every frame of every run could be verified, and came out again. */
  ok: z.boolean(),
  run: runId,
  /** The run, and those of its sub-plans. */
  runs: z.array(replayedRun).readonly(),
});
export type ReplayReport = z.infer<typeof replayReport>;
