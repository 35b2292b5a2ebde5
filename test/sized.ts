/**
 * Picks how much a test tries: in an ordinary run, in a full one (`npm run test:full`), or in a soak. `again` is for a suite that an
 * ordinary run repeats as another user.
 */
export function sized<T>(ordinary: T, full: T, soak: T, again: T = ordinary): T {
  if (process.env.SIGNALBOX_SOAK === '1') return soak;
  if (process.env.SIGNALBOX_FULL === '1') return full;
  return process.env.SIGNALBOX_AGAIN === '1' ? again : ordinary;
}
