import path from 'node:path';
import {
  type ErrorEnvelope,
  isLostDatabase,
  openReader,
  type Reader,
  withHeld,
  withInterrupted,
} from '@signalbox/app/host';
import { askedDataDirectory, type DataFlags } from './data-directory-option.ts';
import { type ExitCode, exitCodeOf } from './exit-code.ts';
import { liveOwner } from './owner/live-owner.ts';
import { ownerStorage } from './storage/owner-storage.ts';
import { paintOf, reportError, type Terminal } from './terminal.ts';

/** Reads the data directory, whichever process owns it. An error is reported once. */
export async function withReader(
  terminal: Terminal,
  { dataDir, json = false }: DataFlags,
  look: (reader: Reader) => Promise<ExitCode | ErrorEnvelope>,
  /** Handles an empty data directory, if that is a valid answer. */
  onNothing?: (missing: ErrorEnvelope) => Promise<ExitCode | ErrorEnvelope>,
): Promise<ExitCode> {
  const directory = askedDataDirectory(dataDir);
  const opened = openReader({ path: path.join(directory, 'db.sqlite') });
  const refuse = (error: ErrorEnvelope): ExitCode => {
    reportError(terminal, error, json);
    return exitCodeOf(error);
  };
  if (!opened.ok && opened.error.code === 'store/missing' && onNothing !== undefined) {
    const outcome = await onNothing(opened.error);
    const isLost = isLostDatabase(opened.error);
    if (typeof outcome !== 'number') return refuse(isLost ? opened.error : outcome);
    // What was answered is not all there is.
    if (isLost) terminal.complain(paintOf(terminal).bad(`! ${opened.error.message} ${opened.error.suggestion}`));
    return outcome;
  }
  if (!opened.ok) return refuse(opened.error);
  try {
    const standing = await ownerStorage(directory);
    const owner = liveOwner(directory);
    const outcome = await look(
      withHeld(
        withInterrupted(opened.value, () => owner),
        () => standing,
      ),
    );
    return typeof outcome === 'number' ? outcome : refuse(outcome);
  } finally {
    opened.value.close();
  }
}
