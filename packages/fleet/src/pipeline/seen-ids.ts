import { text } from '@signalbox/model';
import * as z from 'zod';

const BUCKETS = 64;
/** A generation is complete with this many ids; the one before it is forgotten then. */
const GENERATION = 2_500;

/** Ids by hash: plain data that is cheap to copy with one id more. */
const generation = z.strictObject({
  size: z.int().nonnegative(),
  buckets: z.array(z.array(text).readonly()).readonly(),
});
type Generation = Readonly<z.infer<typeof generation>>;

/**
 * The ids of events that were accepted: at least the last 2,500 of them, at most 5,000. An adapter keeps as many for a replay, so what it
 * can send again is recognised.
 */
export const seenIds = z.strictObject({ young: generation, old: generation });
export type SeenIds = Readonly<z.infer<typeof seenIds>>;

const empty: Generation = { size: 0, buckets: [] };
export const nothingSeen: SeenIds = { young: empty, old: empty };

export function hasSeen({ young, old }: SeenIds, id: string): boolean {
  const bucket = bucketOf(id);
  return (young.buckets[bucket]?.includes(id) ?? false) || (old.buckets[bucket]?.includes(id) ?? false);
}

export function withSeen({ young, old }: SeenIds, id: string): SeenIds {
  if (young.size >= GENERATION) return { young: added(empty, id), old: young };
  return { young: added(young, id), old };
}

function added({ size, buckets }: Generation, id: string): Generation {
  const next = buckets.length === 0 ? Array.from({ length: BUCKETS }, (): readonly string[] => []) : [...buckets];
  const at = bucketOf(id);
  next[at] = [...(next[at] ?? []), id];
  return { size: size + 1, buckets: next };
}

/** FNV-1a: ids of vendors need not be random at any place. */
function bucketOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % BUCKETS;
}
