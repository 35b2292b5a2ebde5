import * as z from 'zod';

/** A keyed hash of a text. Without the key nobody can tell whether a guess is right. */
export type SecretMac = (text: string) => string;

/** Shorter values occur by chance, so they are not looked for. */
export const SHORTEST_SECRET = 8;

/**
 * One way to write down a secret, kept so that it is recognised without being known: its length, a keyed hash of all of it,
 * and a few keyed bits of its beginning that say where it is worth comparing.
 */
export const knownSecret = z.strictObject({
  /** What a mark calls it: the name of the variable or reference that holds it. */
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

/** Keeps the bits of a beginning from being the same in every data directory. */
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
