import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { runId } from '../ids.ts';
import { text } from '../json.ts';

/** A tool call that a process had begun when it ended, and what the next start did about it. */
export const recoveryNote = z.object({
  /** The call's. */
  id: text,
  tool: text,
  at: timestamp,
  /** Whose call it was, where that is known. */
  run: runId.optional(),
  node: text.optional(),
  /** `rolled-back`, `restore-finished`, `restore-dropped`, `outcome-unknown`, `failed`. */
  outcome: text,
  /** What happened, in words. */
  message: text,
  /** Paths by what became of them, such as `restored`, `kept`, `lost`. Of a long list only the beginning; `more` counts the rest. */
  paths: z.array(z.object({ what: text, paths: z.array(text).readonly(), more: z.int().nonnegative() })).readonly(),
});
export type RecoveryNote = z.infer<typeof recoveryNote>;

/** The newest first. */
export const recoveryList = z.object({ recoveries: z.array(recoveryNote).readonly() });
