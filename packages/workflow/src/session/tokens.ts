/**
 * Tokens name a place in a session to an agent, and cannot be forged. They are not a source of truth: the place is looked up,
 * and tokens can be minted again at any time.
 *
 * K1  `<prefix>.v1.<payload>.<sig>`: the payload is the base64url of canonical JSON, the signature HMAC-SHA256 of exactly
 *     those JSON bytes.
 * K2  A payload is not read before its signature is verified.
 * K3  One place has one token per key: alternative encodings of the same bytes are refused.
 */
import {
  canonicalJson,
  digest,
  type ErrorEnvelope,
  err,
  failure,
  nodeId,
  ok,
  parsedJson,
  type Result,
  runId,
  sessionId,
} from '@signalbox/model';
import * as z from 'zod';
import { attemptId } from './ids.ts';
import { type Keyring, verificationKeys } from './keyring.ts';

const place = { tokenVersion: z.literal(1), sessionId, runId, nodeId };

export const tokenPayload = z.discriminatedUnion('tokenKind', [
  z.strictObject({ ...place, tokenKind: z.literal('state'), workflowHash: digest }),
  z.strictObject({ ...place, tokenKind: z.literal('ack'), attemptId }),
  z.strictObject({ ...place, tokenKind: z.literal('checkpoint'), attemptId }),
]);
export type TokenPayload = Readonly<z.infer<typeof tokenPayload>>;
export type TokenKind = TokenPayload['tokenKind'];
export type TokenOf<K extends TokenKind> = Extract<TokenPayload, { readonly tokenKind: K }>;

const tokenPrefixes = { state: 'st', ack: 'ack', checkpoint: 'chk' } as const satisfies Record<TokenKind, string>;

/** Longer than any token ever minted. */
const MAX_TOKEN_LENGTH = 2048;

/** HMAC-SHA256, and a constant-time comparison. */
export interface Mac {
  sign(key: Uint8Array, data: Uint8Array): Uint8Array;
  equals(left: Uint8Array, right: Uint8Array): boolean;
}

export type TokenError = ErrorEnvelope<'TOKEN_INVALID_FORMAT' | 'TOKEN_UNSUPPORTED_VERSION' | 'TOKEN_BAD_SIGNATURE'>;

type WithoutHead<P> = P extends TokenPayload ? Omit<P, 'tokenVersion'> : never;

export function mintToken(mac: Mac, ring: Keyring, named: WithoutHead<TokenPayload>): string {
  const payload = tokenPayload.parse({ ...named, tokenVersion: 1 });
  const bytes = Buffer.from(canonicalJson(payload), 'utf8');
  const signature = Buffer.from(mac.sign(Buffer.from(ring.current.key, 'base64url'), bytes));
  return `${tokenPrefixes[payload.tokenKind]}.v1.${bytes.toString('base64url')}.${signature.toString('base64url')}`;
}

/** What a token of the expected kind names. */
export function readToken<K extends TokenKind>(
  mac: Mac,
  ring: Keyring,
  token: string,
  expected: K,
): Result<TokenOf<K>, TokenError> {
  if (token.length > MAX_TOKEN_LENGTH) return err(invalidFormat(expected, `it has ${token.length} characters`));
  const parts = token.split('.');
  const [prefix, version, payloadText = '', signatureText = ''] = parts;
  if (parts.length !== 4) return err(invalidFormat(expected, 'it does not have four parts between dots'));
  if (prefix !== tokenPrefixes[expected]) {
    return err(
      invalidFormat(expected, `it begins with "${String(prefix).slice(0, 8)}", not "${tokenPrefixes[expected]}"`),
    );
  }
  if (version !== 'v1') {
    return err(
      /^v[0-9]{1,4}$/.test(version ?? '')
        ? unsupportedVersion(expected, String(version))
        : invalidFormat(expected, 'its second part is not a version'),
    );
  }
  const bytes = strictBase64Url(payloadText);
  const signature = strictBase64Url(signatureText);
  if (bytes === undefined || bytes.length === 0) return err(invalidFormat(expected, 'its payload is not base64url'));
  if (signature === undefined || signature.length !== 32) {
    return err(invalidFormat(expected, 'its signature is not 32 bytes in base64url; it may be cut off'));
  }
  if (!verificationKeys(ring).some(key => mac.equals(mac.sign(key, bytes), signature))) {
    return err(badSignature(expected));
  }
  return readPayload(expected, Buffer.from(bytes).toString('utf8'));
}

/** A payload with a valid signature: ours, perhaps from another version. */
function readPayload<K extends TokenKind>(expected: K, text: string): Result<TokenOf<K>, TokenError> {
  const value = parsedJson(text);
  const version = value !== null && typeof value === 'object' && 'tokenVersion' in value ? value.tokenVersion : 1;
  if (version !== 1) return err(unsupportedVersion(expected, String(version)));
  const parsed = tokenPayload.safeParse(value);
  if (!parsed.success || canonicalJson(parsed.data) !== text) {
    return err(invalidFormat(expected, 'its payload does not have the fields of a token'));
  }
  if (parsed.data.tokenKind !== expected) {
    return err(invalidFormat(expected, `its payload is that of a ${parsed.data.tokenKind} token`));
  }
  return ok(parsed.data as TokenOf<K>);
}

/** Undefined if another text would decode to the same bytes. */
function strictBase64Url(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

const fieldOf: Readonly<Record<TokenKind, string>> = {
  state: 'stateToken',
  ack: 'ackToken',
  checkpoint: 'checkpointToken',
};

function invalidFormat(kind: TokenKind, why: string) {
  return failure('TOKEN_INVALID_FORMAT', {
    message: `The ${fieldOf[kind]} is not one: ${why}.`,
    suggestion: `Send the ${fieldOf[kind]} exactly as the last answer gave it, whole and unchanged.`,
    details: { token: kind },
  });
}

function unsupportedVersion(kind: TokenKind, version: string) {
  return failure('TOKEN_UNSUPPORTED_VERSION', {
    message: `The ${fieldOf[kind]} has version ${version.slice(0, 16)}; this program reads version 1.`,
    suggestion: 'Use the version of Signalbox that gave the token, or ask for a new one with resume_session.',
    details: { token: kind },
  });
}

function badSignature(kind: TokenKind) {
  return failure('TOKEN_BAD_SIGNATURE', {
    message: `The signature of the ${fieldOf[kind]} is not ours: it was changed, made on another machine, or its key has been rotated out.`,
    suggestion: `Send the ${fieldOf[kind]} exactly as it was given. If that is what you did, ask for a new one with resume_session.`,
    details: { token: kind },
  });
}
