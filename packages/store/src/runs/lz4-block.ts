/**
 * The LZ4 block format with a dictionary, for short texts: compressing one takes a quarter of the time of deflate, which mostly sets up its
 * stream.
 *
 * A block is a list of sequences: a token with two lengths of four bits each, continued in bytes of 255 if they are 15 or more; that many
 * literal bytes; then two bytes that say how far back a match begins, which may be in the dictionary. The last sequence has only literals.
 */
export interface Lz4Blocks {
  /** `text` takes at most `maxBytes` in UTF-8. The result is valid until the next call. */
  compress(text: string): Uint8Array;
  /** The bytes of a text, valid until the next call. Undefined if the block is invalid or too long. */
  decompress(block: Uint8Array): Uint8Array | undefined;
}

const MIN_MATCH = 4;
/** The format: a match starts this long before the end, and the last bytes are literals. */
const LAST_START = 12;
const LAST_LITERALS = 5;
/** A length that does not fit into its half of the token. */
const LONG = 15;
const HASH_BITS = 12;
/** After this many failed searches, the next one skips a byte more. */
const PATIENCE_BITS = 6;

export function lz4Blocks(dictionary: Uint8Array, maxBytes: number): Lz4Blocks {
  const start = dictionary.length;
  /** The dictionary, and the text after it. */
  const text = Buffer.alloc(start + maxBytes);
  text.set(dictionary);
  const block = new Uint8Array(maxBytes + Math.ceil(maxBytes / 255) + 16);
  /** Where bytes with a hash were last seen. An unknown hash is at 0: every match is compared. */
  const seen = new Uint16Array(1 << HASH_BITS);
  if (text.length > 0xffff) throw new RangeError('positions take two bytes');
  for (let at = 0; at + MIN_MATCH <= start; at++) seen[hashAt(text, at)] = at;
  const seenInDictionary = seen.slice();

  function compress(given: string): Uint8Array {
    const end = start + text.write(given, start);
    seen.set(seenInDictionary);
    let [from, at, to, failures] = [start, start, 0, 0];
    while (at < end - LAST_START) {
      const hash = hashAt(text, at);
      const match = seen[hash] as number;
      seen[hash] = at;
      if (!isSame(text, match, at)) {
        at += 1 + (failures++ >> PATIENCE_BITS);
        continue;
      }
      failures = 0;
      let matched = MIN_MATCH;
      while (at + matched < end - LAST_LITERALS && text[match + matched] === text[at + matched]) matched++;
      to = putLiterals(to, from, at, matched - MIN_MATCH);
      const back = at - match;
      block[to++] = back & 0xff;
      block[to++] = back >> 8;
      if (matched - MIN_MATCH >= LONG) to = putLength(to, matched - MIN_MATCH - LONG);
      at += matched;
      from = at;
      if (at < end - LAST_START) seen[hashAt(text, at - 2)] = at - 2;
    }
    return block.subarray(0, putLiterals(to, from, end, 0));
  }

  /** A token, and the literals up to a place. */
  function putLiterals(place: number, from: number, until: number, matched: number): number {
    const count = until - from;
    let to = place;
    block[to++] = (Math.min(count, LONG) << 4) | Math.min(matched, LONG);
    if (count >= LONG) to = putLength(to, count - LONG);
    for (let at = from; at < until; at++) block[to++] = text[at] as number;
    return to;
  }

  function putLength(place: number, length: number): number {
    let [to, left] = [place, length];
    for (; left >= 255; left -= 255) block[to++] = 255;
    block[to++] = left;
    return to;
  }

  function decompress(given: Uint8Array): Uint8Array | undefined {
    let [at, to] = [0, start];
    /** The whole of a length; beyond the text if the block ends in it. */
    const longer = (length: number) => {
      let [sum, more] = [length, 255];
      while (more === 255) {
        more = given[at++] ?? text.length;
        sum += more;
      }
      return sum;
    };
    while (at < given.length) {
      const token = given[at++] as number;
      const literals = token >> 4 === LONG ? longer(LONG) : token >> 4;
      if (at + literals > given.length || to + literals > text.length) return undefined;
      for (const until = at + literals; at < until; ) text[to++] = given[at++] as number;
      if (at === given.length) return text.subarray(start, to);
      if (at + 2 > given.length) return undefined;
      const back = (given[at++] as number) | ((given[at++] as number) << 8);
      const matched = ((token & LONG) === LONG ? longer(LONG) : token & LONG) + MIN_MATCH;
      if (back === 0 || back > to || to + matched > text.length) return undefined;
      // Byte by byte: a match may overlap what it makes.
      for (const until = to + matched; to < until; to++) text[to] = text[to - back] as number;
    }
    return undefined;
  }

  return { compress, decompress };
}

function hashAt(bytes: Uint8Array, at: number): number {
  const four =
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24);
  return Math.imul(four, 0x9e3779b1) >>> (32 - HASH_BITS);
}

function isSame(bytes: Uint8Array, one: number, other: number): boolean {
  return (
    bytes[one] === bytes[other] &&
    bytes[one + 1] === bytes[other + 1] &&
    bytes[one + 2] === bytes[other + 2] &&
    bytes[one + 3] === bytes[other + 3]
  );
}
