import { utf8Bytes } from './utf8.ts';

/** The 128 bits of a UUID, most significant first. */
export type UuidWords = readonly [number, number, number, number];

export function uuidWords(id: string): UuidWords {
  const hex = id.replaceAll('-', '');
  const word = (at: number) => Number.parseInt(hex.slice(at, at + 8), 16) | 0;
  return [word(0), word(8), word(16), word(24)];
}

/**
 * The UUIDv5 of a name. Every event and every task gets one, so SHA-1 is computed here: for a name of a hundred bytes a hash object of the
 * platform takes several times as long. A test compares the two. The id names something and protects nothing.
 */
export function uuidV5(namespace: UuidWords, name: string): string {
  const [first, second, third, fourth] = sha1(messageOf(namespace, name));
  const [left, right] = [(second & 0xffff0fff) | 0x5000, (third & 0x3fffffff) | 0x80000000];
  return `${hexOf(first)}-${hexOf16(left >>> 16)}-${hexOf16(left)}-${hexOf16(right >>> 16)}-${hexOf16(right)}${hexOf(fourth)}`;
}

const NAMESPACE_BYTES = 16;
const BLOCK_BYTES = 64;
/** The end mark and the length, which follow the message. */
const TAIL_BYTES = 9;

/** Reused for messages that fit. */
const shortMessage = new Int32Array(BLOCK_BYTES);

/** The namespace and the name, padded to whole blocks. */
function messageOf(namespace: UuidWords, name: string): Int32Array {
  const isAscii = !NOT_ASCII.test(name);
  const bytes = isAscii ? undefined : utf8Bytes(name);
  const length = NAMESPACE_BYTES + (bytes?.length ?? name.length);
  const words = Math.ceil((length + TAIL_BYTES) / BLOCK_BYTES) * (BLOCK_BYTES / 4);
  const message = words <= shortMessage.length ? shortMessage.subarray(0, words) : new Int32Array(words);
  message.fill(0);
  message.set(namespace);
  for (let at = NAMESPACE_BYTES; at < length; at++) {
    const place = at - NAMESPACE_BYTES;
    putByte(message, at, bytes === undefined ? name.charCodeAt(place) : (bytes[place] as number));
  }
  putByte(message, length, 0x80);
  message[words - 1] = length * 8;
  return message;
}

const NOT_ASCII = /[^\0-\x7f]/;

function putByte(message: Int32Array, at: number, byte: number): void {
  message[at >> 2] = (message[at >> 2] as number) | (byte << (24 - 8 * (at & 3)));
}

const schedule = new Int32Array(80);

/** The first four words of the SHA-1 of a padded message. */
function sha1(message: Int32Array): UuidWords {
  let [h0, h1, h2, h3, h4] = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476, 0xc3d2e1f0 | 0];
  for (let block = 0; block < message.length; block += 16) {
    for (let t = 0; t < 16; t++) schedule[t] = message[block + t] as number;
    for (let t = 16; t < 80; t++) schedule[t] = rotated(word(t - 3) ^ word(t - 8) ^ word(t - 14) ^ word(t - 16), 1);
    let [a, b, c, d, e] = [h0, h1, h2, h3, h4];
    for (let t = 0; t < 80; t++) {
      const next = (rotated(a, 5) + mixed(t, b, c, d) + e + word(t)) | 0;
      e = d;
      d = c;
      c = rotated(b, 30);
      b = a;
      a = next;
    }
    h0 = (h0 + a) | 0;
    h1 = (h1 + b) | 0;
    h2 = (h2 + c) | 0;
    h3 = (h3 + d) | 0;
    h4 = (h4 + e) | 0;
  }
  return [h0, h1, h2, h3];
}

function mixed(t: number, b: number, c: number, d: number): number {
  if (t < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (t < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (t < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}

function word(at: number): number {
  return schedule[at] as number;
}

function rotated(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hexOf(value: number): string {
  return hexOf16(value >>> 16) + hexOf16(value);
}

/** The low 16 bits. */
function hexOf16(value: number): string {
  return (HEX[(value >>> 8) & 0xff] as string) + (HEX[value & 0xff] as string);
}
