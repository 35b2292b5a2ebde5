import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Clock, type RunId, type Timestamp, timestamp, timestampOf } from '@signalbox/model';

/**
 * Until when the journals of a data directory, or its logs, are known to hold everything: `cache/journaled`, `cache/logged`. It may be
 * older than the truth, or missing; then more of them are looked at than need be.
 */
export interface JournalMark {
  now(): Timestamp;
  /** Runs whose journals, or logs, may lack something. */
  behind(): readonly RunId[];
  /** Each of them holds what was committed before this moment. */
  whole(since: Timestamp): void;
}

export function openJournalMark(
  dataDirectory: string,
  store: { changedSince(at: Timestamp): readonly RunId[] },
  clock: Clock,
  name: 'journaled' | 'logged' = 'journaled',
): JournalMark {
  const file = path.join(dataDirectory, 'cache', name);
  return {
    now: () => timestampOf(clock),
    behind() {
      const known = timestamp.safeParse(readText(file));
      return store.changedSince(known.success ? known.data : ('' as Timestamp));
    },
    whole(since) {
      try {
        mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
        writeFileSync(`${file}.tmp`, since, { mode: 0o600 });
        renameSync(`${file}.tmp`, file);
      } catch {
        // More is looked at next time.
      }
    },
  };
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
