import { type RunId, runId } from '@signalbox/model';
import * as z from 'zod';
import { isInRanges } from '../retention/frame-range.ts';
import type { RunRecord } from '../run/run-record.ts';

/**
 * The initial state that a fork takes from its parent, by reference: every value that held in the parent's frame holds in the fork's frame
 * 0, and tasks whose end was handled before it exist under the fork's own ids. A store copies rows; blobs are neither read nor written.
 */
export const inheritance = z.strictObject({ run: runId, frame: z.int().nonnegative() });
export type Inheritance = z.infer<typeof inheritance>;

/** The trigger of the first transition of every state key that a fork inherits. */
export const INHERITED = 'run.forked';

/** Why a run cannot inherit; undefined if it can. Only a fork inherits, from the frame that its origin names. */
export function inheritanceFault(
  fork: RunRecord,
  { run, frame }: Inheritance,
  recordOf: (run: RunId) => RunRecord | undefined,
): string | undefined {
  const { origin } = fork;
  if (fork.frames !== 1) return 'a run inherits with the commit that makes it and its frame 0';
  if (origin?.kind !== 'fork' || origin.run !== run || origin.frame !== frame) {
    return `it does not come from frame ${frame} of run ${run}`;
  }
  const parent = recordOf(run);
  if (parent === undefined) return `there is no run ${run}`;
  if (isInRanges(parent.collected ?? [], frame)) return `frame ${frame} of run ${run} was collected`;
  return frame < parent.frames ? undefined : `run ${run} has no frame ${frame}`;
}
