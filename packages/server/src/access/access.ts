import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Users } from '@signalbox/app';
import type { Machine } from '@signalbox/app/host';
import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import { type ConsoleLogin, createConsoleLogin } from './console-login.ts';
import type { Identity } from './identity.ts';

/**
 * Who may speak to the server. A page of another site can make a browser send requests here, and a name that it owns can
 * be made to lead here: so `Host` must be a name of this machine, and `Origin`, where a browser sends one, ours.
 */
export interface Access {
  /** Why a request may not come in at all. */
  refuseOrigin(headers: OriginHeaders): ErrorEnvelope | undefined;
  /** Whose token it is. Takes the same time for every wrong one. */
  identify(token: string | undefined): Result<Identity, ErrorEnvelope<'request/unauthorized'>>;
  /** Whether a token has not expired yet, by the clock alone. */
  isCurrent(identity: Identity): boolean;
  /** Whether a token that was known still counts. */
  counts(identity: Identity): boolean;
  readonly login: ConsoleLogin;
}

/** People and agents with tokens of their own, beside whoever holds the token of the server. */
export type KnownUsers = Pick<Users, 'whoIs' | 'holder' | 'counts'>;

/** Who acts with the token of the server, as the events say it. */
export const OPERATOR = 'operator';

interface OriginHeaders {
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

/** Time and chance of this machine. */
export const system: Pick<Machine, 'clock' | 'rng'> = { clock: { now: () => Date.now() }, rng: { bytes: randomBytes } };

/** `port` is asked for each time: it is known only once the server listens. */
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
        return notAnswered('it was sent to a host name that is not of this machine');
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
        : `Ask an owner for another one: "signalbox users rotate ${name}".`,
  });
}

function notAnswered(why: string): ErrorEnvelope<'request/forbidden'> {
  return failure('request/forbidden', {
    message: `The request is not answered: ${why}.`,
    suggestion: 'Open the address that the server printed when it started.',
  });
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
