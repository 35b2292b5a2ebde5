import * as z from 'zod';

/** A keyed hash of a text. Without the key, nobody can check a guess. */
export type SecretMac = (text: string) => string;

/** Shorter values occur by chance, so they are not searched for. */
export const SHORTEST_SECRET = 8;

/**
 * One encoding of a secret, stored so that it can be recognised without being known: its length, a keyed hash, and a few keyed
 * bits of its beginning that say where comparing is worthwhile.
 */
export const knownSecret = z.strictObject({
  /** Its name in a mark: the variable or reference that holds it. */
  name: z.string().min(1).max(200),
  length: z.int().min(SHORTEST_SECRET),
  /** 16 bits of its first four characters. */
  anchor: z.int().min(0).max(0xffff),
  /** 16 bits of its first eight characters. */
  check: z.int().min(0).max(0xffff),
  mac: z.string().min(32),
});
export type KnownSecret = z.infer<typeof knownSecret>;

export function knownSecretOf(name: string, text: string, mac: SecretMac): KnownSecret {
  const seed = seedOf(mac);
  const window = windowAt(text, 0);
  return { name, length: text.length, anchor: anchorOf(window, seed), check: checkAt(text, 0, seed), mac: mac(text) };
}

/** Makes the bits of a beginning differ between data directories. */
export function seedOf(mac: SecretMac): number {
  return Number.parseInt(mac('beginnings of secrets').slice(0, 8), 16) | 0;
}

/** The four characters from `start` on, a byte of each. */
export function windowAt(text: string, start: number): number {
  let window = 0;
  for (let at = start; at < start + 4; at++) window = (window << 8) | (text.charCodeAt(at) & 0xff);
  return window;
}

export function anchorOf(window: number, seed: number): number {
  return Math.imul(window ^ seed, 0x9e3779b1) >>> 16;
}

export function checkAt(text: string, start: number, seed: number): number {
  let hash = seed;
  for (let at = start; at < start + SHORTEST_SECRET; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 16)) & 0xffff;
}
