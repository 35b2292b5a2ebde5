import { isOwned, type LiveOwner, readOwner } from '@signalbox/app/host';

/** The process that owns a data directory now. For processes that do not own it. */
export function liveOwner(dataDirectory: string): LiveOwner {
  const before = readOwner(dataDirectory)?.owner;
  const owned = isOwned(dataDirectory);
  if (owned === false) return 'nobody';
  const record = readOwner(dataDirectory)?.owner;
  // A full disk keeps an owner from writing its record, and one that is just starting has yet to.
  return owned === undefined || record === undefined || record !== before ? 'unknown' : record;
}
