import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Mac } from '../tokens.ts';

export const nodeMac: Mac = {
  // A key object, because checking raw bytes takes the platform longer than the signature.
  sign: (key, data) => createHmac('sha256', keyObjectOf(key)).update(data).digest(),
  equals: (left, right) => left.length === right.length && timingSafeEqual(left, right),
};

/** The last key used: a ring has one or two, and nearly all tokens use the first. */
let last: { readonly bytes: Uint8Array; readonly object: KeyObject } | undefined;

function keyObjectOf(key: Uint8Array): KeyObject {
  if (last === undefined || !nodeMac.equals(last.bytes, key)) {
    last = { bytes: Uint8Array.from(key), object: createSecretKey(key) };
  }
  return last.object;
}
