import type { Digest, Hasher } from './digest.ts';

/** The head of a log that has no events yet. */
export const EMPTY_HEAD = `sha256:${'0'.repeat(64)}` as Digest;

/**
 * The head of a log after one more event. A head depends on every event before it and on nothing else, so a head noted
 * elsewhere reveals later whether the history up to it was changed.
 */
export function chainHead(hasher: Hasher, previous: Digest, canonicalEvent: string): Digest {
  return hasher(`${previous}\n${canonicalEvent}`);
}
