import * as z from 'zod';
import { digest } from '../digest.ts';
import { runId } from '../ids.ts';
import { text } from '../json.ts';

/** The body of `POST /api/imports`. */
export const importBody = z.strictObject({
  /** The bundle's file, on the machine of the server. */
  file: text.min(1).max(4096),
  /** The new working directory of the run's agents. */
  directory: text.min(1).max(4096).optional(),
  /** Allows any file and directory. Requires the owner's token. */
  anyFile: z.boolean().optional(),
  /** Allows a directory in which programs keep credentials. Requires the owner's token. */
  anyDirectory: z.boolean().optional(),
  /** Trusts the plan: it may run like a local one. Requires the owner's token. */
  trust: z.boolean().optional(),
});

/** The imported run. */
export const importReport = z.strictObject({
  run: runId,
  /** Includes the runs of sub-plans. */
  runs: z.int().positive(),
  from: z.strictObject({ run: runId, head: digest }),
  bundle: digest,
  /** Packages that the plan needs on this machine. */
  packages: z.array(z.strictObject({ name: text, version: text })).readonly(),
});
export type ImportReport = z.infer<typeof importReport>;
