import { rmSync } from 'node:fs';
import { sqliteLocks } from '@signalbox/journal';
import { type ErrorEnvelope, err, failure, type Result, type SessionId } from '@signalbox/model';
import { unknownSession } from './find-session.ts';
import { guardIo, openSessionStores, type SessionStores, type SessionStoresOptions } from './session-stores.ts';

/** The mark of a session that a person keeps, whatever its age. It is beside the journal, not part of it. */
const MARK = '.kept';

export function isKept({ disk, directoryOf }: SessionStores, sessionId: SessionId): boolean {
  return disk.kind(`${directoryOf(sessionId)}/${MARK}`) !== 'missing';
}

/** Keeps a session from being collected, or releases it. In any health; returns whether that changed anything. */
export async function keepSession(
  options: SessionStoresOptions,
  sessionId: SessionId,
  keep: boolean,
): Promise<
  Result<{ readonly sessionId: SessionId; readonly isKept: boolean; readonly isChanged: boolean }, ErrorEnvelope>
> {
  const stores = openSessionStores(options);
  const { disk } = stores;
  const directory = stores.directoryOf(sessionId);
  if (disk.kind(directory) !== 'directory') {
    return err(unknownSession(`There is no session ${sessionId} in this data directory.`));
  }
  // Collecting checks the mark under the same lock.
  const lock = await (options.locks ?? sqliteLocks).acquire(`${directory}/.lock`);
  if (!lock.ok) return err(cannotLock(sessionId));
  try {
    return guardIo(`marking session ${sessionId}`, () => {
      const isChanged = isKept(stores, sessionId) !== keep;
      if (isChanged && keep) disk.open(`${directory}/${MARK}`, 'create').close();
      else if (isChanged) rmSync(`${directory}/${MARK}`, { recursive: true, force: true });
      if (isChanged) disk.syncDirectory(directory);
      return { sessionId, isKept: keep, isChanged };
    });
  } finally {
    lock.value.release();
  }
}

function cannotLock(sessionId: SessionId) {
  return failure('SESSION_LOCKED', {
    message: `Session ${sessionId} is being written by another process.`,
    suggestion: 'Try again in a moment.',
    retry: { kind: 'retryable_after_ms', afterMs: 500 },
    details: { sessionId },
  });
}
