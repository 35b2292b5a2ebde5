import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { type Disk, DiskError, hostDisk, nodeHasher, type VerifyReport, verifyJournal } from '@signalbox/journal';
import { type Digest, defined, digest, type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import { usageError } from './command-error.ts';
import { familyOf } from './journal-family.ts';

export interface VerifyDirectoryOptions {
  /** The head that was stored elsewhere, `sha256:` and 64 hex digits. */
  readonly expectHead?: string | undefined;
  /** The snapshot store; defaults to the one beside the journal's collection, if it exists. */
  readonly snapshots?: string | undefined;
}

export type VerifyDirectoryError = ErrorEnvelope<'command/usage' | 'command/not-a-journal' | 'STORE_IO_FAILED'>;

type ReadableDisk = Pick<Disk, 'read' | 'kind' | 'list'>;

/** Checks the journal in a directory, offline. Writes nothing and takes no lock. */
export function verifyDirectory(
  directory: string,
  options: VerifyDirectoryOptions = {},
  disk: ReadableDisk = hostDisk,
): Result<VerifyReport, VerifyDirectoryError> {
  const expectHead = parseHead(options.expectHead);
  if (!expectHead.ok) return expectHead;
  const resolved = resolveDirectory(directory);
  if (!resolved.ok) return err(notAJournal(directory, resolved.error));
  const real = resolved.value;
  const store = findSnapshots(real, options.snapshots);
  if (!store.ok) return store;
  try {
    const { schema, packing } = familyOf(disk, real);
    const report = verifyJournal({
      disk,
      hasher: nodeHasher,
      schema,
      packing,
      directory: real,
      ...defined({ snapshots: store.value, expectHead: expectHead.value }),
    });
    if (report !== undefined) return ok(report);
    const hasEvents = disk.kind(`${real}/events`) === 'directory';
    return err(notAJournal(directory, hasEvents ? 'it has events/ but no manifest.jsonl' : 'it has no manifest.jsonl'));
  } catch (cause) {
    if (cause instanceof DiskError) return err(unreadable(directory, cause));
    throw cause;
  }
}

function parseHead(head: string | undefined): Result<Digest | undefined, ErrorEnvelope<'command/usage'>> {
  if (head === undefined) return ok(undefined);
  const parsed = digest.safeParse(head);
  if (parsed.success) return ok(parsed.data);
  return err(
    usageError(
      `${JSON.stringify(head)} is not a head.`,
      'A head is "sha256:" and 64 lower-case hex digits, as "signalbox verify" prints it.',
    ),
  );
}

/** A data directory has its snapshots beside its collections of journals: `<data>/<collection>/<journal>`. */
function findSnapshots(
  directory: string,
  given: string | undefined,
): Result<string | undefined, ErrorEnvelope<'command/usage'>> {
  const found = resolveDirectory(given ?? path.join(directory, '../../snapshots'));
  if (found.ok) return found;
  if (given === undefined) return ok(undefined);
  return err(
    usageError(
      `${given} is not a snapshot store: ${found.error}.`,
      'Give the directory that contains the files <sha256>.json, or omit --snapshots.',
    ),
  );
}

/** The directory of a path, links followed, or why there is none. */
function resolveDirectory(given: string): Result<string, string> {
  try {
    const real = realpathSync(given);
    return statSync(real).isDirectory() ? ok(real) : err('it is not a directory');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    return err(code === 'ENOENT' ? 'there is no such directory' : `it cannot be opened (${code})`);
  }
}

function unreadable(directory: string, cause: DiskError): VerifyDirectoryError {
  if (cause.code === 'EACCES' || cause.code === 'EPERM') {
    return notAJournal(directory, `it cannot be read (${cause.code})`);
  }
  return failure('STORE_IO_FAILED', {
    message: `${directory} could not be read completely: ${cause.message}.`,
    suggestion: 'Check the disk, then verify again. Nothing is known about the journal yet.',
    retry: { kind: 'retryable_immediate' },
    details: { operation: cause.operation, systemCode: cause.code },
  });
}

function notAJournal(directory: string, why: string): ErrorEnvelope<'command/not-a-journal'> {
  return failure('command/not-a-journal', {
    message: `${directory} is not a journal: ${why}.`,
    suggestion: 'Give the directory that contains manifest.jsonl, such as <data directory>/runs/<run id>.',
  });
}
