import { createHash } from 'node:crypto';

/** Picks how much a test tries: in an ordinary run, in a full one (`npm run test:full`), or in a soak. */
export function sized<T>(ordinary: T, full: T, soak: T): T {
  if (process.env.SIGNALBOX_SOAK === '1') return soak;
  return process.env.SIGNALBOX_FULL === '1' ? full : ordinary;
}

/**
 * Picks `count` of the items in an ordinary run, in their order; all of them in a full one and in a soak. Which ones depends on
 * `SIGNALBOX_SAMPLE` only, a number that is 1 by default.
 */
export function sampled<T>(items: readonly T[], count: number): readonly T[] {
  const sample = Number(process.env.SIGNALBOX_SAMPLE ?? 1);
  const rank = (at: number) => createHash('sha256').update(`${sample} ${at}`).digest('hex');
  const picked = [...items.keys()]
    .toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
    .slice(0, sized(count, items.length, items.length));
  return items.filter((_, at) => picked.includes(at));
}
