import { createHash, timingSafeEqual } from 'node:crypto';
import { existsSync, linkSync, readdirSync, renameSync, rmSync } from 'node:fs';
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
  timestamp,
  timestampOf,
  type UserRole,
} from '@signalbox/model';
import { diskRefusalOf, thrownStorageFault } from '@signalbox/store';
import { newToken } from '../access-token.ts';
import { makePrivateDirectory } from '../private-directory.ts';
import { openLastUse } from './last-use.ts';
import { type KeptUser, readUserFile, userFileText } from './user-file.ts';

/** Whoever holds the token of the data directory itself. */
export const DEFAULT_USER = 'operator';

/** Names that events use for something else: the owner's token, commands, and Signalbox itself. */
const RESERVED: readonly string[] = [
  DEFAULT_USER,
  'owner',
  'cli',
  'signalbox',
  'plan',
  'agent',
  'system',
  'user',
  'workflow',
];

export interface User {
  readonly name: string;
  readonly role: UserRole;
  readonly addedAt: Timestamp;
  readonly rotatedAt?: Timestamp | undefined;
  readonly expiresAt?: Timestamp | undefined;
  readonly lastUsedAt?: Timestamp | undefined;
}

/** Whose token it is. */
export interface TokenHolder {
  readonly name: string;
  readonly role: UserRole;
  /** Names the token without giving it away: another token of the same user has another one. */
  readonly tokenId: string;
  readonly expiresAt?: Timestamp | undefined;
  readonly isExpired: boolean;
}

export interface IssuedToken {
  readonly user: User;
  /** Answered once; it cannot be had again. */
  readonly token: string;
}

export interface UserTerms {
  /** A viewer if left out. */
  readonly role?: UserRole | undefined;
  readonly expiresAt?: Timestamp | undefined;
}

/** The people and agents that may speak to the server of a data directory, each with its own token. Only digests are kept. */
export interface Users {
  list(): Result<readonly User[], ErrorEnvelope>;
  add(name: string, terms?: UserTerms): Result<IssuedToken, ErrorEnvelope>;
  /** A new token in place of the old one, with the same role. It lives as long as the old one was meant to, unless told otherwise. */
  rotate(name: string, terms?: Pick<UserTerms, 'expiresAt'>): Result<IssuedToken, ErrorEnvelope>;
  remove(name: string): Result<User, ErrorEnvelope>;
  /** Whose token it is, as the files say it now: a user that was removed a moment ago is nobody. */
  whoIs(token: string): TokenHolder | undefined;
  /** Who has this name now. */
  holder(name: string): TokenHolder | undefined;
  /** Whether a token that was known still counts: it was neither removed nor replaced, has its role, and has not expired. */
  counts(holder: Pick<TokenHolder, 'name' | 'role' | 'tokenId'>): boolean;
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
type Kept = KeptUser & { readonly name: string };

/** One file a user, so that two who add users at the same time do not undo each other. */
export function openUsers(dataDirectory: string, { clock, rng }: { readonly clock: Clock; readonly rng: Rng }): Users {
  const folder = path.join(dataDirectory, 'users');
  const fileOf = (name: string) => path.join(folder, `${name}.json`);
  const lastUse = openLastUse(name => path.join(folder, `${name}.used`), clock);

  const read = (): readonly Result<Kept, ErrorEnvelope>[] => {
    const names = existsSync(folder) ? readdirSync(folder).sort() : [];
    return names.flatMap(file => {
      const name = path.basename(file, '.json');
      return file.endsWith('.json') && NAME.test(name) ? [readUser(name)] : [];
    });
  };
  const readUser = (name: string): Result<Kept, ErrorEnvelope> =>
    attempt(dataDirectory, fileOf(name), () => ({ name, ...readUserFile(fileOf(name)) }));
  const known = (name: string): Result<Kept, ErrorEnvelope> =>
    NAME.test(name) && existsSync(fileOf(name)) ? readUser(name) : err(unknown(name));

  const isExpired = ({ expiresAt }: KeptUser) => expiresAt !== undefined && Date.parse(expiresAt) <= clock.now();
  const shownOf = ({ tokenDigest: _, ...user }: Kept): User => {
    const lastUsedAt = lastUse.of(user.name);
    return { ...user, ...(lastUsedAt !== undefined && { lastUsedAt }) };
  };

  const holderOf = (kept: Kept): TokenHolder => {
    const { name, role, tokenDigest, expiresAt } = kept;
    return { name, role, tokenId: tokenDigest, expiresAt, isExpired: isExpired(kept) };
  };

  /** Writes a user's file whole, then lets `place` give it its name. */
  const write = (user: KeptUser, place: (temporary: string) => boolean): Result<boolean, ErrorEnvelope> =>
    attempt(dataDirectory, folder, () => {
      makePrivateDirectory(folder);
      const temporary = path.join(folder, `.${Buffer.from(rng.bytes(8)).toString('hex')}`);
      let isPlaced: boolean;
      try {
        const file = hostDisk.open(temporary, 'create');
        try {
          file.write(Buffer.from(userFileText(user)));
          file.sync();
        } finally {
          file.close();
        }
        isPlaced = place(temporary);
      } finally {
        rmSync(temporary, { force: true });
      }
      hostDisk.syncDirectory(folder);
      return isPlaced;
    });

  return {
    list() {
      const users: User[] = [];
      for (const kept of read()) {
        if (!kept.ok) return kept;
        users.push(shownOf(kept.value));
      }
      return ok(users);
    },
    add(name, { role = 'viewer', expiresAt } = {}) {
      if (!NAME.test(name)) return err(invalidName(name));
      if (RESERVED.includes(name)) return err(taken(name));
      if (isPast(expiresAt, clock)) return err(pastExpiry(expiresAt));
      const token = newUserToken(rng);
      const kept = { role, tokenDigest: hexDigestOf(token), addedAt: timestampOf(clock), expiresAt };
      const placed = write(kept, temporary => linked(temporary, fileOf(name)));
      if (!placed.ok) return placed;
      return placed.value ? ok({ user: shownOf({ name, ...kept }), token }) : err(taken(name));
    },
    rotate(name, { expiresAt: asked } = {}) {
      const before = known(name);
      if (!before.ok) return before;
      if (isPast(asked, clock)) return err(pastExpiry(asked));
      const token = newUserToken(rng);
      const { name: _, ...user } = before.value;
      const kept = {
        ...user,
        tokenDigest: hexDigestOf(token),
        rotatedAt: timestampOf(clock),
        expiresAt: asked ?? sameLifetime(user, clock),
      };
      const placed = write(kept, temporary => {
        renameSync(temporary, fileOf(name));
        return true;
      });
      return placed.ok ? ok({ user: shownOf({ name, ...kept }), token }) : placed;
    },
    remove(name) {
      const gone = known(name);
      if (!gone.ok) return gone;
      const shown = shownOf(gone.value);
      const removed = attempt(dataDirectory, folder, () => {
        rmSync(fileOf(name));
        lastUse.forget(name);
        hostDisk.syncDirectory(folder);
      });
      return removed.ok ? ok(shown) : removed;
    },
    whoIs(token) {
      const given = digestOf(token);
      const found = read().find(user => user.ok && timingSafeEqual(Buffer.from(user.value.tokenDigest, 'hex'), given));
      if (found?.ok !== true) return undefined;
      const holder = holderOf(found.value);
      if (!holder.isExpired) lastUse.note(holder.name);
      return holder;
    },
    holder(name) {
      const kept = known(name);
      return kept.ok ? holderOf(kept.value) : undefined;
    },
    counts({ name, role, tokenId }) {
      const kept = known(name);
      return kept.ok && kept.value.tokenDigest === tokenId && kept.value.role === role && !isExpired(kept.value);
    },
  };
}

/** Its beginning gives it away as a secret, wherever it is written. */
const newUserToken = (rng: Rng): string => `sbx_${newToken(rng)}`;

/** Timestamps have four digits for the year. */
const LAST_MOMENT = Date.parse('9999-12-31T23:59:59.999Z');

/** When a token that is made now expires, if it lives as long as the one before. */
function sameLifetime({ addedAt, rotatedAt = addedAt, expiresAt }: KeptUser, clock: Clock): Timestamp | undefined {
  if (expiresAt === undefined) return undefined;
  const lifetimeMs = Date.parse(expiresAt) - Date.parse(rotatedAt);
  return timestamp.parse(new Date(Math.min(clock.now() + lifetimeMs, LAST_MOMENT)).toISOString());
}

function isPast(expiresAt: Timestamp | undefined, clock: Clock): expiresAt is Timestamp {
  return expiresAt !== undefined && Date.parse(expiresAt) <= clock.now();
}

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

function attempt<T>(dataDirectory: string, place: string, act: () => T): Result<T, ErrorEnvelope> {
  try {
    return ok(act());
  } catch (cause) {
    const fault = thrownStorageFault(cause);
    const isOfDisk = fault === 'full' || fault === 'read-only';
    return err(isOfDisk ? diskRefusalOf(dataDirectory, fault) : unusable(place, String(cause)));
  }
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();
const hexDigestOf = (token: string): string => digestOf(token).toString('hex');

function invalidName(name: string): ErrorEnvelope {
  return failure('user/invalid', {
    message: `"${name.slice(0, 80)}" cannot be the name of a user.`,
    suggestion:
      'Use up to 64 lower-case letters, digits, dots, dashes and underscores, starting with a letter or digit.',
  });
}

function pastExpiry(expiresAt: Timestamp): ErrorEnvelope {
  return failure('user/invalid', {
    message: `A token cannot expire in the past; got ${expiresAt}.`,
    suggestion: 'Give a later time, or omit it for a token that does not expire.',
  });
}

function taken(name: string): ErrorEnvelope {
  return failure('user/taken', {
    message: RESERVED.includes(name)
      ? `The name ${name} is reserved: events use it for something else.`
      : `User ${name} already exists.`,
    suggestion: RESERVED.includes(name)
      ? 'Choose another name.'
      : "Choose another name, rotate that user's token, or remove the user first.",
    details: { user: name },
  });
}

function unknown(name: string): ErrorEnvelope {
  const shown = name.slice(0, 80);
  return failure('user/unknown', {
    message: `There is no user ${shown}.`,
    suggestion: 'List the users and choose one of them.',
    details: { user: shown },
  });
}

function unusable(place: string, reason: string): ErrorEnvelope {
  return failure('store/unusable', {
    message: `The users in ${place} cannot be read or written: ${reason}.`,
    suggestion: 'Remove the file and add the user again: only that user is affected.',
  });
}
