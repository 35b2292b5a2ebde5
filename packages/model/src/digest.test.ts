import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyString, plainData } from '../test/arbitraries.ts';
import { canonicalJson } from './canonical-json.ts';
import { type Digest, digest, digestHex, digestOf, type Hasher, portableHasher } from './digest.ts';

const nodeHasher: Hasher = data => digest.parse(`sha256:${createHash('sha256').update(data).digest('hex')}`);
const EMPTY = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

describe('digests', () => {
  it('[M12] are sha256: and 64 lower-case hex digits', () => {
    const hex = EMPTY.slice(7);
    const invalid = [hex, EMPTY.toUpperCase(), `sha256:${hex.toUpperCase()}`, EMPTY.slice(0, -1), `${EMPTY}0`];
    const others = [`sha512:${hex}`, `sha256:${hex}\n`, ` ${EMPTY}`, `sha256:${'g'.repeat(64)}`, '', null, 1];
    expect(digest.parse(EMPTY)).toBe(EMPTY);
    expect([...invalid, ...others].filter(value => digest.safeParse(value).success)).toEqual([]);
    expect(digestHex(digest.parse(EMPTY))).toBe(hex);
  });

  it('[M13] agree with the known answers of SHA-256', () => {
    expect(['', 'abc', 'a'.repeat(1_000_000)].map(portableHasher)).toEqual([
      EMPTY,
      'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      'sha256:cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0',
    ]);
  });

  it("[M13] are the platform's, for text of every kind", () => {
    fc.assert(
      fc.property(anyString, text => {
        expect(portableHasher(text)).toBe(nodeHasher(text));
      }),
    );
  });

  it("[M13] are the platform's, for bytes, also of a view into a larger buffer", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(20), (bytes, offset) => {
        const view = bytes.subarray(Math.min(offset, bytes.length));
        expect(portableHasher(view)).toBe(nodeHasher(view));
      }),
    );
  });

  it('[M14] of values are those of their canonical text', () => {
    fc.assert(
      fc.property(plainData, value => {
        const expected = nodeHasher(Buffer.from(canonicalJson(value), 'utf8'));
        expect([digestOf(portableHasher, value), digestOf(nodeHasher, value)]).toEqual([expected, expected]);
      }),
    );
  });

  it('[M14] of a value are known', () => {
    const known: Digest = digestOf(portableHasher, { b: 1, a: 'é' });
    expect(known).toBe(nodeHasher('{"a":"é","b":1}'));
  });
});
