/** Picks how much a test tries: in an ordinary run, in a full one (`npm run test:full`), or in a soak. */
export function sized<T>(ordinary: T, full: T, soak: T): T {
  if (process.env.SIGNALBOX_SOAK === '1') return soak;
  return process.env.SIGNALBOX_FULL === '1' ? full : ordinary;
}
