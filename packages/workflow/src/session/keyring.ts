import { digestHex, type Hasher, type Rng } from '@signalbox/model';
import * as z from 'zod';

/** Bytes of a signing key. */
const KEY_BYTES = 32;

const signingKey = z.strictObject({
  alg: z.literal('hmac_sha256'),
  /** 32 random bytes in base64url, without padding. */
  key: z
    .string()
    .regex(/^[A-Za-z0-9_-]{43}$/, 'must be 32 bytes in base64url')
    .refine(text => Buffer.from(text, 'base64url').toString('base64url') === text, 'is not canonical base64url'),
});

/** The keys that sign tokens: new ones use `current`; those of `previous` are still valid. */
export const keyring = z.strictObject({ v: z.literal(1), current: signingKey, previous: signingKey.optional() });
export type Keyring = Readonly<z.infer<typeof keyring>>;

export function newKeyring(rng: Rng): Keyring {
  return { v: 1, current: newKey(rng) };
}

/** The current key becomes previous; the previous key is no longer valid. */
export function rotateKeyring(ring: Keyring, rng: Rng): Keyring {
  return { v: 1, current: newKey(rng), previous: ring.current };
}

/** Current first: the order in which a signature is tried. */
export function verificationKeys(ring: Keyring): readonly Uint8Array[] {
  return [ring.current, ...(ring.previous === undefined ? [] : [ring.previous])].map(({ key }) =>
    Buffer.from(key, 'base64url'),
  );
}

/** A name for each key that reveals nothing about it, current first. */
export function keyNames(hasher: Hasher, ring: Keyring): readonly string[] {
  return verificationKeys(ring).map(key => digestHex(hasher(key)).slice(0, 16));
}

function newKey(rng: Rng): Keyring['current'] {
  return { alg: 'hmac_sha256', key: Buffer.from(rng.bytes(KEY_BYTES)).toString('base64url') };
}
