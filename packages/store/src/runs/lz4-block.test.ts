import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lz4Blocks } from './lz4-block.ts';

const MOST = 4096;
const dictionary = '{"type":"task.ended","node":"","frame":1}';
const { compress, decompress } = lz4Blocks(Buffer.from(dictionary), MOST);

function textOf(block: Uint8Array): string | undefined {
  const bytes = decompress(block);
  return bytes && Buffer.from(bytes).toString();
}

describe('LZ4 blocks', () => {
  it('[D379] are those of the format: literals, a match in the dictionary, one that overlaps itself, long lengths', () => {
    expect(Buffer.from(compress('hello')).toString('latin1')).toBe('\x50hello');
    // 41 bytes of the dictionary are a match of 4 + 15 + 12, then 10 of literals.
    expect(Buffer.from(compress(`${dictionary}!`)).toString('hex')).toBe(
      Buffer.concat([
        Buffer.from([0x0f, dictionary.length, 0, dictionary.length + 1 - 5 - 4 - 15]),
        Buffer.from([0x50]),
        Buffer.from(`${dictionary}!`.slice(-5)),
      ]).toString('hex'),
    );
    expect(Buffer.from(compress('a'.repeat(300))).toString('hex')).toBe(
      Buffer.concat([
        Buffer.from([0x1f, 0x61, 1, 0, 255, 300 - 1 - 5 - 4 - 15 - 255]),
        Buffer.from('\x50aaaaa'),
      ]).toString('hex'),
    );
    expect(textOf(Buffer.from([0xf0, 3, ...Buffer.from('123456789012345678')]))).toBe('123456789012345678');
  });

  it('[D379] give back any text', () => {
    const part = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc.constantFrom(dictionary, 'x'.repeat(70), 'äöü', '"node":"'),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), parts => {
        const text = parts.join('').toWellFormed();
        fc.pre(Buffer.byteLength(text) <= MOST);
        expect(textOf(compress(text))).toBe(text);
      }),
      { numRuns: 300 },
    );
    const all = Array.from({ length: MOST }, (_, at) => String.fromCharCode(32 + ((at * at) % 90))).join('');
    expect(textOf(compress(all))).toBe(all);
  });

  it('[D221] that are cut off, or point before the dictionary or beyond the end, are invalid', () => {
    const block = Uint8Array.from(compress(`${dictionary} and something of its own ${dictionary}`));
    for (let length = 0; length < block.length; length++) {
      expect(textOf(block.subarray(0, length))).not.toBe(textOf(block));
    }
    for (const bytes of [
      [],
      [0x10],
      [0xf0],
      [0xf0, 255],
      [0x10, 0x61, 1],
      [0x10, 0x61, 0, 0, 0],
      [0x10, 0x61, 0xff, 0xff, 0],
      [0x1f, 0x61, 1, 0, ...Array<number>(40).fill(255), 0, 0],
      [0x1f, 0x61, 1, 0, 255],
    ]) {
      expect(decompress(Uint8Array.from(bytes)), JSON.stringify(bytes)).toBeUndefined();
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
        expect(decompress(bytes)?.length ?? 0).toBeLessThanOrEqual(MOST);
      }),
    );
  });
});
