/**
 * How a browser gets in without the token of the server: a link with a code that works once, exchanged for a token of the tab.
 *
 * L1  A code is random, counts once and for ten minutes, and is known to this process alone, as a digest.
 * L2  The tab's token is signed with the token of the server, which it does not hold: it counts over restarts, until it expires or
 *     the data directory has another token.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
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

export interface ConsoleLogin {
  /** A code that works once. */
  newCode(): { readonly code: string; readonly expiresAt: Timestamp };
  /** Exchanges a code for a token. */
  take(code: string): Result<Login, ErrorEnvelope<'request/unauthorized'>>;
  /** Undefined for a token that was not made by `take`. */
  whoIs(token: string): { readonly tokenId: string; readonly expiresAt: Timestamp } | undefined;
}

export function createConsoleLogin(
  serverToken: string,
  { clock, rng }: { readonly clock: Clock; readonly rng: Rng },
): ConsoleLogin {
  /** When each expires, oldest first. */
  const codes = new Map<string, number>();
  const random = (bytes: number) => Buffer.from(rng.bytes(bytes)).toString('base64url');
  const sign = (claim: string) => createHmac('sha256', serverToken).update(`signalbox console ${claim}`).digest();

  return {
    newCode() {
      const code = random(32);
      const expires = clock.now() + CODE_MS;
      const [oldest] = codes.keys();
      if (codes.size >= MOST_CODES && oldest !== undefined) codes.delete(oldest);
      codes.set(digestOf(code), expires);
      return { code, expiresAt: timestampAt(expires) };
    },
    take(code) {
      const digest = digestOf(code);
      const expires = codes.get(digest);
      codes.delete(digest);
      if (expires === undefined || expires <= clock.now()) return err(usedLink());
      const until = clock.now() + TAB_MS;
      const claim = `${until}.${random(16)}`;
      return ok({ token: `tab.${claim}.${sign(claim).toString('hex')}`, expiresAt: timestampAt(until) });
    },
    whoIs(token) {
      const [, claim, until, signature = ''] = /^tab\.((\d{1,15})\.[\w-]{22})\.([0-9a-f]{64})$/.exec(token) ?? [];
      if (claim === undefined) return undefined;
      const given = Buffer.from(signature, 'hex');
      const expected = sign(claim);
      if (!timingSafeEqual(given, expected)) return undefined;
      return { tokenId: `tab ${digestOf(claim)}`, expiresAt: timestampAt(Number(until)) };
    },
  };
}

const timestampAt = (ms: number): Timestamp => timestamp.parse(new Date(ms).toISOString());
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

function usedLink(): ErrorEnvelope<'request/unauthorized'> {
  return failure('request/unauthorized', {
    message: 'This link was used before, or is too old.',
    suggestion: 'Print another one with "signalbox link".',
  });
}
