import * as z from 'zod';
import { text } from '../json.ts';
import { providerBrief } from './providers.ts';
import { storageStanding } from './storage.ts';

export const health = z.object({
  name: z.literal('signalbox'),
  contractVersion: text,
  /** Runs that are currently driven. */
  driven: z.int().nonnegative(),
  /** Whether the data directory takes writes. */
  storage: storageStanding,
  providers: z.array(providerBrief).readonly(),
});
