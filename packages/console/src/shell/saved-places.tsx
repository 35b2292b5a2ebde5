import { type ReactNode, useState } from 'react';

interface SavedPlacesProps<Place extends object> {
  /** Where this browser keeps them. */
  readonly storageKey: string;
  readonly here: Place;
  readonly placeOf: (given: Readonly<Record<string, unknown>>) => Place;
  readonly nameOf: (place: Place) => string;
  readonly linkTo: (place: Place, name: string) => ReactNode;
}

/** Saved searches of a page, in this browser; each is an address. */
export function SavedPlaces<Place extends object>({
  storageKey,
  here,
  placeOf,
  nameOf,
  linkTo,
}: SavedPlacesProps<Place>) {
  const [saved, setSaved] = useState(() => readSaved(storageKey, placeOf));
  const keep = (places: readonly Place[]) => {
    setSaved(places);
    localStorage.setItem(storageKey, JSON.stringify(places));
  };
  const isHere = (place: Place) => JSON.stringify(place) === JSON.stringify(here);
  const canSave = JSON.stringify(here) !== '{}' && !saved.some(isHere);
  if (saved.length === 0 && !canSave) return null;
  return (
    <div className="saved">
      {saved.map(place => (
        <span key={JSON.stringify(place)} className="saved-view" data-here={isHere(place) || undefined}>
          {linkTo(place, nameOf(place))}
          <button
            type="button"
            aria-label={`Delete view ${nameOf(place)}`}
            onClick={() => keep(saved.filter(one => one !== place))}
          >
            ×
          </button>
        </span>
      ))}
      {canSave && (
        <button type="button" className="button button-small button-quiet" onClick={() => keep([...saved, here])}>
          Save view
        </button>
      )}
    </div>
  );
}

function readSaved<Place extends object>(
  storageKey: string,
  placeOf: (given: Readonly<Record<string, unknown>>) => Place,
): readonly Place[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]');
    return Array.isArray(kept) ? kept.map(placeOf).filter(place => Object.keys(place).length > 0) : [];
  } catch {
    return [];
  }
}
