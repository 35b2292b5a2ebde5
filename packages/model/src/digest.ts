import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import * as z from 'zod';
import { canonicalJson } from './canonical-json.ts';
import type { Json } from './json.ts';

/** `sha256:` and 64 lower-case hex digits. */
export const digest = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, 'must be sha256: and 64 lower-case hex digits')
  .brand<'Digest'>();
export type Digest = z.infer<typeof digest>;

/** SHA-256 of bytes, or of the UTF-8 bytes of a text. The platform's own if it has one; otherwise `portableHasher`. */
export type Hasher = (data: string | Uint8Array) => Digest;

export const portableHasher: Hasher = data =>
  `sha256:${bytesToHex(sha256(typeof data === 'string' ? utf8ToBytes(data) : data))}` as Digest;

/** The digest of a value: SHA-256 over its canonical JSON. */
export function digestOf(hasher: Hasher, value: Json): Digest {
  return hasher(canonicalJson(value));
}

/** Only the 64 hex digits, as used in file names. */
export function digestHex(value: Digest): string {
  return value.slice('sha256:'.length);
}
