import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Users } from '@signalbox/app';
import type { Machine } from '@signalbox/app/host';
import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import { type ConsoleLogin, createConsoleLogin } from './console-login.ts';
import type { Identity } from './identity.ts';

/**
 * Decides who may call the server. A page of another site can make a browser send requests here, and can point its own host name at this
 * machine: so `Host` must be a name of this machine, and `Origin`, if a browser sends one, ours.
 */
export interface Access {
  /** Why a request is refused before its token is read. */
  refuseOrigin(headers: OriginHeaders): ErrorEnvelope | undefined;
  /** The owner of a token. Takes the same time for every wrong token. */
  identify(token: string | undefined): Result<Identity, ErrorEnvelope<'request/unauthorized'>>;
  /** Whether the token has not expired, by the clock alone. */
  isCurrent(identity: Identity): boolean;
  /** Whether a token that was accepted earlier is still valid. */
  counts(identity: Identity): boolean;
  readonly login: ConsoleLogin;
}

/** Users with their own tokens, besides the holder of the server's token. */
export type KnownUsers = Pick<Users, 'whoIs' | 'holder' | 'counts'>;

/** The name in events for actions with the server's token. */
export const OPERATOR = 'operator';

interface OriginHeaders {
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

/** The clock and random numbers of this machine. */
export const system: Pick<Machine, 'clock' | 'rng'> = { clock: { now: () => Date.now() }, rng: { bytes: randomBytes } };

/** `port` is a function because it is known only once the server listens. */
export function createAccess(
  token: string,
  port: () => number,
  users?: KnownUsers,
  { clock, rng }: Pick<Machine, 'clock' | 'rng'> = system,
): Access {
  const expected = digestOf(token);
  const names = () => ['127.0.0.1', 'localhost', '[::1]'].map(name => `${name}:${port()}`);
  const login = createConsoleLogin(token, { clock, rng, users });
  const owner = { name: OPERATOR, role: 'owner' } as const;
  const isCurrent = ({ expiresAt }: Identity): boolean =>
    expiresAt === undefined || Date.parse(expiresAt) > clock.now();

  function counts(identity: Identity): boolean {
    if (identity.isPermanent) return true;
    if (!isCurrent(identity)) return false;
    return identity.name === OPERATOR || users?.counts(identity.behind ?? identity) === true;
  }

  return {
    login,
    refuseOrigin({ host, origin }) {
      if (host === undefined || !names().includes(host.toLowerCase())) {
        return notAnswered('its Host header is not a name of this machine');
      }
      if (origin !== undefined && !names().some(name => origin === `http://${name}`)) {
        return notAnswered('it comes from a page of another origin');
      }
      return undefined;
    },
    identify(given) {
      if (given === undefined) return err(unauthorized());
      if (timingSafeEqual(digestOf(given), expected)) return ok({ ...owner, tokenId: 'server', isPermanent: true });
      const tab = login.whoIs(given);
      if (tab !== undefined) {
        const { holder: behind, ...claimed } = tab;
        const { name, role } = behind ?? owner;
        const identity = { name, role, ...claimed, isPermanent: false, ...(behind && { behind }) };
        return counts(identity) ? ok(identity) : err(expired(identity));
      }
      const holder = users?.whoIs(given);
      if (holder === undefined) return err(unauthorized());
      const { isExpired, ...rest } = holder;
      const identity = { ...rest, isPermanent: false };
      return isExpired ? err(expired(identity)) : ok(identity);
    },
    isCurrent,
    counts,
  };
}

/** The token of an `Authorization` header. */
export function bearerOf(header: string | undefined): string | undefined {
  return /^Bearer ([\x21-\x7e]+)$/i.exec(header ?? '')?.[1];
}

function unauthorized(): ErrorEnvelope<'request/unauthorized'> {
  return failure('request/unauthorized', {
    message: 'The token is missing or wrong.',
    suggestion: 'Send the token of a user of this server: "Authorization: Bearer <token>".',
  });
}

function expired({ name, expiresAt }: Identity): ErrorEnvelope<'request/unauthorized'> {
  return failure('request/unauthorized', {
    message: `The token of ${name} expired at ${expiresAt}.`,
    suggestion:
      name === OPERATOR
        ? 'Open the console again: "signalbox link" prints a link.'
        : `Ask an owner for a new one: "signalbox users rotate ${name}".`,
  });
}

function notAnswered(why: string): ErrorEnvelope<'request/forbidden'> {
  return failure('request/forbidden', {
    message: `The request was refused: ${why}.`,
    suggestion: 'Open the address that the server printed when it started.',
  });
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
