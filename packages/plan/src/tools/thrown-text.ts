import { shortPlace, thrownText as textOf } from '@signalbox/model';
import { thrownPlace } from '../errors/thrown-place.ts';
import type { CleanData } from '../state/clean-data.ts';

/** What a tool threw, and where, for the model and the log. */
export function thrownText(thrown: unknown, clean: CleanData): string {
  const place = thrownPlace(thrown, {}, clean);
  const text = textOf(thrown).toWellFormed();
  return place === undefined ? text : `${text} at ${shortPlace(place)}`;
}
