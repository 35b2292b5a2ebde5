import { Bug, type EventId, type RunId } from '@signalbox/model';

/**
 * The id of an event by its place (T3): the UUIDv5 whose namespace is the log's id and whose name is `<record>/<index>`.
 *
 * Every event of every commit gets one, so it is computed here from a single SHA-1 block, in a quarter of the time of a general UUIDv5. A
 * test compares the two. It identifies a place and protects nothing.
 */
export function eventIdAt(log: RunId, record: number, index: number): EventId {
  const name = `${record}/${index}`;
  if (name.length > MAX_NAME) throw new Bug(`the place ${name} of log ${log} is too long to be named`);
  const [first, second, third, fourth] = sha1(namespaceOf(log), name);
  const [left, right] = [hexOf((second & 0xffff0fff) | 0x5000), hexOf((third & 0x3fffffff) | 0x80000000)];
  return `${hexOf(first)}-${left.slice(0, 4)}-${left.slice(4)}-${right.slice(0, 4)}-${right.slice(4)}${hexOf(fourth)}` as EventId;
}

/** The room in a block beside the namespace, the end mark and the length. */
const MAX_NAME = 64 - 16 - 1 - 8;

type Words = readonly [number, number, number, number];

let lastLog: RunId | undefined;
let lastNamespace: Words = [0, 0, 0, 0];

/** The bytes of a log's id; cached, because events of one log come in sequence. */
function namespaceOf(log: RunId): Words {
  if (log === lastLog) return lastNamespace;
  const hex = log.replaceAll('-', '');
  const word = (at: number) => Number.parseInt(hex.slice(at, at + 8), 16);
  lastNamespace = [word(0), word(8), word(16), word(24)];
  lastLog = log;
  return lastNamespace;
}

const schedule = new Int32Array(80);
const [A, B, C, D, E] = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0] as const;

/** The first four words of the SHA-1 of a namespace and an ASCII name that fit into one block. */
function sha1(namespace: Words, name: string): Words {
  const w = schedule;
  w.set(namespace);
  w.fill(0, 4, 16);
  for (let at = 0; at < name.length; at++) putByte(16 + at, name.charCodeAt(at));
  putByte(16 + name.length, 0x80);
  w[15] = (16 + name.length) * 8;
  for (let t = 16; t < 80; t++) w[t] = rotated(word(t - 3) ^ word(t - 8) ^ word(t - 14) ^ word(t - 16), 1);
  let [a, b, c, d, e] = [A | 0, B | 0, C | 0, D | 0, E | 0];
  for (let t = 0; t < 80; t++) {
    const next = (rotated(a, 5) + mixed(t, b, c, d) + e + word(t)) | 0;
    e = d;
    d = c;
    c = rotated(b, 30);
    b = a;
    a = next;
  }
  return [a + A, b + B, c + C, d + D];
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

function putByte(at: number, byte: number): void {
  schedule[at >> 2] = word(at >> 2) | (byte << (24 - 8 * (at & 3)));
}

function rotated(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function hexOf(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0');
}
