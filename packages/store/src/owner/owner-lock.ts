import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
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
 * The right to write a data directory. It is a lock of the operating system, so it is free the moment its process is gone,
 * however that ended; no time is involved.
 */
export interface Owner {
  /** One life of this process: tasks it starts carry it. */
  readonly id: OwnerId;
  /** The owner before, if it died: one that ended leaves no record. */
  readonly former?: FormerOwner | undefined;
  /** Leaves a sign of life, for the next owner to know when this one died. */
  beat(): void;
  /** Says where the owner listens, for others to talk to it. */
  announce(url: string): void;
  release(): void;
}

/** What `owner.json` says. Only its lock makes an owner: a file that is left behind means nothing. */
export const ownerRecord = z.strictObject({
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

/** `details.owner` of `store/owned` is the other's record, where it has written one. */
export type OwnerError = ErrorEnvelope<'store/owned' | 'STORE_LOCK_UNUSABLE'>;

export function acquireOwner(dataDirectory: string, { id, clock }: OwnerOptions): Result<Owner, OwnerError> {
  const lock = tryFileLock(path.join(dataDirectory, 'owner.lock'), 'exclusive');
  if (!lock.ok) {
    return err(lock.error.code === 'busy' ? owned(readOwner(dataDirectory)) : lockUnusable(lock.error.reason));
  }
  const former = formerOwner(dataDirectory);
  const record: OwnerRecord = { v: 1, owner: id, pid: process.pid, since: timestampOf(clock) };
  // Only the lock makes an owner: one that cannot say who it is owns the directory all the same.
  tryTo(() => writeOwner(dataDirectory, record));
  return ok({
    id,
    former,
    beat() {
      const now = new Date(clock.now());
      try {
        utimesSync(ownerFile(dataDirectory), now, now);
      } catch {
        // A disk that cannot be written leaves an older sign of life.
      }
    },
    announce: url => tryTo(() => writeOwner(dataDirectory, { ...record, url })),
    release() {
      tryTo(() => rmSync(ownerFile(dataDirectory), { force: true }));
      lock.value.release();
    },
  });
}

/** What the owner of a data directory says of itself. The one who holds the lock may be another by now. */
export function readOwner(dataDirectory: string): OwnerRecord | undefined {
  try {
    return ownerRecord.safeParse(JSON.parse(readFileSync(ownerFile(dataDirectory), 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** A record that was left behind is of an owner that died; its file was touched while that lived. */
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

/** Readers see the old record or the new one, never a part. Where there is no room for both, the new one is written over the old. */
function writeOwner(dataDirectory: string, record: OwnerRecord): void {
  const file = ownerFile(dataDirectory);
  const temporary = `${file}.${record.pid}.tmp`;
  const text = `${JSON.stringify(record)}\n`;
  try {
    writeFileSync(temporary, text, { mode: 0o600 });
    renameSync(temporary, file);
  } catch {
    rmSync(temporary, { force: true });
    // Within the block that the file has already, padded to cover what was there.
    const before = readFileSync(file).length;
    writeFileSync(file, `${text.trimEnd().padEnd(before - 1)}\n`, { flag: 'r+' });
  }
}

function tryTo(act: () => void): void {
  try {
    act();
  } catch {
    // The disk takes nothing.
  }
}

function owned(by: OwnerRecord | undefined): OwnerError {
  const who = by === undefined ? 'another process' : `process ${by.pid}`;
  const where = by?.url === undefined ? '' : `, which listens at ${by.url}`;
  return failure('store/owned', {
    message: `The data directory is owned by ${who}${where}.`,
    suggestion:
      by?.url === undefined
        ? 'Wait for it to end or to say where it listens, or use another data directory.'
        : 'Talk to it there: it does what you ask for.',
    retry: { kind: 'retryable_after_ms', afterMs: 500 },
    details: by === undefined ? {} : { pid: by.pid, owner: by.owner, ...(by.url === undefined ? {} : { url: by.url }) },
  });
}

function lockUnusable(reason: string): OwnerError {
  return failure('STORE_LOCK_UNUSABLE', {
    message: `The file owner.lock of the data directory cannot be used: ${reason}.`,
    suggestion: 'See that the data directory exists and is writable; if owner.lock is damaged, delete it.',
  });
}
