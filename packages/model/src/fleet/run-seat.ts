import * as z from 'zod';
import { runId } from '../ids.ts';
import { text } from '../json.ts';
import { name } from './scales.ts';

/** Where an agent of a plan works. The truth about its work is in the log of the run. */
export const runSeat = z.strictObject({
  run: runId,
  /** The plan's name. */
  plan: name,
  /** The node, as the plan has it. */
  node: text.min(1).max(1024),
});
export type RunSeat = Readonly<z.infer<typeof runSeat>>;
