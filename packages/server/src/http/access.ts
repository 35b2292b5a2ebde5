import { createHash, timingSafeEqual } from 'node:crypto';
import { type ErrorEnvelope, failure } from '@signalbox/model';

/**
 * Who may speak to the server. A page of another site can make a browser send requests here, and a name that it owns can
 * be made to lead here: so `Host` must be a name of this machine, and `Origin`, where a browser sends one, ours.
 */
export interface Access {
  /** Why a request may not come in at all. */
  refuseOrigin(headers: OriginHeaders): ErrorEnvelope | undefined;
  /** Whose token it is. Takes the same time for every wrong one. */
  whoIs(given: string): string | undefined;
}

/** People with tokens of their own, beside whoever holds the token of the server. */
export interface KnownUsers {
  whoIs(token: string): string | undefined;
}

/** Who acts with the token of the server, as the events say it. */
export const OPERATOR = 'operator';

export interface OriginHeaders {
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

/** `port` is asked for each time: it is known only once the server listens. */
export function createAccess(token: string, port: () => number, users?: KnownUsers): Access {
  const expected = digestOf(token);
  const names = () => ['127.0.0.1', 'localhost', '[::1]'].map(name => `${name}:${port()}`);
  return {
    refuseOrigin({ host, origin }) {
      if (host === undefined || !names().includes(host.toLowerCase())) {
        return forbidden('it was sent to a host name that is not of this machine');
      }
      if (origin !== undefined && !names().some(name => origin === `http://${name}`)) {
        return forbidden('it comes from a page of another origin');
      }
      return undefined;
    },
    whoIs: given => (timingSafeEqual(digestOf(given), expected) ? OPERATOR : users?.whoIs(given)),
  };
}

/** The token of an `Authorization` header. */
export function bearerOf(header: string | undefined): string | undefined {
  return /^Bearer ([\x21-\x7e]+)$/i.exec(header ?? '')?.[1];
}

export function unauthorized(): ErrorEnvelope<'request/unauthorized'> {
  return failure('request/unauthorized', {
    message: 'The token is missing or wrong.',
    suggestion: 'Send the token of this data directory: "Authorization: Bearer <token>".',
  });
}

function forbidden(why: string): ErrorEnvelope<'request/forbidden'> {
  return failure('request/forbidden', {
    message: `The request is not answered: ${why}.`,
    suggestion: 'Open the address that the server printed when it started.',
  });
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
