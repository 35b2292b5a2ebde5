import { Link } from '@tanstack/react-router';
import { SavedPlaces } from '../shell/saved-places.tsx';
import { type RunsSearch, runsSearchOf } from '../story/runs-search.ts';

/** Saved searches among runs. */
export function SavedViews({ search }: { readonly search: RunsSearch }) {
  return (
    <SavedPlaces
      storageKey="signalbox.views"
      here={search}
      placeOf={runsSearchOf}
      nameOf={nameOf}
      linkTo={(view, name) => (
        <Link to="/runs" search={view}>
          {name}
        </Link>
      )}
    />
  );
}

function nameOf({ view, q, tag, plan, project, since, from, to }: RunsSearch): string {
  const last = (path: string | undefined) => path?.split(/[\\/]/).at(-1);
  const days = from === undefined && to === undefined ? undefined : `${from ?? '…'} to ${to ?? '…'}`;
  return [view, q, tag, last(plan), last(project), since && `last ${since}`, days].filter(Boolean).join(' · ');
}
