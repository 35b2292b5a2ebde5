import * as z from 'zod';
import { digest } from '../digest.ts';
import { runId } from '../ids.ts';
import { text } from '../json.ts';

/** The body of `POST /api/imports`. */
export const importBody = z.strictObject({
  /** The bundle's file, on the machine of the server. */
  file: text.min(1).max(4096),
  /** Where the run's agents work from now on. */
  directory: text.min(1).max(4096).optional(),
  /** File and directory may lie anywhere. Only with the owner's token. */
  anyFile: z.boolean().optional(),
  /** The directory may be one in which programs keep credentials. Only with the owner's token. */
  anyDirectory: z.boolean().optional(),
  /** Its plan is trusted: it may be run as one's own. Only with the owner's token. */
  trust: z.boolean().optional(),
});

/** The run that a bundle became. */
export const importReport = z.strictObject({
  run: runId,
  /** With those of its sub-plans. */
  runs: z.int().positive(),
  from: z.strictObject({ run: runId, head: digest }),
  bundle: digest,
  /** Packages that its plan needs here. */
  packages: z.array(z.strictObject({ name: text, version: text })).readonly(),
});
export type ImportReport = z.infer<typeof importReport>;
