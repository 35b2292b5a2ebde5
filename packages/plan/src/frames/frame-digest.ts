import { hash } from 'node:crypto';
import { canonicalJson, type Digest, type Json } from '@signalbox/model';

/**
 * The digest of everything that holds in a frame, kept up to date by what changed: the sum, modulo 2^256, of the digests
 * of all entries. Entries may come and go in any order; equal contents have equal digests.
 */
export interface FrameDigest {
  set(space: string, key: string, value: Json | undefined): void;
  readonly value: Digest;
}

const MODULUS = 1n << 256n;

export function createFrameDigest(): FrameDigest {
  const entries = new Map<string, bigint>();
  let sum = 0n;
  return {
    set(space, key, value) {
      const place = `${space} ${key}`;
      sum -= entries.get(place) ?? 0n;
      if (value === undefined) entries.delete(place);
      else {
        const part = BigInt(`0x${hash('sha256', canonicalJson([space, key, value]), 'hex')}`);
        entries.set(place, part);
        sum += part;
      }
      sum = ((sum % MODULUS) + MODULUS) % MODULUS;
    },
    get value() {
      return `sha256:${hash('sha256', sum.toString(16).padStart(64, '0'), 'hex')}` as Digest;
    },
  };
}
