import { createHash, timingSafeEqual } from 'node:crypto';
import { existsSync, linkSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { hostDisk } from '@signalbox/journal';
import {
  type Clock,
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type Result,
  type Rng,
  type Timestamp,
  text,
  timestamp,
  timestampOf,
} from '@signalbox/model';
import * as z from 'zod';
import { newToken } from '../access-token.ts';
import { makePrivateDirectory } from '../private-directory.ts';

/** Whoever holds the token of the data directory itself. */
export const DEFAULT_USER = 'operator';

export interface User {
  readonly name: string;
  readonly addedAt: Timestamp;
}

/** The people who may speak to the server of a data directory, each with a token of their own. Only its digest is kept. */
export interface Users {
  list(): Result<readonly User[], ErrorEnvelope>;
  /** The token is answered once, and cannot be had again. */
  add(name: string): Result<{ readonly user: User; readonly token: string }, ErrorEnvelope>;
  remove(name: string): Result<User, ErrorEnvelope>;
  /** Whose token it is, as the files say it now: who was removed a moment ago is nobody. */
  whoIs(token: string): string | undefined;
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const userFile = z.strictObject({ v: z.literal(1), tokenDigest: text.regex(/^[0-9a-f]{64}$/), addedAt: timestamp });
type Kept = User & { readonly tokenDigest: string };

/** One file a user, so that two who add users at the same time do not undo each other. */
export function openUsers(dataDirectory: string, { clock, rng }: { readonly clock: Clock; readonly rng: Rng }): Users {
  const folder = path.join(dataDirectory, 'users');
  const fileOf = (name: string) => path.join(folder, `${name}.json`);

  const read = (): readonly Result<Kept, ErrorEnvelope>[] => {
    const names = existsSync(folder) ? readdirSync(folder).sort() : [];
    return names.flatMap(file => {
      const name = path.basename(file, '.json');
      return file.endsWith('.json') && NAME.test(name) ? [readUser(fileOf(name), name)] : [];
    });
  };

  return {
    list() {
      const users: User[] = [];
      for (const kept of read()) {
        if (!kept.ok) return kept;
        users.push(shownOf(kept.value));
      }
      return ok(users);
    },
    add(name) {
      if (!NAME.test(name)) return err(invalidName(name));
      if (name === DEFAULT_USER) return err(taken(name));
      const token = newToken(rng);
      const user = { name, addedAt: timestampOf(clock) };
      const bytes = Buffer.from(
        JSON.stringify({ v: 1, tokenDigest: digestOf(token).toString('hex'), addedAt: user.addedAt }),
      );
      const temporary = path.join(folder, `.${Buffer.from(rng.bytes(8)).toString('hex')}`);
      const placed = attempt(folder, (): boolean => {
        makePrivateDirectory(folder);
        const file = hostDisk.open(temporary, 'create');
        try {
          file.write(bytes);
          file.sync();
        } finally {
          file.close();
        }
        const isNew = linked(temporary, fileOf(name));
        rmSync(temporary);
        hostDisk.syncDirectory(folder);
        return isNew;
      });
      if (!placed.ok) return placed;
      return placed.value ? ok({ user, token }) : err(taken(name));
    },
    remove(name) {
      if (!NAME.test(name) || !existsSync(fileOf(name))) return err(unknown(name));
      const gone = readUser(fileOf(name), name);
      if (!gone.ok) return gone;
      const removed = attempt(folder, () => {
        rmSync(fileOf(name));
        hostDisk.syncDirectory(folder);
      });
      return removed.ok ? ok(shownOf(gone.value)) : removed;
    },
    whoIs(token) {
      const given = digestOf(token);
      const known = read().find(user => user.ok && timingSafeEqual(Buffer.from(user.value.tokenDigest, 'hex'), given));
      return known?.ok ? known.value.name : undefined;
    },
  };
}

function readUser(file: string, name: string): Result<Kept, ErrorEnvelope> {
  return attempt(file, () => {
    const { tokenDigest, addedAt } = userFile.parse(JSON.parse(readFileSync(file, 'utf8')));
    return { name, addedAt, tokenDigest };
  });
}

const shownOf = ({ name, addedAt }: Kept): User => ({ name, addedAt });

/** Gives a file a second name, unless the name is taken. */
function linked(file: string, name: string): boolean {
  try {
    linkSync(file, name);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw cause;
  }
}

function attempt<T>(place: string, act: () => T): Result<T, ErrorEnvelope> {
  try {
    return ok(act());
  } catch (cause) {
    return err(unusable(place, String(cause)));
  }
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

function invalidName(name: string): ErrorEnvelope {
  return failure('user/invalid', {
    message: `"${name.slice(0, 80)}" cannot be the name of a user.`,
    suggestion:
      'Take up to 64 lower-case letters, digits, dots, dashes and underscores, the first a letter or a digit.',
  });
}

function taken(name: string): ErrorEnvelope {
  return failure('user/taken', {
    message: `There is a user ${name} already.`,
    suggestion: 'Choose another name, or remove that user first: its token then counts no more.',
    details: { user: name },
  });
}

function unknown(name: string): ErrorEnvelope {
  const shown = name.slice(0, 80);
  return failure('user/unknown', {
    message: `There is no user ${shown}.`,
    suggestion: 'List the users and name one of them.',
    details: { user: shown },
  });
}

function unusable(place: string, reason: string): ErrorEnvelope {
  return failure('store/unusable', {
    message: `The users in ${place} cannot be read or written: ${reason}.`,
    suggestion: 'Remove the file, and add the user again: only that user is shut out.',
  });
}
