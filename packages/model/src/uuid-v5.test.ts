import fc from 'fast-check';
import { v5 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { uuidV5, uuidWords } from './uuid-v5.ts';

describe('a UUIDv5', () => {
  it('[M3] is that of the library, whatever the namespace and the name', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.string({ unit: 'grapheme', maxLength: 300 }), (namespace, name) => {
        expect(uuidV5(uuidWords(namespace), name)).toBe(v5(name, namespace));
      }),
      { numRuns: 500 },
    );
  });

  it('[M3] is that of the library for every length around the end of a block', () => {
    const namespace = '5b1e7a10-51b0-5a1b-8b0c-0c0ffee0b0c5';
    const names = Array.from({ length: 260 }, (_, length) => 'x'.repeat(length));
    expect(names.map(name => uuidV5(uuidWords(namespace), name))).toEqual(names.map(name => v5(name, namespace)));
  });
});
