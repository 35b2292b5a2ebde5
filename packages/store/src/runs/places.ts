import { Bug } from '@signalbox/model';

/** Room for the records, and for the frames, of one run. Places are exact numbers for up to 2^25 runs. */
export const PLACES = 2 ** 28;

/** The place of a record or frame; those of one run form one range. */
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
