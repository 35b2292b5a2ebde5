import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { DiskError, type FileLocks, type IoError, ioFailure } from '@signalbox/journal';
import { canonicalJson, type ErrorEnvelope, err, failure, ok, type Result, type Rng } from '@signalbox/model';
import { type Keyring, keyring, newKeyring, rotateKeyring } from '../keyring.ts';

export type KeyringError = IoError | ErrorEnvelope<'STORE_KEYRING_INVALID' | 'SESSION_LOCKED'>;

/** The signing keys of a data directory, in `keys/keyring.json`, private to its user. */
export interface KeyringFile {
  /** The current keys; undefined if there are none. */
  peek(): Result<Keyring | undefined, KeyringError>;
  /** The current keys, created if there are none. Another process may have rotated them since the last call. */
  load(): Result<Keyring, KeyringError>;
  rotate(): Promise<Result<Keyring, KeyringError>>;
}

export interface KeyringFileOptions {
  /** The data directory. */
  readonly home: string;
  readonly locks: FileLocks;
  readonly rng?: Rng;
}

/** No keyring is larger; larger files are not read. */
const MAX_BYTES = 4096;

const machineRng: Rng = { bytes: length => randomBytes(length) };

export function openKeyringFile({ home, locks, rng = machineRng }: KeyringFileOptions): KeyringFile {
  const folder = `${home}/keys`;
  const path = `${folder}/keyring.json`;
  let known: { readonly text: string; readonly ring: Result<Keyring, KeyringError> } | undefined;

  /** Cached by text. */
  function ringOf(text: string): Result<Keyring, KeyringError> {
    if (known?.text !== text) known = { text, ring: parseKeyring(text) };
    return known.ring;
  }

  function load(): Result<Keyring, KeyringError> {
    const text = readBounded(path);
    if (text === undefined) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      place(newKeyring(rng), 'if absent');
      const made = readBounded(path);
      return made === undefined ? err(invalidKeyring('it vanished while it was made')) : ringOf(made);
    }
    return ringOf(text);
  }

  /** Creates the file atomically. If two processes create the first one, one wins and both read it. */
  function place(ring: Keyring, mode: 'if absent' | 'replace'): void {
    const temporary = `${folder}/.keyring.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
    try {
      const file = openSync(temporary, 'wx', 0o600);
      try {
        writeFileSync(file, canonicalJson(ring));
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      if (mode === 'replace') renameSync(temporary, path);
      else linkIfAbsent(temporary, path);
    } finally {
      rmSync(temporary, { force: true });
    }
    const directory = openSync(folder, 'r');
    try {
      fsyncSync(directory);
    } finally {
      closeSync(directory);
    }
  }

  return {
    peek: () =>
      guardIo('reading the keyring', () => {
        const text = readBounded(path);
        return text === undefined ? ok(undefined) : ringOf(text);
      }),

    load: () => guardIo('reading the keyring', load),

    async rotate() {
      const made = guardIo('reading the keyring', load);
      if (!made.ok) return made;
      const lock = await locks.acquire(`${folder}/.lock`);
      if (!lock.ok) return err(keyringLocked());
      try {
        return guardIo('rotating the keyring', () => {
          const before = load();
          if (!before.ok) return before;
          const after = rotateKeyring(before.value, rng);
          place(after, 'replace');
          return ok(after);
        });
      } finally {
        lock.value.release();
      }
    },
  };
}

function parseKeyring(text: string): Result<Keyring, KeyringError> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return err(invalidKeyring('it is not JSON'));
  }
  const parsed = keyring.safeParse(value);
  if (parsed.success) return ok(parsed.data);
  // The issues name fields, never values: a key must not reach a log.
  return err(invalidKeyring(`${parsed.error.issues[0]?.path.join('.') || 'it'} is not as it should be`));
}

/** The text of a regular, private file within the size limit; undefined if there is none. */
function readBounded(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    if (isSystemError(cause) && cause.code === 'ENOENT') return undefined;
    throw cause;
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return '';
    if ((stat.mode & 0o077) !== 0) fchmodSync(file, 0o600);
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    const length = readSync(file, bytes, 0, bytes.length, 0);
    return length > MAX_BYTES ? '' : bytes.subarray(0, length).toString('utf8');
  } finally {
    closeSync(file);
  }
}

function linkIfAbsent(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (cause) {
    if (!isSystemError(cause) || cause.code !== 'EEXIST') throw cause;
  }
}

function guardIo<T>(doing: string, work: () => Result<T, KeyringError>): Result<T, KeyringError> {
  try {
    return work();
  } catch (cause) {
    if (!isSystemError(cause)) throw cause;
    return err(ioFailure(new DiskError(cause.syscall ?? 'keyring', cause.code ?? 'unknown', cause), doing));
  }
}

export function isSystemError(cause: unknown): cause is NodeJS.ErrnoException {
  return cause instanceof Error && 'syscall' in cause;
}

function invalidKeyring(why: string) {
  return failure('STORE_KEYRING_INVALID', {
    message: `The keyring of the data directory cannot be used: ${why}.`,
    suggestion:
      'Restore keys/keyring.json from a backup, or delete it: new keys are made, and tokens given before are void.',
  });
}

function keyringLocked() {
  return failure('SESSION_LOCKED', {
    message: 'Another process is rotating the keyring.',
    suggestion: 'Try again in a moment.',
    retry: { kind: 'retryable_after_ms', afterMs: 500 },
  });
}
