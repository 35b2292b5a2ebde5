import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { runId } from '../ids.ts';
import { text } from '../json.ts';

/** A tool call interrupted by the end of its process, and how the next start handled it. */
export const recoveryNote = z.object({
  /** The id of the call. */
  id: text,
  tool: text,
  at: timestamp,
  /** The run and node of the call, if known. */
  run: runId.optional(),
  node: text.optional(),
  /** `rolled-back`, `restore-finished`, `restore-dropped`, `outcome-unknown`, `failed`. */
  outcome: text,
  /** A sentence for people. */
  message: text,
  /** Paths by outcome, such as `restored`, `kept`, `lost`. Long lists are cut; `more` counts the rest. */
  paths: z.array(z.object({ what: text, paths: z.array(text).readonly(), more: z.int().nonnegative() })).readonly(),
});
export type RecoveryNote = z.infer<typeof recoveryNote>;

/** Newest first. */
export const recoveryList = z.object({ recoveries: z.array(recoveryNote).readonly() });
