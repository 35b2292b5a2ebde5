import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type ErrorEnvelope, failure, knownSecret, runId, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { sync } from '../backup/copy-tree.ts';

/**
 * A note of what is being removed, written before anything is: `taking-away.json` in the data directory. The next owner of the directory
 * finishes it, so that a killed process leaves nothing half done (T7). It holds no secret: values are known by keyed hashes.
 *
 * It is a file beside the database, so that someone who changes only the database is detected through the journals.
 */
const takingNote = z.discriminatedUnion('kind', [
  z.strictObject({ v: z.literal(1), kind: z.literal('collapse'), runs: z.array(runId).readonly() }),
  z.strictObject({
    v: z.literal(1),
    kind: z.literal('redaction'),
    runs: z.array(runId).readonly(),
    name: z.string(),
    known: z.array(knownSecret).readonly(),
    at: timestamp,
    by: z.string(),
    why: z.string(),
  }),
]);
export type TakingNote = z.infer<typeof takingNote>;
export type RedactionNote = Extract<TakingNote, { readonly kind: 'redaction' }>;

const FILE = 'taking-away.json';

export function writeNote(dataDirectory: string, note: TakingNote): void {
  const file = path.join(dataDirectory, FILE);
  writeFileSync(`${file}.tmp`, JSON.stringify(note), { mode: 0o600, flush: true });
  renameSync(`${file}.tmp`, file);
  sync(dataDirectory);
}

/** Undefined if nothing was interrupted. Throws if the note is invalid. */
export function readNote(dataDirectory: string): TakingNote | undefined {
  const file = path.join(dataDirectory, FILE);
  return existsSync(file) ? takingNote.parse(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
}

/** Why an existing note is invalid. It is written atomically, so it was damaged or changed. */
export function noteFault(dataDirectory: string): ErrorEnvelope<'store/damaged'> | undefined {
  try {
    readNote(dataDirectory);
    return undefined;
  } catch {
    return failure('store/damaged', {
      message: `${FILE} in the data directory cannot be read: an interrupted redaction or collapse may be unfinished.`,
      suggestion: `Delete ${FILE}, verify the runs, and repeat the redaction: it is safe to repeat.`,
    });
  }
}

export function removeNote(dataDirectory: string): void {
  rmSync(path.join(dataDirectory, FILE), { force: true });
  sync(dataDirectory);
}
