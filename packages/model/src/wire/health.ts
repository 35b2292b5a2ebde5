import * as z from 'zod';
import { text } from '../json.ts';

export const health = z.object({
  name: z.literal('signalbox'),
  contractVersion: text,
  /** Runs that are driven now. */
  driven: z.int().nonnegative(),
});
export type Health = z.infer<typeof health>;
