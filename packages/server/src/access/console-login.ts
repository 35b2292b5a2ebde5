/**
 * Lets a browser in without the server's token: a link with a one-time code, exchanged for a token of the tab.
 *
 * L1  A code is random, works once and for ten minutes, and only this process knows it, as a digest.
 * L2  The tab's token is signed with the server's token but does not contain it: it survives restarts, until it expires or the data
 *     directory gets another token.
 * L3  A code or tab that a user made belongs to that user. It ends with the user's token: when the user is removed, gets another token or
 *     role, or expires. The signature covers the digest of that token and the role, so nothing has to be stored.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { TokenHolder, Users } from '@signalbox/app';
import {
  type Clock,
  type ErrorEnvelope,
  err,
  failure,
  type Login,
  ok,
  type Result,
  type Rng,
  type Timestamp,
  timestamp,
} from '@signalbox/model';

export const CODE_MS = 10 * 60_000;
export const TAB_MS = 7 * 24 * 3_600_000;
/** Older codes make room for newer ones. */
const MOST_CODES = 100;

/** The owner of a code or tab; undefined for the owner of the data directory. */
type TabHolder = Pick<TokenHolder, 'name' | 'role' | 'tokenId' | 'expiresAt'> | undefined;

export interface ConsoleLogin {
  /** A one-time code. */
  newCode(holder?: TabHolder): { readonly code: string; readonly expiresAt: Timestamp };
  /** Exchanges a code for a token. */
  take(code: string): Result<Login, ErrorEnvelope<'request/unauthorized'>>;
  /** Undefined for a token that `take` did not create, and for one whose user is gone or has another token. */
  whoIs(token: string): Tab | undefined;
}

interface Tab {
  readonly tokenId: string;
  readonly expiresAt: Timestamp;
  readonly holder: TabHolder;
}

export interface ConsoleLoginOptions {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly users?: Pick<Users, 'holder' | 'counts'> | undefined;
}

export function createConsoleLogin(serverToken: string, { clock, rng, users }: ConsoleLoginOptions): ConsoleLogin {
  /** Codes with their expiry, oldest first. */
  const codes = new Map<string, { readonly expires: number; readonly holder: TabHolder }>();
  const random = (bytes: number) => Buffer.from(rng.bytes(bytes)).toString('base64url');
  const sign = (claim: string, holder: TabHolder) => {
    const bound = holder === undefined ? '' : ` ${holder.role} ${holder.tokenId}`;
    return createHmac('sha256', serverToken).update(`signalbox console ${claim}${bound}`).digest();
  };

  return {
    newCode(holder) {
      const code = random(32);
      const expires = clock.now() + CODE_MS;
      const [oldest] = codes.keys();
      if (codes.size >= MOST_CODES && oldest !== undefined) codes.delete(oldest);
      codes.set(digestOf(code), { expires, holder });
      return { code, expiresAt: timestampAt(expires) };
    },
    take(code) {
      const digest = digestOf(code);
      const made = codes.get(digest);
      codes.delete(digest);
      if (made === undefined || made.expires <= clock.now()) return err(usedLink());
      const { holder } = made;
      if (holder !== undefined && users?.counts(holder) !== true) return err(endedLink(holder.name));
      const until = Math.min(clock.now() + TAB_MS, holder?.expiresAt ? Date.parse(holder.expiresAt) : Infinity);
      const whose = holder === undefined ? '' : `.${Buffer.from(holder.name).toString('base64url')}`;
      const claim = `${until}.${random(16)}${whose}`;
      return ok({ token: `tab.${claim}.${sign(claim, holder).toString('hex')}`, expiresAt: timestampAt(until) });
    },
    whoIs(token) {
      const [, claim, until, name, signature = ''] = TAB.exec(token) ?? [];
      if (claim === undefined) return undefined;
      const holder = name === undefined ? undefined : users?.holder(Buffer.from(name, 'base64url').toString());
      if (name !== undefined && holder === undefined) return undefined;
      if (!timingSafeEqual(Buffer.from(signature, 'hex'), sign(claim, holder))) return undefined;
      return { tokenId: `tab ${digestOf(claim)}`, expiresAt: timestampAt(Number(until)), holder };
    },
  };
}

/** Expiry, a random part, and the user's name if it belongs to a user. */
const TAB = /^tab\.((\d{1,15})\.[\w-]{22}(?:\.([\w-]{1,90}))?)\.([0-9a-f]{64})$/;

const timestampAt = (ms: number): Timestamp => timestamp.parse(new Date(ms).toISOString());
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

function usedLink(): ErrorEnvelope<'request/unauthorized'> {
  return failure('request/unauthorized', {
    message: 'This link was already used, or has expired.',
    suggestion: 'Print a new one with "signalbox link".',
  });
}

function endedLink(name: string): ErrorEnvelope<'request/unauthorized'> {
  return failure('request/unauthorized', {
    message: `This link was made with a token of ${name} that is no longer valid.`,
    suggestion: 'Print a new one with "signalbox link".',
  });
}
