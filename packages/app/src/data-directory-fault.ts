import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { type ErrorEnvelope, failure } from '@signalbox/model';
import { diskFault, diskRefusal } from '@signalbox/store';
import { makePrivateDirectory } from './private-directory.ts';

export type DataDirectoryFault = ErrorEnvelope<'store/unusable' | 'store/not-private'>;

/**
 * Why a directory cannot be the data directory, for every command before it opens it. Returns undefined for a usable one, for one that does
 * not exist yet and for an empty one, which is made private when first used. Checks only the directory itself: nothing below a private
 * directory is reachable by others.
 */
export function dataDirectoryFault(directory: string): DataDirectoryFault | undefined {
  try {
    const entry = statSync(directory, { throwIfNoEntry: false });
    if (entry === undefined) return faultAbove(directory);
    if (!entry.isDirectory()) return unusable(`The data directory ${directory} is ${kindOf(entry)}, not a directory.`);
    accessSync(directory, constants.R_OK | constants.X_OK);
    return readdirSync(directory).length === 0 ? undefined : openFault(directory);
  } catch (cause) {
    const code = codeOf(cause);
    if (code === 'EACCES') return unusable(`You may not read the data directory ${directory}.`);
    return unusable(`The data directory ${directory} cannot be read (${code}).`);
  }
}

/** Creates the data directory if it is missing. Returns why it cannot be used or created. */
export function makeDataDirectory(directory: string): DataDirectoryFault | undefined {
  const fault = dataDirectoryFault(directory);
  if (fault !== undefined) return fault;
  try {
    makePrivateDirectory(directory);
    return openFault(directory);
  } catch (cause) {
    const code = codeOf(cause);
    const why = READ_ONLY.has(code) ? `${existingAbove(directory)} is read-only` : `the system says ${code}`;
    return unusable(`The data directory ${directory} cannot be created: ${why}.`);
  }
}

/** The same for a command that writes there without owning it. A full disk may still accept its writes. */
export function writableDataDirectoryFault(directory: string): DataDirectoryFault | undefined {
  return makeDataDirectory(directory) ?? (diskFault(directory) === 'read-only' ? diskRefusal(directory) : undefined);
}

/** The command that makes a data directory, and everything in it, private. */
export function closingCommand(directory: string): string {
  return `chmod -R go-rwx '${directory.replaceAll("'", `'\\''`)}'`;
}

function openFault(directory: string): DataDirectoryFault | undefined {
  const { mode: bits, uid } = statSync(directory);
  const mode = bits & 0o777;
  // Windows has no such bits; the directories of a profile are private to it.
  if (process.platform === 'win32' || (mode & 0o077) === 0) return undefined;
  const own = process.getuid?.();
  return own === undefined || own === 0 || own === uid ? notPrivate(directory, mode) : ofAnother(directory, mode, uid);
}

function ofAnother(directory: string, mode: number, uid: number): DataDirectoryFault {
  return failure('store/not-private', {
    message: `The data directory ${directory} belongs to another user (uid ${uid}) and is open to you (mode ${mode.toString(8).padStart(4, '0')}).`,
    suggestion: 'Choose your own with --data-dir or SIGNALBOX_DATA_DIR, or ask its owner to chown it to you.',
    details: { mode: mode.toString(8), uid },
  });
}

function notPrivate(directory: string, mode: number): DataDirectoryFault {
  return failure('store/not-private', {
    message: `The data directory ${directory} is open to other users (mode ${mode.toString(8).padStart(4, '0')}).`,
    suggestion: `It holds transcripts, files and keys. Close it: ${closingCommand(directory)}`,
    details: { mode: mode.toString(8) },
  });
}

function unusable(message: string): DataDirectoryFault {
  return failure('store/unusable', {
    message,
    suggestion: 'Choose another one with --data-dir or SIGNALBOX_DATA_DIR.',
  });
}

function kindOf(entry: { isFile(): boolean }): string {
  return entry.isFile() ? 'a file' : 'a device, pipe or socket';
}

/** Whether a directory cannot be created because one of its parents is a file. */
function faultAbove(directory: string): DataDirectoryFault | undefined {
  const above = existingAbove(directory);
  const entry = statSync(above);
  if (entry.isDirectory()) return undefined;
  return unusable(`The data directory ${directory} cannot be created: ${above} is ${kindOf(entry)}, not a directory.`);
}

function existingAbove(directory: string): string {
  const above = path.dirname(directory);
  return existsSync(above) ? above : existingAbove(above);
}

const READ_ONLY: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
}
