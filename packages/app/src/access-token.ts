import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { type ErrorEnvelope, err, failure, ok, type Result, type Rng } from '@signalbox/model';
import type { Machine } from './machine.ts';

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** The token of a data directory, and whether it was just created. Its holder may do everything; only its owner can read the file. */
export function accessToken(
  dataDirectory: string,
  { rng }: Pick<Machine, 'rng'>,
): Result<{ readonly token: string; readonly isNew: boolean }, ErrorEnvelope> {
  const file = tokenFile(dataDirectory);
  if (taken(nextTokenFile(dataDirectory), file)) {
    const token = readToken(dataDirectory);
    return token.ok ? ok({ token: token.value, isNew: true }) : token;
  }
  try {
    const handle = openSync(file, 'wx', 0o600);
    const token = newToken(rng);
    writeSync(handle, token);
    fsyncSync(handle);
    closeSync(handle);
    return ok({ token, isNew: true });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') return err(unusable(file, String(cause)));
  }
  chmodSync(file, 0o600);
  const token = readToken(dataDirectory);
  return token.ok ? ok({ token: token.value, isNew: false }) : token;
}

/**
 * The current or next token of the data directory: it is prepared before anyone gets it, so that every process recognises it as a secret
 * from the moment it is valid. Undefined if it cannot be stored.
 */
export function presentOrNextToken(
  dataDirectory: string,
  { readOnly }: { readonly readOnly: boolean },
): string | undefined {
  const present = readToken(dataDirectory);
  if (present.ok) return present.value;
  const next = nextTokenFile(dataDirectory);
  if (!readOnly && !existsSync(tokenFile(dataDirectory))) {
    try {
      writeFileSync(next, newToken({ bytes: randomBytes }), { mode: 0o600, flag: 'wx', flush: true });
    } catch {
      // Another process has prepared one, or the disk is not writable.
    }
  }
  return tokenIn(next) ?? tokenIn(tokenFile(dataDirectory));
}

/** Gives the prepared file its name, unless the name is taken. */
function taken(next: string, file: string): boolean {
  if (tokenIn(next) === undefined) return false;
  try {
    linkSync(next, file);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(next, { force: true });
  }
}

function tokenIn(file: string): string | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return TOKEN.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** The token as stored. */
export function readToken(dataDirectory: string): Result<string, ErrorEnvelope> {
  const file = tokenFile(dataDirectory);
  try {
    const token = readFileSync(file, 'utf8').trim();
    return TOKEN.test(token) ? ok(token) : err(unusable(file, 'it does not contain a token'));
  } catch (cause) {
    return err(unusable(file, String(cause)));
  }
}

export function newToken(rng: Rng): string {
  return Buffer.from(rng.bytes(32)).toString('base64url');
}

const nextTokenFile = (dataDirectory: string): string => path.join(dataDirectory, 'keys', 'token.next');
const tokenFile = (dataDirectory: string): string => path.join(dataDirectory, 'token');

function unusable(file: string, reason: string): ErrorEnvelope {
  return failure('store/unusable', {
    message: `The token ${file} cannot be used: ${reason}.`,
    suggestion: 'Remove the file while Signalbox is not running: the next start creates a new one.',
  });
}
