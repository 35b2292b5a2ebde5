import { existsSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { tryFileLock } from '@signalbox/journal';
import {
  type Clock,
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type Result,
  text,
  timestamp,
  timestampOf,
} from '@signalbox/model';
import { type FormerOwner, type OwnerId, ownerId } from '@signalbox/runs';
import * as z from 'zod';

/**
 * The right to write a data directory. It is an operating system lock, so it is released the moment its process ends, however it ends; no
 * timeout is involved.
 */
export interface Owner {
  /** Identifies one life of this process; tasks that it starts carry it. */
  readonly id: OwnerId;
  /** The previous owner, if it crashed: a clean exit leaves no record. */
  readonly former?: FormerOwner | undefined;
  /** Records that this owner is alive, so the next one knows when it died. */
  beat(): void;
  /** Records where the owner listens, so that other processes can reach it. */
  announce(url: string): void;
  release(): void;
}

/** The content of `owner.json`. Only the lock makes an owner: a leftover file means nothing. */
const ownerRecord = z.strictObject({
  v: z.literal(1),
  owner: ownerId,
  pid: z.int().positive(),
  since: timestamp,
  url: text.min(1).optional(),
});
export type OwnerRecord = z.infer<typeof ownerRecord>;

export interface OwnerOptions {
  readonly id: OwnerId;
  readonly clock: Clock;
}

/** `details.owner` of `store/owned` is the owner's record, if it wrote one. */
export type OwnerError = ErrorEnvelope<'store/owned' | 'STORE_LOCK_UNUSABLE'>;

export function acquireOwner(dataDirectory: string, { id, clock }: OwnerOptions): Result<Owner, OwnerError> {
  const lock = tryFileLock(path.join(dataDirectory, 'owner.lock'), 'exclusive');
  if (!lock.ok) {
    return err(lock.error.code === 'busy' ? owned(readOwner(dataDirectory)) : lockUnusable(lock.error.reason));
  }
  const former = formerOwner(dataDirectory);
  const record: OwnerRecord = { v: 1, owner: id, pid: process.pid, since: timestampOf(clock) };
  // Only the lock makes an owner: failing to write the record changes nothing.
  tryTo(() => writeOwner(dataDirectory, record));
  return ok({
    id,
    former,
    beat() {
      const now = new Date(clock.now());
      try {
        utimesSync(ownerFile(dataDirectory), now, now);
      } catch {
        // If the disk cannot be written, the last sign of life is older.
      }
    },
    announce: url => tryTo(() => writeOwner(dataDirectory, { ...record, url })),
    release() {
      tryTo(() => rmSync(ownerFile(dataDirectory), { force: true }));
      lock.value.release();
    },
  });
}

/** Whether a process owns a data directory now; undefined if that cannot be found out. For processes that do not own it. */
export function isOwned(dataDirectory: string): boolean | undefined {
  const file = path.join(dataDirectory, 'owner.lock');
  if (!existsSync(file)) return false;
  const lock = tryFileLock(file, 'shared');
  if (lock.ok) lock.value.release();
  return lock.ok ? false : lock.error.code === 'busy' ? true : undefined;
}

/** The record of a data directory's owner. Another process may hold the lock by now. */
export function readOwner(dataDirectory: string): OwnerRecord | undefined {
  try {
    return ownerRecord.safeParse(JSON.parse(readFileSync(ownerFile(dataDirectory), 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** A leftover record belongs to an owner that crashed; its file was touched while the owner lived. */
function formerOwner(dataDirectory: string): FormerOwner | undefined {
  const record = readOwner(dataDirectory);
  if (record === undefined) return undefined;
  try {
    const { mtimeMs } = statSync(ownerFile(dataDirectory));
    return { id: record.owner, seenAt: timestampOf({ now: () => Math.floor(mtimeMs) }) };
  } catch {
    return undefined;
  }
}

const ownerFile = (dataDirectory: string): string => path.join(dataDirectory, 'owner.json');

/** Readers see the old record or the new one, never a part. If there is no room for both, the new one overwrites the old. */
function writeOwner(dataDirectory: string, record: OwnerRecord): void {
  const file = ownerFile(dataDirectory);
  const temporary = `${file}.${record.pid}.tmp`;
  const text = `${JSON.stringify(record)}\n`;
  try {
    writeFileSync(temporary, text, { mode: 0o600 });
    renameSync(temporary, file);
  } catch {
    rmSync(temporary, { force: true });
    // Stays within the file's existing block, padded to cover the old content.
    const before = readFileSync(file).length;
    writeFileSync(file, `${text.trimEnd().padEnd(before - 1)}\n`, { flag: 'r+' });
  }
}

function tryTo(act: () => void): void {
  try {
    act();
  } catch {
    // The disk accepts no writes.
  }
}

function owned(by: OwnerRecord | undefined): OwnerError {
  const who = by === undefined ? 'another process' : `process ${by.pid}`;
  const where = by?.url === undefined ? '' : `, which listens at ${by.url}`;
  return failure('store/owned', {
    message: `The data directory is owned by ${who}${where}.`,
    suggestion:
      by?.url === undefined
        ? 'Wait until it exits or publishes its URL, or use another data directory.'
        : 'Send requests to that URL.',
    retry: { kind: 'retryable_after_ms', afterMs: 500 },
    details: by === undefined ? {} : { pid: by.pid, owner: by.owner, ...(by.url === undefined ? {} : { url: by.url }) },
  });
}

function lockUnusable(reason: string): OwnerError {
  return failure('STORE_LOCK_UNUSABLE', {
    message: `The file owner.lock of the data directory cannot be used: ${reason}.`,
    suggestion: 'Make sure that the data directory exists and is writable; if owner.lock is damaged, delete it.',
  });
}
