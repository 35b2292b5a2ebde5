/** Events and frames of run number n lie from its first place on: see the first migration. */
const PLACES = 2 ** 28;

export function firstPlaceOf(run: number): number {
  return run * PLACES;
}

export function lastPlaceOf(run: number): number {
  return run * PLACES + PLACES - 1;
}
