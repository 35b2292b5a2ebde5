import path from 'node:path';
import { tryFileLock } from '@signalbox/journal';
import type { RunId } from '@signalbox/model';
import { openReader } from '@signalbox/store';
import { createJournalWriter } from './journal-writer.ts';

/**
 * Brings the journal of a run up to date if no process owns the data directory; an owner does so itself. Nobody can become the owner
 * meanwhile. Returns whether the journal is complete.
 */
export async function drainUnowned(dataDirectory: string, run: RunId): Promise<boolean> {
  const lock = tryFileLock(path.join(dataDirectory, 'owner.lock'), 'exclusive');
  if (!lock.ok) return false;
  try {
    const reader = openReader({ path: path.join(dataDirectory, 'db.sqlite') });
    if (!reader.ok) return false;
    try {
      return (await createJournalWriter(dataDirectory, reader.value).write([run])).length === 0;
    } finally {
      reader.value.close();
    }
  } finally {
    lock.value.release();
  }
}
