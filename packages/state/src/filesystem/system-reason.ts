import * as fs from 'node:fs';
import path from 'node:path';
import { thrownMessage } from '@signalbox/model';

/**
 * Why the system refused something, in short: for a message that has the path already. A disk that takes nothing is named, with
 * what to do about it.
 */
export function reasonOf(cause: unknown): string {
  return diskReason(cause) ?? codeOf(cause) ?? thrownMessage(cause);
}

/** The same of anything that was thrown, in its own words unless the disk is to blame. */
export function thrownReason(cause: unknown): string {
  return diskReason(cause) ?? thrownMessage(cause);
}

/** Does something with an open file. What the system refuses names the file, which a descriptor does not tell. */
export function naming<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw named(file, cause);
  }
}

export function named(file: string, cause: unknown): unknown {
  return cause instanceof Error && codeOf(cause) !== undefined && !('path' in cause)
    ? Object.assign(cause, { path: file })
    : cause;
}

const DISK_REASONS: ReadonlyMap<string, (place: string) => string> = new Map([
  ['ENOSPC', noSpace],
  [
    'EDQUOT',
    of => `the disk quota${of && ` for ${of}`} is used up; free some space${of && ' there'}, or have the quota raised`,
  ],
  ['EROFS', of => `${of || 'the disk'} is read-only; make it writable again`],
  ['EIO', of => `the disk${of && ` of ${of}`} fails (EIO); check it`],
]);

/** Never throws: anything can be thrown, and even looking at it may throw. */
function diskReason(cause: unknown): string | undefined {
  try {
    return DISK_REASONS.get(codeOf(cause) ?? '')?.(placeOf(cause));
  } catch {
    return undefined;
  }
}

function noSpace(place: string): string {
  return hasNoInodes(place)
    ? `the disk of ${place} cannot hold more files; remove some there`
    : `the disk${place && ` of ${place}`} is full; free some space${place && ' there'}`;
}

/** Some filesystems have room for a number of files only; others make it up as they go, and answer 0. */
function hasNoInodes(place: string): boolean {
  try {
    const { bavail, files, ffree } = fs.statfsSync(place);
    return files > 0 && ffree === 0 && bavail > 0;
  } catch {
    return false;
  }
}

/** The directory that something was to be written to, directories of ours left out; empty where the system does not tell. */
function placeOf(cause: unknown): string {
  const { path: from, dest } = cause as { readonly path?: unknown; readonly dest?: unknown };
  const file = dest ?? from;
  if (typeof file !== 'string' && !Buffer.isBuffer(file)) return '';
  const directory = path.dirname(String(file));
  const own = directory.search(OF_OURS);
  return own > 0 ? directory.slice(0, own) : directory;
}

/** Where what is staged, new contents and layers are kept. */
const OF_OURS = /\/(?:\.signalbox-|blobs\/incoming-|layers\/[0-9a-f-]{36}(?:\/|$))/;

function codeOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !('code' in cause)) return undefined;
  return typeof cause.code === 'string' ? cause.code : undefined;
}
