import { Bug } from '@signalbox/model';

/** Room for the records, and for the frames, of one run. Places stay exact as numbers for 2^25 runs. */
export const PLACES = 2 ** 28;

/** Where a record or a frame of a run lies: those of one run are one range. */
export function placeOf(run: number, index: number): number {
  if (index >= PLACES) throw new Bug(`run number ${run} has no place ${index}`);
  return run * PLACES + index;
}

export function firstPlaceOf(run: number): number {
  return run * PLACES;
}

export function lastPlaceOf(run: number): number {
  return run * PLACES + PLACES - 1;
}
